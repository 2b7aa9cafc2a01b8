import { setTimeout as sleep, setImmediate as yieldToOthers } from "node:timers/promises";
import type { Logger } from "pino";
import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { BulkAction, BulkJob } from "../../contract/resources.ts";
import type { Caller, MiningService } from "../../contract/service.ts";
import type { BulkResult, Store, StoredBulkAction } from "../../store/index.ts";
import { done } from "../crud.ts";
import type { Entry, MinerRegistry } from "../miners/miner-registry.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { costs, type ReadShares } from "../users/read-shares.ts";
import { type Action, type ActionLoops, commandSpec, isForLoop, type RunOnLoop, type StepsOf } from "./actions.ts";
import { actionToStore, bulkRequest, isDisabled, storedAction } from "./bulk-request.ts";
import { type BegunCommand, type CommandExecutor, requireReading } from "./command-executor.ts";
import { runPaced } from "./run-paced.ts";
import { rehearse, type Step } from "./steps.ts";

type BulkOperations = Pick<MiningService, "startBulkAction" | "listBulkActions" | "getBulkAction" | "cancelBulkAction">;

export interface BulkContext {
  readonly registry: MinerRegistry;
  readonly executor: CommandExecutor;
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly stepsOf: StepsOf;
  readonly loops: ActionLoops;
  readonly runOnLoop: RunOnLoop;
  readonly shares: ReadShares;
  readonly log: Logger;
}

/** A job of this run. */
interface Job {
  readonly id: number;
  readonly action: Action;
  readonly stepsOf: (minerId: number) => Step[];
  readonly caller: Caller;
  /** Aborted when no more commands are to start. */
  readonly stop: AbortController;
  /** Restarts that are not confirmed yet: the other miners do not wait for them. */
  readonly open: Promise<void>[];
}

/** Jobs at once: in all, of one user, and reserved for callers that are not users, such as the owner. */
const mostJobs = 20;
const mostJobsOfUser = 5;
const jobsReserved = 4;
/** Miners that a dry run checks before other work gets its turn. */
const rehearsedAtOnce = 1_000;
/** ms until a failed write to the store is repeated. */
const storeRetryMs = 5_000;

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/**
 * Actions for many miners, as jobs that survive a restart: a miner's result is stored as sent before its command is
 * started, so nothing is sent twice, and what is still queued continues.
 */
export class BulkActions implements BulkOperations {
  readonly #context: BulkContext;
  readonly #closing = new AbortController();
  readonly #jobs = new Map<number, Job>();
  readonly #running = new Set<Promise<void>>();
  /** Callers of jobs that are being stored. */
  readonly #starting = new Set<Caller>();

  constructor(context: BulkContext) {
    this.#context = context;
  }

