import { setImmediate as others, setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { BulkAction, BulkJob } from "../../contract/resources.ts";
import type { Caller, MiningService } from "../../contract/service.ts";
import type { BulkResult, Store, StoredBulkAction } from "../../store/index.ts";
import type { Entry, MinerRegistry } from "../miners/miner-registry.ts";
import { done } from "../replies.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { costs, type ReadShares } from "../users/read-shares.ts";
import { type Action, type ActionLoops, commandSpec, isForLoop, type RunOnLoop, type StepsOf } from "./actions.ts";
import { actionToKeep, bulkRequest, isDisabled, keptAction } from "./bulk-request.ts";
import { type BegunCommand, type CommandExecutor, steerable } from "./command-executor.ts";
import { paced } from "./run-paced.ts";
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
  /** Aborted when nothing more is to be started. */
  readonly stop: AbortController;
  /** Restarts that rigs have taken and not shown yet: they keep no other miner waiting. */
  readonly open: Promise<void>[];
}

/** Jobs at once: in all, of one user, and kept for who is no user, as the owner with the service's own key. */
const jobsAtMost = 20;
const jobsOfUser = 5;
const jobsKept = 4;
/** Miners judged at once by a dry run. */
const judgedAtOnce = 1_000;
/** ms until a store that could not be written is tried again. */
const storePause = 5_000;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/**
 * Actions for many miners, as jobs that survive a restart: a miner's result says that it is sent before its command is
 * begun, so nothing is sent twice, and what is still queued goes on.
 */
