import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Semaphore } from "../../async/index.ts";
import type { Caller } from "../../contract/service.ts";
import { needsMiner, type RunStep } from "../../contract/steps.ts";
import { noCommand, type Store, type StoredRun } from "../../store/index.ts";
import { causeOf, together } from "./run-record.ts";
import type { RunCause, RunRequest } from "./run-types.ts";
import { messageOf, type StepResult, type StepRunner } from "./step-runner.ts";

/** ms until a failed write to the store is repeated. */
const storeRetryMs = 5_000;

/** Progress of a run on one miner. */
export interface Lane {
  readonly minerId: number;
  step: number;
  readonly past: StepResult[];
  /** When the wait ends, for a miner that was waiting when the service stopped. */
  note: string;
  /** The result of the present step if it was found when the store was opened. */
  readonly settled: StepResult | null;
}

/** A run since the service started. */
export interface Job {
  readonly id: number;
  readonly cause: RunCause;
  readonly occurrence: string | null;
  readonly caller: Caller;
  readonly steps: readonly RunStep[];
  readonly texts: RunRequest["texts"] | undefined;
  /** Aborted when no more steps may start. */
  readonly stop: AbortController;
  /** Lanes that continue later: after a wait, or once a restart is confirmed. */
  readonly later: Promise<void>[];
  readonly slots: Semaphore;
  /** Steps that run once for all miners and have already run. */
  readonly taken: Set<number>;
  readonly over: Promise<void>;
  readonly end: () => void;
}

interface LanesOptions {
  readonly store: Store;
  readonly runner: StepRunner;
  /** Stops a run that must not continue. */
  cancel(id: number, message: string): Promise<unknown>;
  /** Aborted when the service stops. */
  readonly closing: AbortSignal;
  /** Epoch ms. */
  readonly now: () => number;
  readonly log: Logger;
}

export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/** The steps of a run on each of its miners: every result is stored before the next step is sent. */
export class Lanes {
  readonly #options: LanesOptions;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  readonly logLost =
    ({ id }: Pick<Job, "id">) =>
    (error: unknown): void =>
      this.#options.log.error({ err: error, run: id }, "a run could not be stored");

  /** Runs a miner's steps, up to one that continues later; never rejects. */
  async take(job: Job, lane: Lane, first: StepResult | null = lane.settled): Promise<void> {
    try {
      let result = first ?? (await this.#step(job, lane));
      while (result !== null && (await this.#next(job, lane, result))) result = await this.#step(job, lane);
    } catch (error) {
      this.logLost(job)(error);
    }
  }

  /** Runs the present step. Null: the lane ends here or continues later. */
  async #step(job: Job, lane: Lane): Promise<StepResult | null> {
    const { runs } = this.#options.store;
    const { minerId } = lane;
    const step = job.steps[lane.step];
    if (step === undefined || this.#isStopped(job, lane.step)) return null;
    const ends = endsSignal(job, lane.step);
    const refusal = ends ? null : this.refusal(job, job.caller);
    if (refusal !== null) {
      await this.stored(() => this.#options.cancel(job.id, refusal));
      return null;
    }
    if ("wait" in step && !("plug" in step)) return this.#wait(job, lane, step.wait);
    // A caller who has lost the right, or was removed, does not keep the signal on.
    const run = ends ? { ...job, caller: { actor: job.caller.actor } } : job;
    const skipped = this.#skipped(run, lane, step);
    if (skipped !== null) return skipped;
    const intent = needsMiner(step) ? null : noCommand;
    if (!(await this.stored(() => runs.claim(job.id, minerId, intent)))) return null;
    const outcome = await this.#options.runner.run(run, minerId, step, {
      closing: this.#options.closing,
      stored: (write) => this.stored(write),
    });
    if (outcome === "requeued") {
      // Aborted before a byte was sent: the service sends it after the next start.
      await this.stored(() => runs.end(job.id, { minerId, state: "queued", message: "" }));
      return null;
    }
    if (!("later" in outcome)) return outcome;
    job.later.push(outcome.later.then((result) => this.#continue(job, lane, result)));
    return null;
  }

  #continue(job: Job, lane: Lane, result: StepResult): Promise<void> {
    return job.slots.run(() => this.take(job, lane, result));
  }

  #isStopped(job: Job, step: number): boolean {
    return job.stop.signal.aborted && (this.#options.closing.aborted || !endsSignal(job, step));
  }

  /** Stores the result of a step. Returns whether another step follows. */
  async #next(job: Job, lane: Lane, result: StepResult): Promise<boolean> {
    const { runs } = this.#options.store;
    const { minerId } = lane;
    if (job.steps.length === 1) {
      await this.stored(() => runs.end(job.id, { minerId, state: result.state, message: result.message }));
      return false;
    }
    const { step } = lane;
    lane.past.push(result);
    lane.step += 1;
    const isLast = lane.step === job.steps.length;
    const isCancelled = this.#isStopped(job, lane.step) && !this.#options.closing.aborted;
    const queued = isCancelled
      ? ({ state: "cancelled", message: "Cancelled before it was sent" } as const)
      : ({ state: "queued", message: "" } as const);
    await this.stored(() =>
      runs.next(job.id, { minerId, step }, result, isLast ? together(job.steps, lane.past) : queued),
    );
    return !isLast;
  }

  /** Waits without occupying a slot; a wait continues after a restart of the service. */
  async #wait(job: Job, lane: Lane, seconds: number): Promise<null> {
    const { now } = this.#options;
    const noted = Date.parse(lane.note.slice(waitsUntil.length));
    const until = Number.isNaN(noted) ? now() + seconds * 1000 : noted;
    lane.note = "";
    const note = `${waitsUntil}${new Date(until).toISOString()}`;
    await this.stored(() => this.#options.store.runs.note(job.id, lane.minerId, note));
    const ms = Math.min(Math.max(0, until - now()), seconds * 1000);
    const waited = pause(ms, job.stop.signal).then(async () => {
      if (this.#isStopped(job, lane.step)) return;
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
        !endsSignal(job, lane.step) &&
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

  /** Why a run must not continue: users and rules may have changed. */
  refusal(run: StoredRun | Job, caller: Caller): string | null {
    try {
      this.#options.runner.check("action" in run ? causeOf(run) : run.cause, caller);
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Repeats a write until it succeeds, because a step is sent only once stored. Throws when closing. */
  async stored<T>(write: () => Promise<T>): Promise<T> {
    const { closing: signal } = this.#options;
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

/** A run that makes the rigs of a place signal where they are. */
export const isSignal = ({ kind, key }: RunCause): boolean => kind === "bulk" && key === "locate";

/**
 * Whether a step is one of those with which a signal ends. They run even if the run is cancelled, its caller has lost
 * the right to it, or the outcome of the first step is unknown: otherwise the rig would signal until somebody notices.
 */
const endsSignal = ({ cause }: Pick<Job, "cause">, step: number): boolean => step > 0 && isSignal(cause);
