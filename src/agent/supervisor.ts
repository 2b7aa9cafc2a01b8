import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import { backOffMs } from "../async/index.ts";
import type { GpuSettings, Program, ProgramState, ProgramStatus } from "../contract/agent.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { GpuTuner } from "./gpus/gpu-tuner.ts";
import { LogFile, type LogLimits } from "./log-file.ts";
import type { Platform } from "./platform/index.ts";
import type { Exit } from "./process.ts";
import { adoptRun, type Launch, type ProgramRun, type RunLimits, startRun } from "./program-run.ts";
import { afterEnd, type Failures, noFailures, type RestartLimits } from "./restart-law.ts";
import { redact } from "./secrets.ts";
import type { SavedProgram, SavedRun } from "./state-file.ts";

export interface SupervisorLimits extends RunLimits {
  readonly restart: RestartLimits;
  readonly log: LogLimits;
}

export interface SupervisorParts {
  readonly platform: Platform;
  readonly limits: SupervisorLimits;
  /** The agent's folder. */
  readonly folder: string;
  readonly log: Logger;
  /** Throws a `RigbridgeError` that says why the program cannot be started; reports what takes long. */
  readonly prepare: (
    program: Program,
    report: (step: Preparing) => void,
    signal: AbortSignal,
  ) => Promise<PreparedLaunch>;
  /** Sets the GPUs for a program before it starts, and restores them after its end. */
  readonly gpus: Pick<GpuTuner, "apply" | "restore">;
  /** Writes the state of all programs, or throws. */
  readonly save: () => void;
  /** The same where what runs has changed already. */
  readonly saveOrLog: () => void;
  /** The state may have changed. */
  readonly changed: () => void;
  readonly now: () => number;
}

export interface PreparedLaunch extends Omit<Launch, "fingerprint"> {
  /** Those that the program does not make itself. */
  readonly gpuSettings: readonly GpuSettings[];
}

export interface Preparing {
  readonly status: "starting" | "downloading" | "confirming";
  readonly download: ProgramState["download"];
}

/** Lines of its output that are sent when the agent gives up a program. */
const sentLines = 50;
/** When a program is restarted there are fewer: the messages about all programs of a host go together. */
const fewLines = 10;
const fewCharacters = 200;
/** Failures that may pass: a disk that is mounted late, a network that is away. */
const passing: ReadonlySet<string> = new Set(["program.missing", "download.failed", "store.full"]);
/** How long closing waits for a program that is just being ended; the next agent goes on with it. */
const closeMs = 1_000;

/**
 * Keeps one program as it is wanted. A single loop starts and ends it, so it never runs twice, in whatever order requests
 * arrive or repeat.
 */