export class BulkActions implements BulkOperations {
  readonly #context: BulkContext;
  readonly #closing = new AbortController();
  readonly #jobs = new Map<number, Job>();
  readonly #running = new Set<Promise<void>>();
  /** Who asked for the jobs that are being written down. */
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
    const stepsFor = stepsOf(action, access);
    const { parallel, delay, dryRun } = body;
    const asked = { actor: caller.actor, userId: caller.userId ?? null, ...actionToKeep(body) };
    const wanted = { ...asked, parallel, delay, dryRun };
    if (dryRun)
      return {
        id: (await store.bulkActions.add(wanted, await this.#judged(minerIds, { action, stepsOf: stepsFor }, access)))
          .id,
      };
    this.#checkRoom(caller);
    const starting = { ...caller };
    this.#starting.add(starting);
    try {
      const queued = minerIds.map((minerId): BulkResult => ({ minerId, state: "queued", message: "" }));
      const job = await store.bulkActions.add(wanted, queued);
      this.#start(job, { action, stepsOf: stepsFor, caller }, minerIds);
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
    return jobs.map(shownJob);
  };

  readonly getBulkAction: MiningService["getBulkAction"] = async ({ id }, caller) => {
    const job = await this.#visible(id, caller);
    this.#context.shares.take(caller, job.total * costs.result);
    return shown(job, await this.#context.store.bulkActions.results(id));
  };

  readonly cancelBulkAction: MiningService["cancelBulkAction"] = async ({ id }, caller) => {
    const { state } = await this.#visible(id, caller);
    if (state !== "running") throw new RigbridgeError("not.possible", `Bulk action ${id} has ended: it is ${state}`);
    const count = await this.#cancel(id, "Cancelled before it was sent");
    return done(`Bulk action ${id} is cancelled; ${count} miners had not been told yet`);
  };

  /** Goes on with what the last run left; call once all miners are there. */
  async resume(): Promise<void> {
    const { store, accessBook, stepsOf } = this.#context;
    for (const job of await store.bulkActions.running()) {
      const caller = { actor: job.actor, userId: job.userId ?? undefined };
      try {
        accessBook.check("startBulkAction", caller);
        const action = keptAction(job);
        const stepsFor = stepsOf(action, accessBook.of(caller));
        this.#start(job, { action, stepsOf: stepsFor, caller }, await store.bulkActions.queued(job.id));
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        await this.#cancel(job.id, error.message);
      }
    }
  }

  /** Starts nothing more, and resolves when it is written down what came of all that was under way: steering ends that. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { stop } of this.#jobs.values()) stop.abort();
    await Promise.all(this.#running);
  }

  /** Nobody's jobs keep the owner's from starting. Throws `too.many`. */
  #checkRoom({ userId }: Caller): void {
    const running = [...[...this.#jobs.values()].map(({ caller }) => caller), ...this.#starting];
    const ofUsers = running.filter((each) => each.userId !== undefined);
    const own = ofUsers.filter((each) => each.userId === userId);
    if (running.length >= jobsAtMost) throw noRoom(`${jobsAtMost} bulk actions`);
    if (userId === undefined) return;
    if (own.length >= jobsOfUser) throw noRoom(`${jobsOfUser} bulk actions of this user`);
    if (ofUsers.length >= jobsAtMost - jobsKept) throw noRoom(`${jobsAtMost - jobsKept} bulk actions of users`);
  }

  /** Throws `not.found`, also for another user's job. */
  async #visible(id: number, caller: Caller): Promise<StoredBulkAction> {
    const job = await this.#context.store.bulkActions.get(id);
    const mine = caller.userId !== undefined && job?.userId === caller.userId;
    if (job === undefined || !(mine || this.#context.accessBook.of(caller).all)) throw notFound("bulk action", id);
    return job;
  }

  /** What is under way ends; resolves with how many miners are left out. */
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
    const pace = { parallel, delay: delay * 1000, signal: job.stop.signal, pause };
    const ended = paced(minerIds, pace, (minerId) => this.#take(job, minerId)).then(() => this.#finish(job));
    const settled = ended.catch(this.#lost(job)).finally(() => this.#running.delete(settled));
    this.#running.add(settled);
  }

  async #finish({ id, stop, open }: Job): Promise<void> {
    await Promise.all(open);
    stop.abort();
    try {
      if (!this.#closing.signal.aborted) await this.#written(() => this.#context.store.bulkActions.finish(id));
    } finally {
      this.#jobs.delete(id);
    }
  }

  readonly #lost =
    ({ id }: Job) =>
    (error: unknown): void =>
      this.#context.log.error({ err: error, bulkAction: id }, "a bulk action could not be written down");

  /** One miner's turn; never rejects. */
  async #take(job: Job, minerId: number): Promise<void> {
    const { bulkActions } = this.#context.store;
    try {
      const access = this.#access(job.caller);
      if (typeof access === "string") await this.#written(() => this.#cancel(job.id, access));
      else if (await this.#written(() => bulkActions.claim(job.id, minerId))) {
        const result = await this.#tell(job, minerId, access);
        if (result !== null) await this.#written(() => bulkActions.end(job.id, result));
      }
    } catch (error) {
      this.#lost(job)(error);
    }
  }

  /** Users come and go while a job runs: words are why who asked may not do it any more. */
  #access(caller: Caller): Access | string {
    const { accessBook } = this.#context;
    try {
      accessBook.check("startBulkAction", caller);
      return accessBook.of(caller);
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Resolves with null when the rig has taken a restart, of whose end the job hears later. */
  async #tell(job: Job, minerId: number, access: Access): Promise<BulkResult | null> {
    const { id, action: asked, stepsOf, caller } = job;
    const { registry, executor, store } = this.#context;
    const entry = registry.visible(minerId, access);
    if (entry === undefined) return { minerId, state: "failed", message: this.#absence(minerId, access) };
    if (isForLoop(asked.action))
      return this.#tellLoop(minerId, () => this.#context.runOnLoop(entry, asked, caller, access));
    const row = await this.#written(() => executor.enqueue(commandSpec(entry, asked), caller));
    await this.#written(() => store.bulkActions.bind(id, minerId, row.id));
    const command = executor.send(entry.rig, row, stepsOf(minerId));
    const message = await command.taken.catch(messageOf);
    if (command.state === "sent") {
      job.open.push(this.#hear(job, minerId, command));
      return null;
    }
    // Cut before a byte left: the next run tells it.
    if (this.#closing.signal.aborted && !command.sent && command.state === "failed")
      return { minerId, state: "queued", message: "" };
    return { minerId, state: command.state, message };
  }

  async #hear(job: Job, minerId: number, command: BegunCommand): Promise<void> {
    try {
      const message = await command.ended.catch(messageOf);
      await this.#written(() =>
        this.#context.store.bulkActions.end(job.id, { minerId, state: command.state, message }),
      );
    } catch (error) {
      this.#lost(job)(error);
    }
  }

  async #tellLoop(minerId: number, tell: () => Promise<string>): Promise<BulkResult> {
    try {
      return { minerId, state: "done", message: await tell() };
    } catch (error) {
      return { minerId, state: "failed", message: messageOf(error) };
    }
  }

  #absence(minerId: number, access: Access): string {
    return isDisabled(minerId, this.#context.store, access)
      ? "This miner is disabled"
      : `There is no miner ${minerId} any more`;
  }

  /** What the action would meet, by each miner's last reading. */
  async #judged(
    minerIds: readonly number[],
    { action, stepsOf }: Pick<Job, "action" | "stepsOf">,
    access: Access,
  ): Promise<BulkResult[]> {
    const results: BulkResult[] = [];
    for (const minerId of minerIds) {
      if (results.length % judgedAtOnce === judgedAtOnce - 1) await others();
      const judge = ({ rig }: Entry): string => {
        if (!isForLoop(action.action)) return rehearse(stepsOf(minerId), steerable(rig.state));
        this.#context.loops.addressed(action, minerId, access);
        return "";
      };
      results.push({ minerId, ...this.#judgement(minerId, judge, access) });
    }
    return results;
  }

  #judgement(minerId: number, judge: (entry: Entry) => string, access: Access): Omit<BulkResult, "minerId"> {
    const entry = this.#context.registry.visible(minerId, access);
    if (entry === undefined) return { state: "failed", message: this.#absence(minerId, access) };
    try {
      return { state: "possible", message: judge(entry) };
    } catch (error) {
      return { state: "failed", message: messageOf(error) };
    }
  }

  /** A store that cannot be written holds a job up: nothing is sent that is not written down. Throws when closing. */
  async #written<T>(write: () => Promise<T>): Promise<T> {
    const { signal } = this.#closing;
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (signal.aborted) throw error;
        this.#context.log.warn({ err: error }, "a bulk action waits for the store");
        await pause(storePause, signal);
      }
    }
  }
}

const noRoom = (running: string): RigbridgeError =>
  new RigbridgeError(
    "too.many",
    `${running} are running; wait for one of them to end, or cancel one (GET /api/actions lists them)`,
  );

const messageOf = (error: unknown): string =>
  error instanceof RigbridgeError ? error.message : "A fault of the service; its log says more";

function shown(job: StoredBulkAction, results: BulkResult[]): BulkAction {
  const count = (...states: readonly BulkResult["state"][]) =>
    results.filter((result) => states.includes(result.state)).length;
  return {
    ...shownJob(job),
    done: count("done", "possible"),
    failed: count("failed"),
    unknown: count("unknown"),
    results,
  };
}

const shownJob = ({ id, action, state, dryRun, actor, time, total }: StoredBulkAction): BulkJob => ({
  id,
  action,
  state,
  dryRun,
  actor,
  time: new Date(time).toISOString(),
  total,
});
