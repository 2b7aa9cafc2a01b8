import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { z } from "zod";
import { Semaphore } from "../../async/index.ts";
import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Caller } from "../../contract/service.ts";
import { mostSteps, needsMiner, type RunStep, StoredStep } from "../../contract/steps.ts";
import { type NewRun, noCommand, type Store, type StoredRun } from "../../store/index.ts";
import { runPaced } from "../commands/run-paced.ts";
import { expanded } from "./expand.ts";
import type { Made } from "./rights.ts";
import { causeOf, recordOf, together } from "./run-record.ts";
import type { RunCause, RunRecord, RunRequest, Runs } from "./run-types.ts";
import { messageOf, type StepResult, type StepRunner } from "./step-runner.ts";

/** Runs for rules and schedules at once; a rule for one miner is one run. */
const mostRuns = 2_000;
/** Rigs at once that get a step of a rule or schedule, of all of them together. */
const rigsAtOnce = 64;
/** ms until a failed write to the store is repeated. */
const storeRetryMs = 5_000;

/** How far a run is with a miner. */
interface Lane {
  readonly minerId: number;
  step: number;
  readonly past: StepResult[];
  /** Of a miner that waited when the service stopped: until when. */
  note: string;
  /** What came of the present step, where that was only known when the store was opened. */
  readonly settled: StepResult | null;
}

/** A run of this start of the service. */
export interface Job {
  readonly id: number;
  readonly cause: RunCause;
  readonly occurrence: string | null;
  readonly caller: Caller;
  readonly steps: readonly RunStep[];
  readonly texts: RunRequest["texts"] | undefined;
  /** Aborted when no more steps are to start. */
  readonly stop: AbortController;
  /** Lanes that go on later: after a wait, or once a restart is confirmed. */
  readonly later: Promise<void>[];
  readonly slots: Semaphore;
  /** Steps that are taken once for all miners, and that one of them has taken. */
  readonly taken: Set<number>;
  readonly over: Promise<void>;
  readonly end: () => void;
}

interface RunExecutorOptions {
  readonly store: Store;
  readonly runner: StepRunner;
  /** Epoch ms. */
  readonly now: () => number;
  readonly log: Logger;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/**
 * Runs lists of steps on miners, as runs that survive a restart: a step is stored as sent before its first byte leaves,
 * so nothing is sent twice, and what is still queued goes on. After a step whose outcome is unknown nothing more is
 * sent to that miner.
 */
export class RunExecutor implements Runs {
  readonly #options: RunExecutorOptions;
  readonly #closing = new AbortController();
  readonly #jobs = new Map<number, Job>();
  readonly #running = new Set<Promise<void>>();
  readonly #slots = new Semaphore(rigsAtOnce);

  constructor(options: RunExecutorOptions) {
    this.#options = options;
  }

  /** Those that are under way. */
  jobs(): Iterable<Job> {
    return this.#jobs.values();
  }

