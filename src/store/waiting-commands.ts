import { appendFile, mkdir, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { Mutex } from "../async/index.ts";
import { commandStates } from "../contract/resources.ts";
import { checkedLine, checkedValues } from "./checked-lines.ts";

const WaitingCommand = z.object({
  id: z.int(),
  time: z.int(),
  updated: z.int(),
  miner_id: z.int(),
  miner_name: z.string(),
  actor: z.string(),
  action: z.string(),
  parameters: z.string(),
  state: z.enum(commandStates),
  message: z.string(),
  cause: z.string().nullable(),
});
export type WaitingCommand = z.infer<typeof WaitingCommand>;

/**
 * A file of commands that were sent for safety while the database was away, a line for each of their states: so they are in
 * the log even if the service is killed before the database is back.
 */
export class WaitingCommands {
  readonly #file: string;
  readonly #log: { warn(text: string): void };
  readonly #turns = new Mutex();

  constructor(file: string, log: { warn(text: string): void }) {
    this.#file = file;
    this.#log = log;
  }

  /** Never rejects: a disk that is full must keep no rig from being stopped. */
  keep(command: WaitingCommand): Promise<void> {
    return this.#turns.run(async () => {
      try {
        await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
        await appendFile(this.#file, checkedLine(command), { mode: 0o600 });
      } catch (error) {
        const why = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
        this.#log.warn(`A command for safety is kept in memory only: ${this.#file} cannot be written (${why})`);
      }
    });
  }

  /** What an earlier process left, each command in its last state. */
  async left(): Promise<readonly WaitingCommand[]> {
    const text = await readFile(this.#file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
    const { values, damaged } = checkedValues(text);
    const commands = new Map<number, WaitingCommand>();
    let unread = damaged;
    for (const value of values) {
      const { data } = WaitingCommand.safeParse(value);
      if (data === undefined) unread += 1;
      else commands.set(data.id, data);
    }
    if (unread > 0) this.#log.warn(`${unread} lines of ${this.#file} are damaged and left out`);
    return [...commands.values()];
  }

  /** Everything is stored. */
  clear(): Promise<void> {
    return this.#turns.run(() => rm(this.#file, { force: true }));
  }
}
