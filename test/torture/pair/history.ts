import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** An operation on a register, which holds the text that was written last; empty at first. */
export interface Operation {
  readonly register: string;
  /** Does one operation at a time. */
  readonly client: number;
  /** Null: a read. */
  readonly written: string | null;
  /** What a read has found. */
  readonly read: string;
  /** ns of one clock. */
  readonly called: number;
  /** Null: it is not known whether it was done, or when it will be. */
  readonly ended: number | null;
}

export type Check = (history: readonly Operation[]) => Promise<readonly string[]>;

/**
 * Builds the history checker, Porcupine, which comes as a Go module; a string says why there is none. A check returns a
 * sentence for each register whose operations had no order in which they could have been done one after another.
 */
export function buildChecker(folder: string): Check | string {
  const program = join(folder, "history");
  const built = spawnSync("go", ["build", "-o", program, "."], {
    cwd: new URL("porcupine", import.meta.url).pathname,
    encoding: "utf8",
    timeout: 300_000,
  });
  if (built.error !== undefined) return `go is missing (${built.error.message})`;
  if (built.status !== 0) return `the checker cannot be built: ${built.stderr.trim()}`;
  return async (history) => {
    const checker = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
    const ended = once(checker, "close");
    checker.stdin.end(history.map((each) => `${JSON.stringify(each)}\n`).join(""));
    const lines = (await text(checker.stdout)).split("\n").filter((line) => line !== "");
    const [code] = await ended;
    if (code !== 0) throw new Error(`The history checker has ended with ${code}`);
    return lines.flatMap((line) => {
      const [register, verdict] = line.split(" ");
      if (verdict === "ok") return [];
      return [`the writes of ${register} are ${verdict === "illegal" ? "not linearizable" : "too many to be checked"}`];
    });
  };
}

/** Throws if the checker takes a wrong history for right, or a right one for wrong. */
export async function checkChecker(check: Check): Promise<void> {
  const operation = (register: string, client: number, written: string | null, read: string, at: number) =>
    ({ register, client, written, read, called: at, ended: at + 1 }) satisfies Operation;
  const history: readonly Operation[] = [
    operation("right", 1, "a", "", 1),
    { ...operation("right", 1, "b", "", 3), ended: null },
    operation("right", 2, null, "a", 5),
    operation("right", 2, null, "b", 7),
    operation("lost", 1, "a", "", 1),
    operation("lost", 2, null, "", 3),
    operation("twice", 1, "a", "", 1),
    operation("twice", 2, "b", "", 3),
    operation("twice", 2, null, "b", 5),
    operation("twice", 2, null, "a", 7),
  ];
  const found = await check(history);
  const expected = ["lost", "twice"].map((name) => `the writes of ${name} are not linearizable`);
  if (found.join() !== expected.join()) throw new Error(`The history checker says: ${found.join()}`);
}
