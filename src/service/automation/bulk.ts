import { setImmediate as yieldToOthers } from "node:timers/promises";
import type { BulkPreview } from "../../contract/bulk-preview.ts";
import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { BulkJob } from "../../contract/resources.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import { type RunStep, Step } from "../../contract/steps.ts";
import { detail } from "../../messages/detail.ts";
import type { RunResult, Store, StoredRun } from "../../store/index.ts";
import type { Action, StepsOf } from "../commands/actions.ts";
import { done } from "../crud.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import { minersInPlaces, visiblePlaces } from "../miners/placement.ts";
import type { PoolBook } from "../money/pool-book.ts";
import type { PlaceBook } from "../places/place-book.ts";
import type { PowerTargets } from "../power/power-targets.ts";
import { requestKeyOf } from "../request-key.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { costs, type ReadShares } from "../users/read-shares.ts";
import { inOrder } from "./bulk-order.ts";
import { type Pace, type Possible, PreviewSums } from "./bulk-preview.ts";
import { bulkRequest } from "./bulk-request.ts";
import { expanded } from "./expand.ts";
import { formerValue, hasFormerValue } from "./former-value.ts";
import { listOf, type StepList } from "./lists.ts";
import type { RunCause } from "./run-types.ts";
import type { RunExecutor } from "./runs.ts";
import { messageOf, type RunRehearsal, type StepRunner } from "./step-runner.ts";
import type { StepTargets } from "./step-targets.ts";
import type { UsableLists } from "./usable-lists.ts";

type BulkOperations = Pick<
  MiningService,
  "startBulkAction" | "listBulkActions" | "getBulkAction" | "cancelBulkAction" | "locatePlace"
>;

export interface BulkContext {
  readonly registry: MinerRegistry;
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly stepsOf: StepsOf;
  readonly runs: RunExecutor;
  readonly runner: StepRunner;
  readonly shares: ReadShares;
  readonly targets: StepTargets;
  readonly usable: UsableLists;
  readonly book: PoolBook;
  readonly power: Pick<PowerTargets, "powerAfter">;
  readonly rates: { readonly currency: string };
  readonly places: PlaceBook;
}

/** Concurrent jobs: in total, per user, and reserved for callers that are not users, such as the owner. */
const mostJobs = 20;
const mostJobsOfUser = 5;
const jobsReserved = 4;
/** Miners that are looked at before other work gets its turn. */
const rehearsedAtOnce = 1_000;
/** Rigs of a place that are told at once to signal. */
const locatedAtOnce = 64;

/** Actions for many miners: runs whose steps are the action, or those of a template or a manual rule. */
export class BulkActions implements BulkOperations {
  readonly #context: BulkContext;
  /** Callers whose jobs are being stored. */
  readonly #starting = new Set<Caller>();

  constructor(context: BulkContext) {
    this.#context = context;
  }

