import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Program, ProgramState, ProgramStatus } from "../contract/agent.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { Bell } from "./bell.ts";
import { LogFile } from "./log-file.ts";
import { exitText, Outcome } from "./outcome.ts";
import type { Exit } from "./process.ts";
import { adoptRun, type Launch, type ProgramRun, startRun } from "./program-run.ts";
import type { SavedProgram, SavedRun } from "./state-file.ts";
import { fingerprintOf, type Preparing, type SupervisorParts } from "./supervisor-parts.ts";

/**
 * Lines of its output that are sent when the agent gives up a program: a message about 100 of them stays below
 * `agentMessageBytes`.
 */
const sentLines = 50;
const sentBytes = 6_000;
/** Lines that are sent when it is restarted by request. */
const fewLines = 10;
const fewBytes = 2_000;
/** How long closing waits for a program that is being ended; the next agent takes over. */
const closeMs = 1_000;

/**
 * Keeps one program in the requested state. A single loop starts and ends it, so it never runs twice, whatever the
 * order of requests and repeats.
 */
export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #logFile: LogFile;
  #program: Program;
  #run: ProgramRun | null = null;
  /** A start whose process is not known yet. */
  #unstarted: SavedRun | null;
  readonly #outcome: Outcome;
  /** Its last output before the last requested restart. */
  #linesBefore: readonly string[] = [];
  /** Other work on the host that keeps the program from running; null if there is none. */
  #busyWith: string | null = null;
  #preparing: Preparing | null = null;
  #isReady = false;
  #isEnding = false;
  #wantsRestart = false;
  #isForgotten = false;
  #isClosed = false;
  #preparation = new AbortController();
  readonly #bell = new Bell();
  #loop: Promise<void> = Promise.resolve();

  constructor(saved: SavedProgram, parts: SupervisorParts) {
    this.#parts = parts;
    this.#program = saved.program;
    this.#unstarted = saved.run;
    this.#outcome = new Outcome(saved, parts.limits.restart, parts.now);
    this.#logFile = new LogFile(join(parts.folder, "logs", `${saved.program.id}.log`), parts.limits.log);
  }

  get program(): Program {
    return this.#program;
  }

  get saved(): SavedProgram {
    const run = this.#run?.saved ?? this.#unstarted;
    return { program: this.#program, run, ...this.#outcome.saved };
  }

  get state(): ProgramState {
    const { launch, process, startedAt } = this.#run ?? {};
    const { starts, exit, failed } = this.#outcome.saved;
    const status = this.#status;
    const why = this.#outcome.message ?? (this.#run === null ? this.#busyWith : null);
    const isExplained = why !== null && status !== "stopped";
    return {
      id: this.#program.id,
      status,
      pid: process?.identity.pid ?? null,
      startedAt: startedAt ?? null,
      apiPort: launch?.apiPort ?? null,
      apiToken: launch?.apiToken ?? null,
      starts,
      exit,
      message: isExplained ? why.slice(0, 4_000).toWellFormed() : null,
      lastLines: status === "stopped" ? [] : [...(failed?.lastLines ?? this.#linesBefore)],
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
    if (this.#outcome.isFinal) return "failed";
    if (this.#busyWith !== null) return "idle";
    return this.#outcome.isWaiting ? "waiting" : "starting";
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

  /** Ends the program without changing its requested state: the next agent starts it. */
  async suspend(): Promise<void> {
    this.#isForgotten = true;
    this.begin();
    await this.#ended();
  }

  /** Ends the supervision. The program keeps running where the platform allows it. */
  async close(): Promise<void> {
    if (!this.#parts.platform.programsOutliveAgent) this.#isForgotten = true;
    this.#isClosed = true;
    this.#preparation.abort();
    this.#notify();
    await Promise.race([this.#loop, sleep(closeMs, undefined, { ref: false })]);
    this.#run?.process.release();
  }

  /** Applies the settings of the service. A running program whose command line changes is restarted. */
  want(program: Program): void {
    const before = this.#program;
    this.#isForgotten = false;
    this.#program = program;
    if (isDeepStrictEqual(before, program)) return;
    const isStart = program.running && !before.running;
    if (isStart) this.#outcome.beginCount();
    if (isStart || fingerprintOf(program) !== fingerprintOf(before)) this.#outcome.beginAnew();
    this.#parts.saveOrLog();
    this.#notify();
  }

  async start(): Promise<string> {
    if (this.#status === "running") return `${this.#name} is running`;
    if (this.#status === "starting" && this.#run !== null) return this.#started();
    this.#outcome.beginCount();
    return this.#begin();
  }

  restart(): Promise<string> {
    // A program that is already ending is started again afterwards.
    this.#wantsRestart = this.#run !== null && !this.#isEnding;
    return this.#begin();
  }

  #begin(): Promise<string> {
    this.want({ ...this.#program, running: true });
    this.#outcome.beginAnew();
    this.#notify();
    return this.#started();
  }

  async stop(): Promise<string> {
    this.want({ ...this.#program, running: false });
    await this.#ended();
    return `${this.#name} is stopped`;
  }

  /** Ends it for good. Resolves with false if the service has requested it again in the meantime. */
  async forget(): Promise<boolean> {
    this.#isForgotten = true;
    this.#notify();
    while ((this.#run !== null || this.#preparing !== null) && this.#isForgotten && !this.#isClosed)
      await this.#bell.next();
    return this.#isForgotten;
  }

  /** Sets the other work on the host that keeps the program from running; null for none. */
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
    return this.#program.running && !this.#isForgotten && !this.#outcome.isFinal && this.#busyWith === null;
  }

  #mustEnd({ launch }: ProgramRun): boolean {
    return !this.#wantsRun || this.#wantsRestart || launch.fingerprint !== fingerprintOf(this.#program);
  }

  /** Waits until a start has succeeded or failed. */
  async #started(): Promise<string> {
    while (["starting", "stopping"].includes(this.#status) && !this.#outcome.hangs && !this.#isClosed)
      await this.#bell.next();
    const status = this.#status;
    if (status === "running") return `${this.#name} is running`;
    if (status === "downloading" || status === "confirming") return `${this.#name} will start after its download`;
    if (status === "idle")
      return `${this.#name} will start when the other work on the host has ended (${this.#busyWith})`;
    throw this.#outcome.problem ?? new RigbridgeError("not.possible", `${this.#name} was stopped in the meantime`);
  }

  async #ended(): Promise<void> {
    while ((this.#run !== null || this.#preparing !== null) && !this.#outcome.hangs && !this.#isClosed)
      await this.#bell.next();
    if (this.#outcome.hangs && this.#outcome.problem !== null) throw this.#outcome.problem;
  }

  #notify(): void {
    if (!this.#wantsRun) this.#preparation.abort();
    this.#bell.ring();
    this.#parts.changed();
  }

  async #supervise(): Promise<void> {
    while (!this.#isClosed || (this.#isForgotten && this.#run !== null)) {
      const { waitMs } = this.#outcome;
      if (this.#run !== null) await this.#watch(this.#run);
      else if (!this.#wantsRun) await this.#bell.next();
      else if (waitMs > 0) await this.#bell.next(waitMs);
      else await this.#start();
    }
  }

  /** Waits until the program ends or should end. */
  async #watch(run: ProgramRun): Promise<void> {
    if (this.#mustEnd(run)) return this.#end(run, null);
    const exit = await Promise.race([run.process.ended, this.#bell.next()]);
    if (exit !== null) await this.#end(run, exit);
  }

  /** Ends it or, after an exit that was not requested, the child processes that it left. */
  async #end(run: ProgramRun, exit: Exit | null): Promise<void> {
    this.#isEnding = true;
    this.#notify();
    if ((exit === null || (await run.remains())) && !(await run.end())) await this.#awaitHanging(run);
    const how = exit ?? (await run.process.ended);
    await this.#restoreGpus();
    await this.#logFile.note(this.#outcome.ended(how), `ended (${exitText(how)})`).catch(() => undefined);
    if (exit === null && this.#wantsRestart)
      this.#linesBefore = await this.#logFile.lastOutput(fewLines, run.launch.secrets, fewBytes).catch(() => []);
    if (exit === null) this.#wantsRestart = false;
    else await this.#judge(run, exit);
    [this.#run, this.#isEnding, this.#isReady] = [null, false, false];
    this.#parts.saveOrLog();
    this.#notify();
  }

  /** It survived every signal; a second instance must not be started beside it. */
  async #awaitHanging(run: ProgramRun): Promise<void> {
    this.#parts.log.error(this.#outcome.hanging(this.#name).message);
    this.#notify();
    await run.process.ended;
    while (await run.remains()) await sleep(1_000);
  }

  async #judge(run: ProgramRun, exit: Exit): Promise<void> {
    const { launch, startedAt } = run;
    const lines = await this.#logFile.lastOutput(sentLines, launch.secrets, sentBytes).catch(() => []);
    this.#parts.log.warn(this.#outcome.judge(this.#name, { exit, launch, startedAt, lines }).message);
  }

  async #start(): Promise<void> {
    const { prepare, gpus, log } = this.#parts;
    const program = this.#program;
    const isWanted = (): boolean => this.#wantsRun && this.#program === program && !this.#isClosed;
    this.#preparation = new AbortController();
    const { signal } = this.#preparation;
    this.#outcome.starting();
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
      log.warn(this.#outcome.failedToStart(this.#name, error).message);
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
    this.#outcome.started();
    this.#parts.saveOrLog();
    this.#becomeReady(run).catch((error: unknown) => {
      this.#parts.log.error({ err: error }, `Internal error; it is not known whether ${this.#name} is ready`);
    });
  }

  async #becomeReady(run: ProgramRun): Promise<void> {
    const isCurrent = (): boolean => this.#run === run && !this.#isEnding && !this.#isClosed;
    const ready = await run.ready(isCurrent);
    if (!isCurrent()) return;
    if (ready === "taken") {
      this.#parts.log.warn(
        `Another process has taken port ${run.launch.apiPort}; ${this.#name} is restarted with another one`,
      );
      this.#wantsRestart = true;
    } else {
      this.#isReady = true;
      this.#outcome.runs();
    }
    this.#notify();
  }

  /** Finds the process that an earlier agent started. Called before `begin`. */
  async adopt(): Promise<void> {
    const saved = this.#unstarted;
    if (saved === null) return;
    this.#unstarted = null;
    const adopted = await adoptRun(saved, this.#parts);
    if (adopted === null) {
      this.#outcome.ended({ code: null, signal: null });
      return;
    }
    this.#run = adopted.run;
    this.#isReady = true;
    this.#wantsRestart = !adopted.isWhole;
    this.#parts.log.info(
      `${this.#name} is still running (process ${adopted.run.process.identity.pid}) and was adopted`,
    );
  }

  async #restoreGpus(): Promise<void> {
    const { gpus, log } = this.#parts;
    await gpus.restore(this.#program.id).catch((error: unknown) => {
      log.error({ err: error }, `GPU settings of ${this.#name} could not be restored`);
    });
  }
}
