import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Program } from "../contract/agent.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";

/** Properties of a start that are needed as long as the program runs, also by a later agent. */
const SavedLaunch = z.object({
  apiPort: z.int().nullable(),
  apiToken: z.string().nullable(),
  /** The API request that makes it quit. */
  quit: z.string().nullable(),
  badConfiguration: z.array(z.int()),
  /** Parts of its command line that are redacted in its output. */
  secrets: z.array(z.string()),
  /** Digest of all inputs of its command line. */
  fingerprint: z.string(),
});
export type SavedLaunch = z.infer<typeof SavedLaunch>;

const SavedRun = z.object({
  launch: SavedLaunch,
  /** Variable in the environment of its processes. */
  mark: z.string(),
  startedAt: z.int(),
  /** null until the program has been started: its process is then found by the mark. */
  process: z.object({ pid: z.int(), startTime: z.string(), command: z.string().nullable() }).nullable(),
});
export type SavedRun = z.infer<typeof SavedRun>;

export const SavedProgram = z.object({
  program: Program,
  run: SavedRun.nullable(),
  starts: z.int(),
  exit: z.object({ code: z.int().nullable(), signal: z.string().nullable(), at: z.int() }).nullable(),
  /** Why the agent gave up; null if it has not. */
  failed: z.object({ message: z.string(), lastLines: z.array(z.string()) }).nullable(),
});
export type SavedProgram = z.infer<typeof SavedProgram>;

/**
 * After an update, an agent reads its predecessor's file, so added fields, including those of `Program`, have defaults.
 */
const State = z.object({ version: z.literal(1), programs: z.array(SavedProgram) });

/**
 * The state that outlives the agent: its programs and their processes. It is written before a program is started and again
 * once its process is known, so that the next agent never starts a program twice, at whatever moment this one dies. It
 * contains passwords of pools.
 */
export class StateFile {
  readonly #file: string;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#file = join(folder, "state.json");
  }

  /** Throws `store.refused` if the file is damaged: it is then unknown which programs run. */
  read(): SavedProgram[] {
    try {
      return State.parse(JSON.parse(readFileSync(this.#file, "utf8"))).programs;
    } catch (error) {
      if (isRecord(error) && error.code === "ENOENT") return [];
      throw new RigbridgeError(
        "store.refused",
        `The agent's state ${this.#file} cannot be read, so it is unknown which programs run; end the host's mining ` +
          "programs, then delete the file",
        { cause: error },
      );
    }
  }

  /** Replaces the file; synced to disk. */
  write(programs: readonly SavedProgram[]): void {
    const next = `${this.#file}.new`;
    const file = openSync(next, "w", 0o600);
    try {
      writeSync(file, JSON.stringify({ version: 1, programs }));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(next, this.#file);
  }
}