  readonly startBulkAction: MiningService["startBulkAction"] = async (body, caller) => {
    const { registry, store, accessBook, stepsOf, runs, runner, targets, usable } = this.#context;
    const access = accessBook.of(caller);
    const { action, minerIds: listed } = bulkRequest(body, registry, store, access);
    const minerIds = inOrder(listed, body.order ?? "listed", registry);
    this.#context.shares.take(caller, minerIds.length * costs.result);
    const list = listOf(action, store, usable, access);
    // Rejects names in the action that do not exist.
    if (list === null) stepsOf(action, access);
    const steps = list?.steps ?? [stepOf(body)];
    const cause: RunCause = { kind: "bulk", key: body.action, id: list?.id ?? 0 };
    const made = runner.check(cause, caller);
    const { parallel, delay, dryRun } = body;
    const request = { actor: caller.actor, userId: caller.userId ?? null, action: body.action };
    const newJob = { ...request, parameters: { ...parametersOf(body), ...idOf(body, list) }, parallel, delay, dryRun };
    if (dryRun) {
      const rehearsed = expanded(steps, store, made, targets);
      const { results, preview } = await this.#rehearseAll(minerIds, cause, caller, rehearsed, body);
      return { id: (await store.runs.add({ ...newJob, preview }, results, requestKeyOf(caller))).id };
    }
    return this.#withCapacity(caller, async () => {
      const isKnown = list === null && hasFormerValue(action);
      const before = isKnown ? await this.#before(action, minerIds, access) : null;
      return { id: (await runs.start(newJob, minerIds, steps, { caller, made, before })).id };
    });
  };

  /** The rigs of a place signal where they are, and stop after some seconds, also if the service restarts meanwhile. */
  readonly locatePlace: MiningService["locatePlace"] = async ({ id, on, seconds }, caller) => {
    const { registry, places, accessBook, runs, runner, shares } = this.#context;
    const access = accessBook.of(caller);
    if (places.get(id) === undefined || visiblePlaces(places, registry, access)?.has(id) === false)
      throw notFound("place", id);
    const minerIds = minersInPlaces(places.within([id]), registry, access);
    shares.take(caller, minerIds.length * costs.result);
    const cause: RunCause = { kind: "bulk", key: "locate", id: 0 };
    const made = runner.check(cause, caller);
    const locate = (isOn: boolean): RunStep => Step.parse({ action: "locate", on: isOn });
    const steps = on ? [locate(true), Step.parse({ wait: seconds }), locate(false)] : [locate(false)];
    const pace = { parallel: locatedAtOnce, delay: 0 };
    const { results } = await this.#rehearseAll(minerIds, cause, caller, [locate(on)], pace);
    const able = results.flatMap(({ minerId, state }) => (state === "possible" ? [minerId] : []));
    if (able.length === 0) throw new RigbridgeError("nothing.to.do", detail("place.noLocate"));
    const parameters = { on, ...(on ? { seconds } : {}) };
    const request = { actor: caller.actor, userId: caller.userId ?? null, action: "locate", parameters };
    const newJob = { ...request, ...pace, dryRun: false };
    return this.#withCapacity(caller, async () => ({
      id: (await runs.start(newJob, able, steps, { caller, made })).id,
    }));
  };

  readonly listBulkActions: MiningService["listBulkActions"] = async ({ request }, caller) => {
    const { store, accessBook, shares } = this.#context;
    if (request !== undefined) return this.#ofRequest(request, caller);
    shares.take(caller, 0);
    const jobs = accessBook.of(caller).all ? await store.runs.list() : await store.runs.list(caller.userId ?? 0);
    shares.charge(caller, jobs.length * costs.result);
    return jobs.map(presentJob);
  };

  readonly getBulkAction: MiningService["getBulkAction"] = async ({ id }, caller) => {
    const job = await this.#visible(id, caller);
    this.#context.shares.take(caller, job.total * costs.result);
    return { ...presentJob(job), preview: job.preview, results: await this.#context.store.runs.results(id) };
  };

  readonly cancelBulkAction: MiningService["cancelBulkAction"] = async ({ id }, caller) => {
    const { state } = await this.#visible(id, caller);
    if (state !== "running")
      throw new RigbridgeError("not.possible", `This bulk action cannot be cancelled: it is ${state}`);
    const count = await this.#context.runs.cancel(id, "Cancelled before it was sent");
    return done(`The bulk action is cancelled; nothing was sent to ${count} of its miners`);
  };

  /** The job that a request of the caller has started. */
  async #ofRequest(key: string, caller: Caller): Promise<BulkJob[]> {
    const of = requestKeyOf({ ...caller, idempotency: { key } });
    const request = of && (await this.#context.store.idempotency.find(of));
    if (request?.runId === null && request.answer === null)
      throw new RigbridgeError("service.not-ready", "The request with this Idempotency-Key is still running");
    if (request === undefined || request.runId === null) return [];
    try {
      return [presentJob(await this.#visible(request.runId, caller))];
    } catch (error) {
      if (error instanceof RigbridgeError && error.code === "not.found") return [];
      throw error;
    }
  }

  /** Runs work that starts a job. Throws `too.many`. */
  async #withCapacity<T>(caller: Caller, start: () => Promise<T>): Promise<T> {
    this.#checkCapacity(caller);
    const starting = { ...caller };
    this.#starting.add(starting);
    try {
      return await start();
    } finally {
      this.#starting.delete(starting);
    }
  }

  /** Keeps users from taking all the capacity. Throws `too.many`. */
  #checkCapacity({ userId }: Caller): void {
    const jobs = [...this.#context.runs.jobs()].filter(({ cause }) => cause.kind === "bulk");
    const running = [...jobs.map(({ caller }) => caller), ...this.#starting];
    const ofUsers = running.filter((each) => each.userId !== undefined);
    const own = ofUsers.filter((each) => each.userId === userId);
    if (running.length >= mostJobs) throw noCapacity(`${mostJobs} bulk actions`);
    if (userId === undefined) return;
    if (own.length >= mostJobsOfUser) throw noCapacity(`${mostJobsOfUser} bulk actions of this user`);
    if (ofUsers.length >= mostJobs - jobsReserved) throw noCapacity(`${mostJobs - jobsReserved} bulk actions of users`);
  }

  /** What each miner has of the setting that an action changes, so that it can be given back. */
  async #before(action: Action, minerIds: readonly number[], access: Access): Promise<Map<number, string>> {
    const { registry, book, store } = this.#context;
    const before = new Map<number, string>();
    for (const [index, minerId] of minerIds.entries()) {
      if (index % rehearsedAtOnce === rehearsedAtOnce - 1) await yieldToOthers();
      const entry = registry.visible(minerId, access);
      const value = entry === undefined ? null : formerValue(action, entry, { book, store, access });
      if (value !== null) before.set(minerId, value);
    }
    return before;
  }

  /** Throws `not.found`, also for another user's job. */
  async #visible(id: number, caller: Caller): Promise<StoredRun> {
    const job = await this.#context.store.runs.get(id);
    const mine = caller.userId !== undefined && job?.userId === caller.userId;
    if (job?.cause !== null || !(mine || this.#context.accessBook.of(caller).all)) throw notFound("bulk action", id);
    return job;
  }

  /** What the steps would do, by each miner's last reading. */
  async #rehearseAll(
    minerIds: readonly number[],
    cause: RunCause,
    caller: Caller,
    steps: readonly RunStep[],
    pace: Pace,
  ): Promise<{ readonly results: RunResult[]; readonly preview: BulkPreview }> {
    const results: RunResult[] = [];
    const sums = new PreviewSums(pace);
    for (const minerId of minerIds) {
      if (results.length % rehearsedAtOnce === rehearsedAtOnce - 1) await yieldToOthers();
      try {
        const rehearsal = this.#context.runner.rehearse(cause, caller, minerId, steps);
        sums.add(this.#effect(minerId, rehearsal));
        results.push({ minerId, state: "possible", message: rehearsal.message });
      } catch (error) {
        sums.leaveOut(error);
        results.push({ minerId, state: "failed", message: messageOf(error) });
      }
    }
    return { results, preview: sums.preview(this.#context.rates.currency) };
  }

  #effect(minerId: number, { settings, seconds, plug }: RunRehearsal): Possible {
    const { registry, power } = this.#context;
    const entry = registry.find(minerId);
    const reading = entry?.rig.state.reading ?? null;
    const now = reading?.readings.power ?? null;
    const bySettings = reading === null ? null : power.powerAfter(minerId, reading, settings);
    // What a rig takes once its plug is on is not known before it answers, unless it was on already.
    const whenOn = now === 0 ? null : now;
    const after = plug === null ? bySettings : plug ? whenOn : 0;
    const figures = registry.display.jsonCache.current(minerId)?.figures;
    return { now, after, seconds, revenue: figures?.earnings.revenuePerDay ?? null };
  }
}

type Body = Input<"startBulkAction">;

/** `orReboot` is one of the parameters in the store. */
const parametersOf = ({ parameters, orReboot }: Body): Body["parameters"] =>
  orReboot ? { ...parameters, orReboot } : parameters;

/** The id of a rule that was named by its key. */
const idOf = ({ action }: Body, list: StepList | null): Body["parameters"] =>
  list === null ? {} : { [action === "rule" ? "rule_id" : "template_id"]: list.id };

/** The action as a step. Its parameters are already checked. */
const stepOf = (body: Body): RunStep => Step.parse({ ...parametersOf(body), action: body.action });

const noCapacity = (running: string): RigbridgeError =>
  new RigbridgeError(
    "too.many",
    `${running} are running already; wait for one to end, or cancel one (GET /api/actions lists them)`,
  );

const presentJob = ({ time, ...job }: StoredRun): BulkJob => ({
  id: job.id,
  action: job.action,
  parameters: job.parameters,
  state: job.state,
  dryRun: job.dryRun,
  actor: job.actor,
  time: new Date(time).toISOString(),
  total: job.total,
  done: job.done,
  failed: job.failed,
  unknown: job.unknown,
});
