import { backOffMs } from "../async/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { Exit } from "./process.ts";
import { afterEnd, type Failures, noFailures, type RestartLimits } from "./restart-law.ts";
import type { SavedLaunch, SavedProgram } from "./state-file.ts";

/** Failures that may be temporary, such as a disk that is mounted late or a network outage. */
const passing: ReadonlySet<string> = new Set(["program.missing", "download.failed", "store.full"]);

interface End {
  readonly exit: Exit;
  readonly launch: SavedLaunch;
  readonly startedAt: number;
  /** Its last lines of output, without secrets. */
  readonly lines: readonly string[];
}

/** The result of a program's starts: why it does not run, and when it may next be started. */
export class Outcome {
  readonly #limits: RestartLimits;
  readonly #now: () => number;
  #starts: number;
  #exit: SavedProgram["exit"];
  #failed: SavedProgram["failed"];
  #failures: Failures = noFailures;
  #retryAt: number | null = null;
  #problem: RigbridgeError | null = null;

  constructor({ starts, exit, failed }: SavedProgram, limits: RestartLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#starts = starts;
    this.#exit = exit;
    this.#failed = failed;
  }

  get saved(): Pick<SavedProgram, "starts" | "exit" | "failed"> {
    return { starts: this.#starts, exit: this.#exit, failed: this.#failed };
  }

  /** Why it does not run; null if it runs or may be started. */
  get problem(): RigbridgeError | null {
    return this.#problem;
  }

  get message(): string | null {
    return this.#problem?.message ?? this.#failed?.message ?? null;
  }

  /** Whether only a user's start or a changed setting can start it again. */
  get isFinal(): boolean {
    return this.#failed !== null;
  }

  /** Whether a start is scheduled. */
  get isWaiting(): boolean {
    return this.#retryAt !== null;
  }

  /** ms until the next start; 0 if it may start now. */
  get waitMs(): number {
    return this.#retryAt === null ? 0 : Math.max(0, this.#retryAt - this.#now());
  }

  get hangs(): boolean {
    return this.#problem?.code === "program.hangs";
  }

  /** A user has started it. */
  beginCount(): void {
    this.#starts = 0;
  }

  /** A user has started it or changed its settings: earlier failures no longer count. */
  beginAnew(): void {
    this.#failed = null;
    this.#failures = noFailures;
    this.#retryAt = null;
    if (!this.hangs) this.#problem = null;
  }

  starting(): void {
    this.#retryAt = null;
  }

  started(): void {
    this.#starts += 1;
  }

  runs(): void {
    this.#problem = null;
  }

  ended(exit: Exit): number {
    const at = this.#now();
    this.#exit = { ...exit, at };
    if (this.hangs) this.#problem = null;
    return at;
  }

  /** It survived every signal. */
  hanging(name: string): RigbridgeError {
    const advice = "if a GPU driver hangs, only a reboot of the host helps";
    const problem = new RigbridgeError("program.hangs", `${name} does not end, even after SIGKILL; ${advice}`);
    this.#problem = problem;
    return problem;
  }

  /** After an exit that was not requested. */
  judge(name: string, { exit, launch, startedAt, lines }: End): RigbridgeError {
    const end = { ranMs: this.#now() - startedAt, code: exit.code, badConfiguration: launch.badConfiguration };
    const after = afterEnd(end, this.#failures, this.#limits);
    const last = lines.at(-1);
    const what = after.what === "wait" ? `ended (${exitText(exit)})` : after.why;
    const message = `${name} ${what}${last === undefined ? "" : `; its last line: ${last}`}`;
    const problem = new RigbridgeError("program.ended", message);
    this.#problem = problem;
    this.#failures = after.failures;
    if (after.what === "wait") this.#retryAt = this.#now() + after.waitMs;
    else this.#failed = { message, lastLines: [...lines] };
    return problem;
  }

  /** After a failed start. */
  failedToStart(name: string, error: unknown): RigbridgeError {
    const why = error instanceof Error && "code" in error ? String(error.code) : "internal error";
    const problem =
      error instanceof RigbridgeError
        ? error
        : new RigbridgeError("program.ended", `${name} cannot be started (${why})`, { cause: error });
    this.#problem = problem;
    const ends = this.#failures.ends + 1;
    this.#failures = { ...this.#failures, ends };
    if (passing.has(problem.code)) this.#retryAt = this.#now() + backOffMs(ends, this.#limits.backOff);
    else this.#failed = { message: problem.message, lastLines: [] };
    return problem;
  }
}

export const exitText = ({ code, signal }: Exit): string => {
  if (signal !== null) return signal;
  return code === null ? "exit code unknown" : `exit code ${code}`;
};
