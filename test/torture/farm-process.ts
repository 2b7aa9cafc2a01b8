import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { farmOf, farmToken, type RigKind } from "../../src/simulator/index.ts";
import { within } from "../until.ts";

/** `rigbridge simulate` as a process of its own: many rigs that cost this one nothing. */
export interface FarmProcess {
  readonly pid: number;
  readonly rigs: readonly FarmRig[];
  /** Types a line, as `fault 30% silent`; resolves with the first line of the answer. */
  type(line: string): Promise<string>;
  close(): Promise<void>;
}

export interface FarmRig {
  readonly name: string;
  readonly kind: RigKind;
  readonly address: string;
  readonly token: string | undefined;
}

const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;

/** ms; thousands of rigs take their time. */
const patience = 120_000;

/** A number for each of some kinds. */
export type ByKind = Readonly<Partial<Record<RigKind, number>>>;

/** So many rigs of the mix in turn, each with an address of its own. */
export async function startFarmProcess(count: number, mix: ByKind, ports: ByKind): Promise<FarmProcess> {
  const text = (numbers: ByKind): string =>
    Object.entries(numbers)
      .filter(([, number]) => number > 0)
      .map(([kind, number]) => `${kind}=${number}`)
      .join(",");
  const args = ["simulate", "--count", `${count}`, "--mix", text(mix), "--addresses", text(ports)];
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines = createInterface({ input: child.stdout });
  let heard: (line: string) => void = () => {};
  lines.on("line", (line) => heard(line));
  const isReady = new Promise<void>((resolve, reject) => {
    heard = (line) => {
      if (line.startsWith("Ctrl-C")) resolve();
    };
    void ended.then(() => reject(new Error("the farm ended before it was ready")));
  });
  await within(isReady, "the farm to be ready", { timeoutMs: patience });
  const { rigs } = farmOf(count, mix, { ports });
  return {
    pid: child.pid ?? 0,
    rigs: rigs.map(({ kind, host = "", port = 0 }, index) => ({
      name: `${kind}-${index + 1}`,
      kind,
      address: `${host}:${port}`,
      token: kind === "xmrig" ? farmToken : undefined,
    })),
    type: (line) => {
      const answer = new Promise<string>((resolve) => {
        heard = resolve;
      });
      child.stdin.write(`${line}\n`);
      return within(answer, `the farm to answer ${line.slice(0, 100)}`, { timeoutMs: patience });
    },
    close: async () => {
      child.kill("SIGTERM");
      await within(ended, "the farm to end", { timeoutMs: patience });
    },
  };
}
