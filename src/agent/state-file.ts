import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Program } from "../contract/agent.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";

/** What is needed of a start for as long as the program runs, also by a later agent. */
const SavedLaunch = z.object({
  apiPort: z.int().nullable(),
  apiToken: z.string().nullable(),
  /** What its API takes as a request to end. */
  quit: z.string().nullable(),
  badConfiguration: z.array(z.int()),
  /** Parts of its command line that are redacted in what it prints. */
  secrets: z.array(z.string()),
  /** Digest of what its command line was made of. */
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

/** An agent reads what the one before an update has written, so fields that are added, also to `Program`, have defaults. */
const State = z.object({ version: z.literal(1), programs: z.array(SavedProgram) });

/**
 * What outlives the agent: its programs, and the processes that run them. It is written before a program is started and
 * again once its process is known, so that an agent that dies at any moment leaves no program that the next one would
 * start a second time. It contains passwords of pools.
 */
export class StateFile {
  readonly #file: string;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#file = join(folder, "state.json");
  }

  /** Throws `store.refused` if the file is damaged: what runs is then unknown. */
  read(): SavedProgram[] {
    try {
      return State.parse(JSON.parse(readFileSync(this.#file, "utf8"))).programs;
    } catch (error) {
      if (isRecord(error) && error.code === "ENOENT") return [];
      throw new RigbridgeError(
        "store.refused",
        `The agent's state ${this.#file} cannot be read, so what runs on this host is not known; end its mining ` +
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