  async begin({ cause, occurrence, caller, minerIds, steps, texts }: RunRequest): Promise<RunRecord | "seen"> {
    const { store } = this.#options;
    if (store.runs.isBegun(occurrence)) return "seen";
    if (this.#jobs.size >= mostRuns)
      throw new RigbridgeError("too.many", `${mostRuns} runs of rules and schedules are under way already`);
    const { kind: action } = cause;
    const run = { actor: caller.actor, userId: caller.userId ?? null, action, parameters: {}, cause, occurrence };
    const lanes = minerIds.length === 0 ? [0] : [...new Set(minerIds)];
    const made = this.#options.runner.check(cause, caller);
    const pacing = { parallel: rigsAtOnce, delay: 0, dryRun: false };
    const begun = await this.start({ ...run, ...pacing }, lanes, steps, { caller, made, texts });
    return this.record(begun.id);
  }

  /** Stores a run and begins it. Throws `service.not-ready`. */
  async start(
    run: NewRun,
    minerIds: readonly number[],
    list: readonly RunStep[],
    { caller, made, texts }: { readonly caller: Caller; readonly made: Made; readonly texts?: RunRequest["texts"] },
  ): Promise<StoredRun> {
    const { store } = this.#options;
    if (this.#closing.signal.aborted) throw new RigbridgeError("service.not-ready", "The service is stopping");
    const steps = expanded(list, store, made);
    const waits = steps.reduce((sum, step) => sum + ("wait" in step && "plug" in step === false ? step.wait : 0), 0);
    const queued = minerIds.map((minerId) => ({ minerId, state: "queued", message: "" }) as const);
    const stored = await store.runs.add({ ...run, steps, waits }, queued);
    const lanes = minerIds.map((minerId): Lane => ({ minerId, step: 0, past: [], note: "", settled: null }));
    this.#start(stored, { caller, steps, texts }, lanes, new Set());
    return stored;
  }

  async record(id: number): Promise<RunRecord> {
    const { runs } = this.#options.store;
    const run = await runs.get(id);
    if (run === undefined) throw notFound("run", id);
    return recordOf(run, stepsOf(run), await runs.turns(id));
  }

  async ended(id: number): Promise<RunRecord> {
    await this.#jobs.get(id)?.over;
    return this.record(id);
  }

  /** Call it once all miners are loaded. */
  async resume(): Promise<void> {
    const { runs } = this.#options.store;
    for (const run of await runs.running()) {
      const caller = { actor: run.actor, userId: run.userId ?? undefined };
      const steps = stepsOf(run);
      const refusal = steps.length === 0 ? "This version does not know its steps" : this.#refusal(run, caller);
      if (refusal !== null) await this.cancel(run.id, refusal);
      else {
        const turns = await runs.turns(run.id);
        const taken = turns.flatMap(({ step, state }) => (state === "queued" ? range(step) : range(step + 1)));
        const lanes = turns.flatMap(({ minerId, step, past, state, message, commandId }): Lane[] => {
          if (state === "queued") return [{ minerId, step, past: [...past], note: message, settled: null }];
          const isOver = steps.length === 1 || step >= steps.length || state === "cancelled";
          return isOver ? [] : [{ minerId, step, past: [...past], note: "", settled: { state, message, commandId } }];
        });
        this.#start(run, { caller, steps, texts: undefined }, lanes, new Set(taken));
      }
    }
  }

  /** Stops a run; resolves with the number of miners to which nothing more is sent. */
  async cancel(id: number, message: string): Promise<number> {
    const count = await this.#options.store.runs.cancel(id, message);
    this.#jobs.get(id)?.stop.abort();
    return count;
  }

  /** Starts nothing more, and resolves when all results are stored. The command executor ends what is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { stop } of this.#jobs.values()) stop.abort();
    await Promise.all(this.#running);
  }

  #start(
    { id, parallel, delay, cause, ...run }: StoredRun,
    what: Pick<Job, "caller" | "steps" | "texts">,
    lanes: readonly Lane[],
    taken: Set<number>,
  ): void {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const slots = cause === null ? new Semaphore(parallel) : this.#slots;
    const of = causeOf({ id, parallel, delay, cause, ...run });
    const { occurrence = null } = run;
    const named = { id, cause: of, occurrence, ...what };
    const job: Job = { ...named, stop: new AbortController(), later: [], slots, taken, over, end };
    if (this.#closing.signal.aborted) job.stop.abort();
    this.#jobs.set(id, job);
    const pacing = { parallel, delayMs: delay * 1000, signal: job.stop.signal, wait: pause };
    const begun = runPaced(lanes, pacing, (lane) => slots.run(() => this.#lane(job, lane)));
    const settled = begun
      .then(() => this.#finish(job))
      .catch(this.#logLost(job))
      .finally(() => {
        this.#running.delete(settled);
        end();
      });
    this.#running.add(settled);
  }

  async #finish({ id, stop, later }: Job): Promise<void> {
    // It grows meanwhile.
    for (const lane of later) await lane;
    stop.abort();
    try {
      if (!this.#closing.signal.aborted) await this.#stored(() => this.#options.store.runs.finish(id));
    } finally {
      this.#jobs.delete(id);
    }
  }

  readonly #logLost =
    ({ id }: Pick<Job, "id">) =>
    (error: unknown): void =>
      this.#options.log.error({ err: error, run: id }, "a run could not be written down");

  /** A miner's steps, up to one that goes on later; never rejects. */
  async #lane(job: Job, lane: Lane, first: StepResult | null = lane.settled): Promise<void> {
    try {
      let result = first ?? (await this.#step(job, lane));
      while (result !== null && (await this.#next(job, lane, result))) result = await this.#step(job, lane);
    } catch (error) {
      this.#logLost(job)(error);
    }
  }

  /** Runs the present step. Null: the lane ends here, or goes on later. */
  async #step(job: Job, lane: Lane): Promise<StepResult | null> {
    const { runs } = this.#options.store;
    const { minerId } = lane;
    const step = job.steps[lane.step];
    if (step === undefined || job.stop.signal.aborted) return null;
    const refusal = this.#refusal(job, job.caller);
    if (refusal !== null) {
      await this.#stored(() => this.cancel(job.id, refusal));
      return null;
    }
    if ("wait" in step && !("plug" in step)) return this.#wait(job, lane, step.wait);
    const skipped = this.#skipped(job, lane, step);
    if (skipped !== null) return skipped;
    const intent = needsMiner(step) ? null : noCommand;
    if (!(await this.#stored(() => runs.claim(job.id, minerId, intent)))) return null;
    const outcome = await this.#options.runner.run(job, minerId, step, {
      closing: this.#closing.signal,
      stored: (write) => this.#stored(write),
    });
    if (outcome === "requeued") {
      // Aborted before a byte was sent: the next start of the service sends it.
      await this.#stored(() => runs.end(job.id, { minerId, state: "queued", message: "" }));
      return null;
    }
    if (!("later" in outcome)) return outcome;
    job.later.push(outcome.later.then((result) => this.#continue(job, lane, result)));
    return null;
  }

  #continue(job: Job, lane: Lane, result: StepResult): Promise<void> {
    return job.slots.run(() => this.#lane(job, lane, result));
  }

  /** Stores what came of a step. Whether there is another one. */
  async #next(job: Job, lane: Lane, result: StepResult): Promise<boolean> {
    const { runs } = this.#options.store;
    const { minerId } = lane;
    if (job.steps.length === 1) {
      await this.#stored(() => runs.end(job.id, { minerId, state: result.state, message: result.message }));
      return false;
    }
    lane.past.push(result);
    lane.step += 1;
    const isLast = lane.step === job.steps.length;
    const isCancelled = job.stop.signal.aborted && !this.#closing.signal.aborted;
    const queued = isCancelled
      ? ({ state: "cancelled", message: "Cancelled before it was sent" } as const)
      : ({ state: "queued", message: "" } as const);
    await this.#stored(() => runs.next(job.id, minerId, result, isLast ? together(job.steps, lane.past) : queued));
    return !isLast;
  }

  /** Waits without holding a place; a wait goes on after a restart of the service. */
  async #wait(job: Job, lane: Lane, seconds: number): Promise<null> {
    const { now } = this.#options;
    const noted = Date.parse(lane.note.slice(waitsUntil.length));
    const until = Number.isNaN(noted) ? now() + seconds * 1000 : noted;
    lane.note = "";
    const note = `${waitsUntil}${new Date(until).toISOString()}`;
    await this.#stored(() => this.#options.store.runs.note(job.id, lane.minerId, note));
    const ms = Math.min(Math.max(0, until - now()), seconds * 1000);
    const waited = pause(ms, job.stop.signal).then(async () => {
      if (job.stop.signal.aborted) return;
      await this.#continue(job, lane, { state: "done", message: "", commandId: null });
    });
    job.later.push(waited);
    return null;
  }

  /** Why a step is not sent; null if it is. */
  #skipped(job: Job, lane: Lane, step: RunStep): StepResult | null {
    const skip = (message: string): StepResult => ({ state: "cancelled", message, commandId: null });
    if (needsMiner(step)) {
      if (
        lane.past.some(({ state, commandId }) => state === "unknown" && commandId !== null && commandId !== noCommand)
      )
        return skip("The outcome of an earlier step is unknown, so nothing more is sent to this miner");
      const held = this.#options.runner.heldBack(job, lane.minerId, step);
      return held === null ? null : skip(held);
    }
    if (!this.#options.runner.isOfOneMiner(step)) {
      if (job.taken.has(lane.step)) return { state: "done", message: "Done once for all miners", commandId: null };
      job.taken.add(lane.step);
    }
    return null;
  }

  /** Why a run must not go on: users and rules change meanwhile. */
  #refusal(run: StoredRun | Job, caller: Caller): string | null {
    try {
      this.#options.runner.check("action" in run ? causeOf(run) : run.cause, caller);
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Repeats a write until it succeeds: nothing is sent that is not stored. Throws when closing. */
  async #stored<T>(write: () => Promise<T>): Promise<T> {
    const { signal } = this.#closing;
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (signal.aborted) throw error;
        this.#options.log.warn({ err: error }, "a run waits for the store");
        await pause(storeRetryMs, signal);
      }
    }
  }
}

const waitsUntil = "Waits until ";

const range = (end: number): number[] => Array.from({ length: end }, (_, index) => index);

const StoredSteps = z.array(StoredStep).max(4 * mostSteps);

/** The steps of a stored run; none if this version does not know them. */
function stepsOf({ steps, action, parameters }: StoredRun): RunStep[] {
  const { data = [] } = StoredSteps.safeParse(steps ?? [{ ...parameters, action }]);
  return data;
}