export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #logFile: LogFile;
  #program: Program;
  #run: ProgramRun | null = null;
  /** A start whose process is not known yet. */
  #unstarted: SavedRun | null;
  #starts: number;
  #exit: SavedProgram["exit"];
  #failed: SavedProgram["failed"];
  #failures: Failures = noFailures;
  /** Its last output before the last restart that was asked for. */
  #linesBefore: readonly string[] = [];
  #retryAt: number | null = null;
  /** Why the host has something else to do; null while it has not. */
  #busyWith: string | null = null;
  #preparing: Preparing | null = null;
  #isReady = false;
  #isEnding = false;
  #wantsRestart = false;
  #isForgotten = false;
  #isClosed = false;
  /** Why it does not run. */
  #problem: RigbridgeError | null = null;
  #preparation = new AbortController();
  readonly #wakers = new Set<() => void>();
  #loop: Promise<void> = Promise.resolve();

  constructor(saved: SavedProgram, parts: SupervisorParts) {
    this.#parts = parts;
    this.#program = saved.program;
    this.#unstarted = saved.run;
    this.#starts = saved.starts;
    this.#exit = saved.exit;
    this.#failed = saved.failed;
    this.#logFile = new LogFile(join(parts.folder, "logs", `${saved.program.id}.log`), parts.limits.log);
  }

  get program(): Program {
    return this.#program;
  }

  get saved(): SavedProgram {
    const run = this.#run?.saved ?? this.#unstarted;
    return { program: this.#program, run, starts: this.#starts, exit: this.#exit, failed: this.#failed };
  }

  get state(): ProgramState {
    const { launch, process, startedAt } = this.#run ?? {};
    const why = this.#problem?.message ?? this.#failed?.message ?? (this.#run === null ? this.#busyWith : null);
    return {
      id: this.#program.id,
      status: this.#status,
      pid: process?.identity.pid ?? null,
      startedAt: startedAt ?? null,
      apiPort: launch?.apiPort ?? null,
      apiToken: launch?.apiToken ?? null,
      starts: this.#starts,
      exit: this.#exit,
      message: why === null ? null : why.slice(0, 4_000).toWellFormed(),
      lastLines: [...(this.#failed?.lastLines ?? this.#linesBefore)],
      download: this.#preparing?.download ?? null,
    };
  }

  get #status(): ProgramStatus {
    if (this.#run !== null) {
      if (this.#isEnding || this.#mustEnd(this.#run)) return "stopping";
      return this.#isReady ? "running" : "starting";
    }
    if (this.#preparing !== null) return this.#preparing.status;
    if (!this.#program.running) return "stopped";
    if (this.#failed !== null) return "failed";
    if (this.#busyWith !== null) return "idle";
    return this.#retryAt === null ? "starting" : "waiting";
  }

  /** Group of its processes; null while it does not run. */
  get group(): number | null {
    return this.#run?.process.identity.pid ?? null;
  }

  /** Where its API listens while it runs; null if it has none. */
  get apiPort(): number | null {
    return this.#isEnding ? null : (this.#run?.launch.apiPort ?? null);
  }

  /** Begins to supervise. */
  begin(): void {
    const { log } = this.#parts;
    this.#loop = this.#supervise().catch((error: unknown) => {
      log.fatal({ err: error }, `Internal error; ${this.#name} is no longer supervised`);
    });
  }

  /** Ends the program, which stays as it is wanted: the next agent starts it. */
  async suspend(): Promise<void> {
    this.#isForgotten = true;
    this.begin();
    await this.#ended();
  }

  /** Ends the supervision. Programs run on where they can. */
  async close(): Promise<void> {
    if (!this.#parts.platform.programsOutliveAgent) this.#isForgotten = true;
    this.#isClosed = true;
    this.#preparation.abort();
    this.#notify();
    await Promise.race([this.#loop, sleep(closeMs, undefined, { ref: false })]);
    this.#run?.process.release();
  }

  /** What the service wants now. A program that runs with another command line is started anew. */
  want(program: Program): void {
    const before = this.#program;
    this.#isForgotten = false;
    this.#program = program;
    if (isDeepStrictEqual(before, program)) return;
    if ((program.running && !before.running) || fingerprintOf(program) !== fingerprintOf(before)) this.#beginAnew();
    this.#parts.saveOrLog();
    this.#notify();
  }

  async start(): Promise<string> {
    if (this.#status === "running") return `${this.#name} is running`;
    this.want({ ...this.#program, running: true });
    this.#beginAnew();
    this.#notify();
    return this.#started();
  }

  async restart(): Promise<string> {
    // One that is ending anyway is started anew after that.
    this.#wantsRestart = this.#run !== null && !this.#isEnding;
    return this.start();
  }

  async stop(): Promise<string> {
    this.want({ ...this.#program, running: false });
    await this.#ended();
    return `${this.#name} is stopped`;
  }

  /** Ends it for good. Resolves with false if it was wanted again meanwhile. */
  async forget(): Promise<boolean> {
    this.#isForgotten = true;
    this.#notify();
    while ((this.#run !== null || this.#preparing !== null) && this.#isForgotten && !this.#isClosed) await this.#next();
    return this.#isForgotten;
  }

  /** Tells why the host has something else to do, or that it no longer has. */
  occupy(busyWith: string | null): void {
    if (busyWith === this.#busyWith) return;
    this.#busyWith = busyWith;
    this.#notify();
  }

  rotateLog(): Promise<void> {
    return this.#logFile.rotate();
  }

  get #name(): string {
    return `${this.#program.name} (${this.#program.software})`;
  }

  get #wantsRun(): boolean {
    return this.#program.running && !this.#isForgotten && this.#failed === null && this.#busyWith === null;
  }

  #mustEnd({ launch }: ProgramRun): boolean {
    return !this.#wantsRun || this.#wantsRestart || launch.fingerprint !== fingerprintOf(this.#program);
  }

  #beginAnew(): void {
    this.#failed = null;
    this.#failures = noFailures;
    this.#retryAt = null;
    if (!this.#hangs) this.#problem = null;
  }

  get #hangs(): boolean {
    return this.#problem?.code === "program.hangs";
  }

  /** Waits until a start has come to something. */
  async #started(): Promise<string> {
    while (["starting", "stopping"].includes(this.#status) && !this.#hangs && !this.#isClosed) await this.#next();
    const status = this.#status;
    if (status === "running") return `${this.#name} is running`;
    if (status === "downloading" || status === "confirming") return `${this.#name} is started after its download`;
    if (status === "idle") return `${this.#name} is started when the host has nothing else to do (${this.#busyWith})`;
    throw this.#problem ?? new RigbridgeError("not.possible", `${this.#name} was stopped meanwhile`);
  }

  async #ended(): Promise<void> {
    while ((this.#run !== null || this.#preparing !== null) && !this.#hangs && !this.#isClosed) await this.#next();
    if (this.#hangs && this.#problem !== null) throw this.#problem;
  }

  #notify(): void {
    if (!this.#wantsRun) this.#preparation.abort();
    for (const wake of [...this.#wakers]) wake();
    this.#parts.changed();
  }

  /** Resolves with the next notification, or after this time. */
  #next(ms?: number): Promise<null> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#wakers.delete(wake);
        resolve(null);
      };
      const timer = ms === undefined ? undefined : setTimeout(wake, ms);
      this.#wakers.add(wake);
    });
  }

  async #supervise(): Promise<void> {
    while (!this.#isClosed || (this.#isForgotten && this.#run !== null)) {
      const waitMs = (this.#retryAt ?? 0) - this.#parts.now();
      if (this.#run !== null) await this.#watch(this.#run);
      else if (!this.#wantsRun) await this.#next();
      else if (waitMs > 0) await this.#next(waitMs);
      else await this.#start();
    }
  }

  /** Until the program ends, or has to. */
  async #watch(run: ProgramRun): Promise<void> {
    if (this.#mustEnd(run)) return this.#end(run, null);
    const exit = await Promise.race([run.process.ended, this.#next()]);
    if (exit !== null) await this.#end(run, exit);
  }

  /** Ends it, or after an end that nobody asked for what it has left running. */
  async #end(run: ProgramRun, exit: Exit | null): Promise<void> {
    this.#isEnding = true;
    this.#notify();
    if ((exit === null || (await run.remains())) && !(await run.end())) await this.#awaitHanging(run);
    const how = exit ?? (await run.process.ended);
    await this.#restoreGpus();
    this.#exit = { ...how, at: this.#parts.now() };
    await this.#logFile
      .write(`--- ${new Date(this.#exit.at).toISOString()} ended (${exitText(how)})`)
      .catch(() => undefined);
    if (this.#hangs) this.#problem = null;
    if (exit === null && this.#wantsRestart)
      this.#linesBefore = (await this.#lastLines(run, fewLines)).map((line) =>
        line.slice(0, fewCharacters).toWellFormed(),
      );
    if (exit === null) this.#wantsRestart = false;
    else await this.#judge(run, exit);
    [this.#run, this.#isEnding, this.#isReady] = [null, false, false];
    this.#parts.saveOrLog();
    this.#notify();
  }

  /** Nothing ends it; a second one must not be started beside it. */
  async #awaitHanging(run: ProgramRun): Promise<void> {
    this.#problem = new RigbridgeError(
      "program.hangs",
      `${this.#name} does not end, even by SIGKILL; a GPU driver may hang, and then only a reboot of the host helps`,
    );
    this.#parts.log.error(this.#problem.message);
    this.#notify();
    await run.process.ended;
    while (await run.remains()) await sleep(1_000);
  }

  /** What follows from an end that nobody asked for. */
  async #judge(run: ProgramRun, exit: Exit): Promise<void> {
    const { limits, log, now } = this.#parts;
    const { badConfiguration } = run.launch;
    const end = { ranMs: now() - run.startedAt, code: exit.code, badConfiguration };
    const after = afterEnd(end, this.#failures, limits.restart);
    const lines = await this.#lastLines(run, sentLines);
    const last = lines.at(-1);
    const what = after.what === "wait" ? `ended (${exitText(exit)})` : after.why;
    this.#failures = after.failures;
    this.#problem = new RigbridgeError(
      "program.ended",
      `${this.#name} ${what}${last === undefined ? "" : `; its last line: ${last}`}`,
    );
    log.warn(this.#problem.message);
    if (after.what === "wait") this.#retryAt = now() + after.waitMs;
    else this.#failed = { message: this.#problem.message, lastLines: lines };
  }

  async #lastLines({ launch }: ProgramRun, count: number): Promise<string[]> {
    const lines = await this.#logFile.tail(count + 1).catch(() => []);
    return lines.filter((line) => !line.startsWith("--- ")).map((line) => redact(line, launch.secrets));
  }

  async #start(): Promise<void> {
    const { prepare, gpus, log } = this.#parts;
    const program = this.#program;
    const isWanted = (): boolean => this.#wantsRun && this.#program === program && !this.#isClosed;
    this.#preparation = new AbortController();
    const { signal } = this.#preparation;
    this.#retryAt = null;
    this.#wantsRestart = false;
    this.#prepared({ status: "starting", download: null });
    try {
      const { gpuSettings, ...launch } = await prepare(program, (step) => this.#prepared(step), signal);
      if (!isWanted()) return;
      const mistakes = await gpus.apply(program.id, gpuSettings);
      if (mistakes.length > 0) throw new RigbridgeError("not.possible", mistakes.join(" "));
      if (isWanted()) await this.#launch({ ...launch, fingerprint: fingerprintOf(program) });
      else await this.#restoreGpus();
    } catch (error) {
      this.#unstarted = null;
      if (signal.aborted) return;
      this.#failedToStart(error);
      log.warn(this.#problem?.message ?? "");
      await this.#restoreGpus();
    } finally {
      this.#prepared(null);
    }
  }

  #prepared(step: Preparing | null): void {
    this.#preparing = step;
    this.#notify();
  }

  async #launch(launch: Launch): Promise<void> {
    const run = await startRun(launch, this.#program.id, { ...this.#parts, logFile: this.#logFile }, (unstarted) => {
      this.#unstarted = unstarted;
      this.#parts.save();
    });
    [this.#run, this.#unstarted] = [run, null];
    this.#starts += 1;
    this.#parts.saveOrLog();
    void this.#becomeReady(run);
  }

  #failedToStart(error: unknown): void {
    const { limits, now } = this.#parts;
    const why = error instanceof Error && "code" in error ? String(error.code) : "internal error";
    this.#problem =
      error instanceof RigbridgeError
        ? error
        : new RigbridgeError("program.ended", `${this.#name} cannot be started (${why})`, { cause: error });
    const { backOff } = limits.restart;
    this.#failures = { ...this.#failures, ends: this.#failures.ends + 1 };
    if (passing.has(this.#problem.code)) this.#retryAt = now() + backOffMs(this.#failures.ends, backOff);
    else this.#failed = { message: this.#problem.message, lastLines: [] };
  }

  async #becomeReady(run: ProgramRun): Promise<void> {
    const isCurrent = (): boolean => this.#run === run && !this.#isEnding && !this.#isClosed;
    const ready = await run.ready(isCurrent);
    if (!isCurrent()) return;
    if (ready === "taken") {
      this.#parts.log.warn(`Another process has taken port ${run.launch.apiPort}, so ${this.#name} gets another one`);
      this.#wantsRestart = true;
    } else {
      this.#isReady = true;
      this.#problem = null;
    }
    this.#notify();
  }

  /** Finds what an earlier agent has started. Called before `begin`. */
  async adopt(): Promise<void> {
    const saved = this.#unstarted;
    if (saved === null) return;
    this.#unstarted = null;
    const adopted = await adoptRun(saved, this.#parts);
    if (adopted === null) {
      this.#exit = { code: null, signal: null, at: this.#parts.now() };
      return;
    }
    this.#run = adopted.run;
    this.#isReady = true;
    this.#wantsRestart = !adopted.isWhole;
    this.#parts.log.info(`${this.#name} runs on (process ${adopted.run.process.identity.pid}) and is adopted`);
  }

  async #restoreGpus(): Promise<void> {
    const { gpus, log } = this.#parts;
    await gpus.restore(this.#program.id).catch((error: unknown) => {
      log.error({ err: error }, `GPU settings of ${this.#name} could not be restored`);
    });
  }
}

/** Of everything that the command line and the settings of GPUs are made of. */
const fingerprintOf = (program: Program): string => {
  const { software, files, algorithm, dualAlgorithm, pools, dualPools, parameters, gpuSettings } = program;
  const parts = [software, files, algorithm, dualAlgorithm, pools, dualPools, parameters, gpuSettings];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
};

const exitText = ({ code, signal }: Exit): string => {
  if (signal !== null) return signal;
  return code === null ? "exit code unknown" : `exit code ${code}`;
};
