import type { Logger } from "pino";
import { z } from "zod";
import { Background, Semaphore } from "../../async/index.ts";
import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Caller } from "../../contract/service.ts";
import { mostSteps, type RunStep, StoredStep } from "../../contract/steps.ts";
import type { NewRun, Store, StoredRun } from "../../store/index.ts";
import { runPaced } from "../commands/run-paced.ts";
import { joinMessages } from "../commands/steps.ts";
import { requestKeyOf } from "../request-key.ts";
import { expanded } from "./expand.ts";
import { isReported, type JobNotices } from "./job-notices.ts";
import { isSignal, type Job, type Lane, Lanes, pause } from "./lanes.ts";
import type { Naming } from "./made-lists.ts";
import { causeOf, recordOf } from "./run-record.ts";
import type { RunRecord, RunRequest, Runs } from "./run-types.ts";
import { noRun, type StepResult, type StepRunner } from "./step-runner.ts";
import type { StepTargets } from "./step-targets.ts";

/** Concurrent runs for rules and schedules; a rule for one miner is one run. */
const mostRuns = 2_000;
/** Rigs that receive a step of a rule or schedule at the same time, over all of them. */
const rigsAtOnce = 64;

interface RunExecutorOptions {
  readonly store: Store;
  readonly runner: StepRunner;
  readonly jobNotices: JobNotices;
  readonly targets: StepTargets;
  /** Epoch ms. */
  readonly now: () => number;
  readonly log: Logger;
}

interface StartedRun {
  readonly caller: Caller;
  readonly made: Naming;
  readonly texts?: RunRequest["texts"];
  /** What the setting that it changes was before, by miner. */
  readonly before?: ReadonlyMap<number, string> | null;
}

/**
 * Runs lists of steps on miners, and continues them after a restart: a step is stored as sent before its first byte
 * leaves, so nothing is sent twice, and queued steps continue. After a step with an unknown result, nothing more is
 * sent to that miner, except what ends its signal.
 */
export class RunExecutor implements Runs {
  readonly #options: RunExecutorOptions;
  readonly #closing = new AbortController();
  readonly #jobs = new Map<number, Job>();
  readonly #running = new Background();
  readonly #slots = new Semaphore(rigsAtOnce);
  readonly #lanes: Lanes;

  constructor(options: RunExecutorOptions) {
    this.#options = options;
    const { store, runner, now, log } = options;
    const cancel = (id: number, message: string) => this.cancel(id, message);
    this.#lanes = new Lanes({ store, runner, now, log, cancel, closing: this.#closing.signal });
  }

  /** The unfinished runs. */
  jobs(): Iterable<Job> {
    return this.#jobs.values();
  }

  async begin({ cause, occurrence, caller, minerIds, steps, texts }: RunRequest): Promise<RunRecord | "seen"> {
    const { store } = this.#options;
    // Without asking a database that does not answer: a rig that overheats is stopped at once.
    if (cause.safety === true && store.lease?.mayAct() === false)
      throw new RigbridgeError("service.store-away", "This service does not have the lease of its store now");
    if (await store.runs.isBegun(occurrence)) return "seen";
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

  async lower({ cause, occurrence, caller, minerIds, steps, texts }: RunRequest): Promise<string | null> {
    const { runner } = this.#options;
    const run = { id: noRun, cause, occurrence, caller, texts };
    const context = { closing: this.#closing.signal, stored: <T>(write: () => Promise<T>) => write() };
    const ofPower = steps.filter((step) => runner.isOfPower(step));
    if (ofPower.length === 0) return null;
    const results = await Promise.all(
      minerIds.map((minerId) =>
        this.#slots.run(async () => {
          for (const step of ofPower) {
            const outcome = await runner.run(run, minerId, step, context);
            const result = typeof outcome === "object" && "later" in outcome ? await outcome.later : outcome;
            if (result === "requeued" || result.state !== "done") return messageOfResult(result);
          }
          return "";
        }),
      ),
    );
    return joinMessages([...new Set(results)]);
  }

  /** Stores and starts a run. Throws `service.not-ready`. */
  async start(
    run: NewRun,
    minerIds: readonly number[],
    list: readonly RunStep[],
    { caller, made, texts, before = null }: StartedRun,
  ): Promise<StoredRun> {
    const { store } = this.#options;
    if (this.#closing.signal.aborted) throw new RigbridgeError("service.not-ready", "The service is stopping");
    const steps = expanded(list, store, made, this.#options.targets);
    const waits = steps.reduce((sum, step) => sum + ("wait" in step && "plug" in step === false ? step.wait : 0), 0);
    const queued = minerIds.map(
      (minerId) => ({ minerId, state: "queued", message: "", before: before?.get(minerId) ?? null }) as const,
    );
    const stored = await store.runs.add({ ...run, steps, waits }, queued, requestKeyOf(caller));
    const lanes = minerIds.map((minerId): Lane => ({ minerId, step: 0, past: [], note: "", settled: null }));
    // The request is answered by the run, not by one of its commands.
    this.#start(stored, { caller: { ...caller, idempotency: undefined }, steps, texts }, lanes, new Set());
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
      const isRefusable = !isSignal(causeOf(run));
      const refusal =
        steps.length === 0
          ? "This version does not understand its steps"
          : isRefusable
            ? this.#lanes.refusal(run, caller)
            : null;
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

  /** Stops a run; resolves with the number of miners whose remaining steps are dropped. */
  async cancel(id: number, message: string): Promise<number> {
    const count = await this.#options.store.runs.cancel(id, message);
    this.#jobs.get(id)?.stop.abort();
    return count;
  }

  /** Resolves once the results of all runs are stored. */
  settled(): Promise<void> {
    return this.#running.settled();
  }

  /** Starts nothing new, and resolves once all results are stored. The command executor ends running commands. */
  close(): Promise<void> {
    this.#closing.abort();
    for (const { stop } of this.#jobs.values()) stop.abort();
    return this.settled();
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
    const begun = runPaced(lanes, pacing, (lane) => slots.run(() => this.#lanes.take(job, lane)));
    void this.#running.add(
      begun
        .then(() => this.#finish(job))
        .catch(this.#lanes.logLost(job))
        .finally(end),
    );
  }

  async #finish({ id, cause, caller, stop, later }: Job): Promise<void> {
    // The list may grow while it is awaited.
    for (const lane of later) await lane;
    stop.abort();
    try {
      if (this.#closing.signal.aborted) return;
      const { store, jobNotices } = this.#options;
      await this.#lanes.stored(() => store.runs.finish(id));
      if (isReported(cause)) jobNotices.ended({ id, cause, actor: caller.actor }, await store.runs.results(id));
    } finally {
      this.#jobs.delete(id);
    }
  }
}

const messageOfResult = (result: StepResult | "requeued"): string =>
  result === "requeued" ? "The service is stopping" : result.message;

const range = (end: number): number[] => Array.from({ length: end }, (_, index) => index);

const StoredSteps = z.array(StoredStep).max(4 * mostSteps);

/** The steps of a stored run; empty if this version does not know them. */
function stepsOf({ steps, action, parameters }: StoredRun): RunStep[] {
  const { data = [] } = StoredSteps.safeParse(steps ?? [{ ...parameters, action }]);
  return data;
}