  readonly startBulkAction: MiningService["startBulkAction"] = async (body, caller) => {
    const { registry, store, accessBook, stepsOf } = this.#context;
    if (this.#closing.signal.aborted) throw new RigbridgeError("service.not-ready", "The service is stopping");
    const access = accessBook.of(caller);
    const { action, minerIds } = bulkRequest(body, registry, store, access);
    this.#context.shares.take(caller, minerIds.length * costs.result);
    const work = { action, stepsOf: stepsOf(action, access), caller };
    const { parallel, delay, dryRun } = body;
    const request = { actor: caller.actor, userId: caller.userId ?? null, ...actionToStore(body) };
    const newJob = { ...request, parallel, delay, dryRun };
    if (dryRun) {
      const results = await this.#rehearseAll(minerIds, work, access);
      return { id: (await store.bulkActions.add(newJob, results)).id };
    }
    this.#checkCapacity(caller);
    const starting = { ...caller };
    this.#starting.add(starting);
    try {
      const queued = minerIds.map((minerId): BulkResult => ({ minerId, state: "queued", message: "" }));
      const job = await store.bulkActions.add(newJob, queued);
      this.#start(job, work, minerIds);
      return { id: job.id };
    } finally {
      this.#starting.delete(starting);
    }
  };

  readonly listBulkActions: MiningService["listBulkActions"] = async (_input, caller) => {
    const { store, accessBook, shares } = this.#context;
    const { bulkActions } = store;
    shares.take(caller, 0);
    const jobs = accessBook.of(caller).all ? await bulkActions.list() : await bulkActions.list(caller.userId ?? 0);
    shares.charge(caller, jobs.length * costs.result);
    return jobs.map(presentJob);
  };

  readonly getBulkAction: MiningService["getBulkAction"] = async ({ id }, caller) => {
    const job = await this.#visible(id, caller);
    this.#context.shares.take(caller, job.total * costs.result);
    return presentAction(job, await this.#context.store.bulkActions.results(id));
  };

  readonly cancelBulkAction: MiningService["cancelBulkAction"] = async ({ id }, caller) => {
    const { state } = await this.#visible(id, caller);
    if (state !== "running")
      throw new RigbridgeError("not.possible", `Bulk action ${id} cannot be cancelled: it is ${state}`);
    const count = await this.#cancel(id, "Cancelled before it was sent");
    return done(`Bulk action ${id} is cancelled; nothing was sent to ${count} of its miners`);
  };

  /** Continues the jobs of the last run; call it once all miners are loaded. */
  async resume(): Promise<void> {
    const { store, accessBook, stepsOf } = this.#context;
    for (const job of await store.bulkActions.running()) {
      const caller = { actor: job.actor, userId: job.userId ?? undefined };
      try {
        accessBook.check("startBulkAction", caller);
        const action = storedAction(job);
        const stepsFor = stepsOf(action, accessBook.of(caller));
        this.#start(job, { action, stepsOf: stepsFor, caller }, await store.bulkActions.queued(job.id));
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        await this.#cancel(job.id, error.message);
      }
    }
  }

  /** Starts nothing more, and resolves when all results are stored. The executor ends what is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { stop } of this.#jobs.values()) stop.abort();
    await Promise.all(this.#running);
  }

  /** Users cannot take all the capacity. Throws `too.many`. */
  #checkCapacity({ userId }: Caller): void {
    const running = [...[...this.#jobs.values()].map(({ caller }) => caller), ...this.#starting];
    const ofUsers = running.filter((each) => each.userId !== undefined);
    const own = ofUsers.filter((each) => each.userId === userId);
    if (running.length >= mostJobs) throw noCapacity(`${mostJobs} bulk actions`);
    if (userId === undefined) return;
    if (own.length >= mostJobsOfUser) throw noCapacity(`${mostJobsOfUser} bulk actions of this user`);
    if (ofUsers.length >= mostJobs - jobsReserved) throw noCapacity(`${mostJobs - jobsReserved} bulk actions of users`);
  }

  /** Throws `not.found`, also for another user's job. */
  async #visible(id: number, caller: Caller): Promise<StoredBulkAction> {
    const job = await this.#context.store.bulkActions.get(id);
    const mine = caller.userId !== undefined && job?.userId === caller.userId;
    if (job === undefined || !(mine || this.#context.accessBook.of(caller).all)) throw notFound("bulk action", id);
    return job;
  }

  /** Stops a job; resolves with the number of miners to which nothing was sent. */
  async #cancel(id: number, message: string): Promise<number> {
    const count = await this.#context.store.bulkActions.cancel(id, message);
    this.#jobs.get(id)?.stop.abort();
    return count;
  }

  #start(
    { id, parallel, delay }: StoredBulkAction,
    what: Pick<Job, "action" | "stepsOf" | "caller">,
    minerIds: readonly number[],
  ): void {
    const job = { id, ...what, stop: new AbortController(), open: [] };
    if (this.#closing.signal.aborted) job.stop.abort();
    this.#jobs.set(id, job);
    const pacing = { parallel, delayMs: delay * 1000, signal: job.stop.signal, wait };
    const ended = runPaced(minerIds, pacing, (minerId) => this.#process(job, minerId)).then(() => this.#finish(job));
    const settled = ended.catch(this.#logLost(job)).finally(() => this.#running.delete(settled));
    this.#running.add(settled);
  }

  async #finish({ id, stop, open }: Job): Promise<void> {
    await Promise.all(open);
    stop.abort();
    try {
      if (!this.#closing.signal.aborted) await this.#stored(() => this.#context.store.bulkActions.finish(id));
    } finally {
      this.#jobs.delete(id);
    }
  }

  readonly #logLost =
    ({ id }: Job) =>
    (error: unknown): void =>
      this.#context.log.error({ err: error, bulkAction: id }, "a bulk action could not be written down");

  /** One miner's turn; never rejects. */
  async #process(job: Job, minerId: number): Promise<void> {
    const { bulkActions } = this.#context.store;
    try {
      const access = this.#access(job.caller);
      if (typeof access === "string") await this.#stored(() => this.#cancel(job.id, access));
      else if (await this.#stored(() => bulkActions.claim(job.id, minerId))) {
        const result = await this.#send(job, minerId, access);
        if (result !== null) await this.#stored(() => bulkActions.end(job.id, result));
      }
    } catch (error) {
      this.#logLost(job)(error);
    }
  }

  /** The caller's access now, or why the caller is no longer allowed to do this: users change while a job runs. */
  #access(caller: Caller): Access | string {
    const { accessBook } = this.#context;
    try {
      accessBook.check("startBulkAction", caller);
      return accessBook.of(caller);
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Resolves with null when the rig has accepted a restart, whose result comes later. */
  async #send(job: Job, minerId: number, access: Access): Promise<BulkResult | null> {
    const { id, action: request, stepsOf, caller } = job;
    const { registry, executor, store } = this.#context;
    const entry = registry.visible(minerId, access);
    if (entry === undefined) return { minerId, state: "failed", message: this.#absence(minerId, access) };
    if (isForLoop(request.action))
      return this.#sendToLoop(minerId, () => this.#context.runOnLoop(entry, request, caller, access));
    const row = await this.#stored(() => executor.enqueue(commandSpec(entry, request), caller));
    await this.#stored(() => store.bulkActions.bind(id, minerId, row.id));
    const command = executor.send(entry.rig, row, stepsOf(minerId));
    const message = await command.taken.catch(messageOf);
    const { state, sent } = command.progress;
    if (state === "sent") {
      job.open.push(this.#awaitEnd(job, minerId, command));
      return null;
    }
    // Aborted before a byte was sent: the next run sends it.
    if (this.#closing.signal.aborted && !sent && state === "failed") return { minerId, state: "queued", message: "" };
    return { minerId, state, message };
  }

  async #awaitEnd(job: Job, minerId: number, command: BegunCommand): Promise<void> {
    try {
      const message = await command.ended.catch(messageOf);
      await this.#stored(() =>
        this.#context.store.bulkActions.end(job.id, { minerId, state: command.progress.state, message }),
      );
    } catch (error) {
      this.#logLost(job)(error);
    }
  }

  async #sendToLoop(minerId: number, send: () => Promise<string>): Promise<BulkResult> {
    try {
      return { minerId, state: "done", message: await send() };
    } catch (error) {
      return { minerId, state: "failed", message: messageOf(error) };
    }
  }

  #absence(minerId: number, access: Access): string {
    return isDisabled(minerId, this.#context.store, access)
      ? "This miner is disabled"
      : `Miner ${minerId} no longer exists`;
  }

  /** What the action would do, by each miner's last reading. */
  async #rehearseAll(
    minerIds: readonly number[],
    { action, stepsOf }: Pick<Job, "action" | "stepsOf">,
    access: Access,
  ): Promise<BulkResult[]> {
    const results: BulkResult[] = [];
    for (const minerId of minerIds) {
      if (results.length % rehearsedAtOnce === rehearsedAtOnce - 1) await yieldToOthers();
      const rehearseOn = ({ rig }: Entry): string => {
        if (!isForLoop(action.action)) return rehearse(stepsOf(minerId), requireReading(rig.state));
        this.#context.loops.addressed(action, minerId, access);
        return "";
      };
      results.push({ minerId, ...this.#rehearseOne(minerId, rehearseOn, access) });
    }
    return results;
  }

  #rehearseOne(minerId: number, rehearseOn: (entry: Entry) => string, access: Access): Omit<BulkResult, "minerId"> {
    const entry = this.#context.registry.visible(minerId, access);
    if (entry === undefined) return { state: "failed", message: this.#absence(minerId, access) };
    try {
      return { state: "possible", message: rehearseOn(entry) };
    } catch (error) {
      return { state: "failed", message: messageOf(error) };
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
        this.#context.log.warn({ err: error }, "a bulk action waits for the store");
        await wait(storeRetryMs, signal);
      }
    }
  }
}

const noCapacity = (running: string): RigbridgeError =>
  new RigbridgeError(
    "too.many",
    `${running} are running already; wait for one to end, or cancel one (GET /api/actions lists them)`,
  );

const messageOf = (error: unknown): string =>
  error instanceof RigbridgeError ? error.message : "Internal error; see the service's log";

function presentAction(job: StoredBulkAction, results: BulkResult[]): BulkAction {
  const count = (...states: readonly BulkResult["state"][]) =>
    results.filter((result) => states.includes(result.state)).length;
  return {
    ...presentJob(job),
    done: count("done", "possible"),
    failed: count("failed"),
    unknown: count("unknown"),
    results,
  };
}

const presentJob = ({ id, action, state, dryRun, actor, time, total }: StoredBulkAction): BulkJob => ({
  id,
  action,
  state,
  dryRun,
  actor,
  time: new Date(time).toISOString(),
  total,
});
