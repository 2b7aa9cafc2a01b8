import type { Curtailment, CurtailmentTarget } from "../../contract/curtailment.ts";
import { CurtailmentRamp, CurtailmentRestore } from "../../contract/curtailment.ts";
import { invalid, invalidAll, type Mistake, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Scope } from "../../contract/rules.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { costs, type ReadShares } from "../users/read-shares.ts";
import type { Curtailments, NewCurtailment, StoredEnd } from "./curtailments.ts";
import type { CurtailmentPlans } from "./plans.ts";
import { presentCurtailment, presentRigs, shedEnergy } from "./present-curtailment.ts";
import { previewOf } from "./preview-curtailment.ts";
import { RunningCurtailment } from "./running-curtailment.ts";
import { entriesIn, exemptPlaces, rigsIn, type ScopeContext, seesAll, sheddingRig } from "./scope-rigs.ts";

export interface CurtailmentOperationsContext {
  readonly scopes: ScopeContext;
  readonly curtailments: Curtailments;
  readonly plans: CurtailmentPlans;
  readonly store: Pick<Store, "curtailments">;
  readonly registry: MinerRegistry;
  readonly accessBook: AccessBook;
  readonly shares: ReadShares;
  readonly rates: { readonly currency: string };
  readonly scopeMistakes: (scope: Scope | undefined, access: Access) => readonly Mistake[];
  /** Epoch ms. */
  readonly now: () => number;
}

type Operations = Pick<
  MiningService,
  | "listCurtailments"
  | "getCurtailment"
  | "getCurtailmentReport"
  | "previewCurtailment"
  | "startCurtailment"
  | "changeCurtailment"
  | "endCurtailment"
  | "releaseCurtailment"
  | "drillCurtailmentPlan"
>;

/** How a curtailment is asked for. */
type Asked = Pick<Input<"startCurtailment">, "plan" | "scope" | "target" | "order" | "level" | "ramp" | "restore">;

/** Curtailments over the API. */
export function curtailmentOperations(context: CurtailmentOperationsContext): Operations {
  const { scopes, curtailments, plans, store, registry, accessBook, shares, rates, now } = context;

  /** The rigs of a scope, all of which the caller must see. Throws `user.forbidden`. */
  const ownScope = (scope: Scope | undefined, access: Access): number => {
    const entries = entriesIn(scope, scopes);
    if (!access.all && entries.some(({ facts }) => !access.seesGroup(facts.groupId)))
      throw new RigbridgeError("user.forbidden", detail("curtailment.hidden"));
    return entries.length;
  };
  /** Who sees all of its rigs, and who began it, whatever has come to its scope since. */
  const isVisible = async ({ id, row }: StoredEnd, access: Access, { userId }: Caller): Promise<boolean> => {
    if (access.all || (userId !== undefined && row.userId === userId)) return true;
    const running = curtailments.find(id);
    if (running !== undefined && !seesAll(row.scope, access, scopes)) return false;
    const ids = running === undefined ? await store.curtailments.minerIds(id) : [...running.rigs.keys()];
    if (running !== undefined && ids.length === 0) return true;
    return ids.length > 0 && ids.every((minerId) => registry.visible(minerId, access) !== undefined);
  };
  const shown = async (one: RunningCurtailment | StoredEnd): Promise<Curtailment> => {
    const isRunning = one instanceof RunningCurtailment;
    const rigs = isRunning ? one.rigs : noRigs;
    const total = isRunning ? one.total : totalOf(one.row);
    const observed = isRunning ? one.observed : null;
    return presentCurtailment({
      id: one.id,
      row: one.row,
      rigs,
      observed,
      total,
      isAble: isRunning && one.isAble,
      isReached: isRunning && one.isReached,
      slowest: isRunning ? slowestOf(one, scopes, now()) : 0,
    });
  };
  const found = async (id: number, caller: Caller): Promise<RunningCurtailment | StoredEnd> => {
    const running = curtailments.find(id);
    const stored = running === undefined ? await store.curtailments.get(id) : undefined;
    const one = running ?? (stored === undefined ? undefined : endOf(stored));
    if (one === undefined || !(await isVisible({ id, row: one.row }, accessBook.of(caller), caller)))
      throw notFound("curtailment", id);
    return one;
  };
  /** One that is not over, of whose rigs the caller sees all. */
  const running = async (id: number, caller: Caller): Promise<RunningCurtailment> => {
    const one = await found(id, caller);
    if (!(one instanceof RunningCurtailment))
      throw new RigbridgeError("not.possible", detail("curtailment.over", { id }));
    return one;
  };
  const wantedBy = (asked: Asked, access: Access) => {
    const mistakes = context.scopeMistakes(asked.scope, access);
    if (mistakes.length > 0) throw invalidAll(mistakes);
    const plan = asked.plan === undefined ? null : plans.plan(asked.plan);
    const target: CurtailmentTarget | undefined = asked.target ?? plan?.target;
    if (target === undefined) throw new RigbridgeError("internal", "a curtailment without a target");
    const scope = plan === null ? asked.scope : plan.scope;
    return {
      plan: plan?.key ?? null,
      ...(scope === undefined ? {} : { scope }),
      target,
      order: plan?.order ?? asked.order ?? "efficiency",
      level: plan?.level ?? asked.level ?? "setpoint",
      ramp: plan?.ramp ?? asked.ramp ?? CurtailmentRamp.parse({}),
      restore: plan?.restore ?? asked.restore ?? CurtailmentRestore.parse({}),
      safety: plan?.safety ?? false,
    } as const;
  };
  const begin = async (
    wanted: ReturnType<typeof wantedBy>,
    rest: Pick<NewCurtailment, "reason" | "key" | "until" | "drill">,
    caller: Caller,
  ) => {
    const begun = rest.key === null ? undefined : await curtailments.begun(rest.key);
    if (begun !== undefined && !(await isVisible(begun, accessBook.of(caller), caller)))
      throw new RigbridgeError("in.use", `The key ${rest.key} is that of another curtailment`);
    // Its rigs may be stopped already, by the curtailment that the first request with the key began.
    if (begun === undefined) await checkAny(wanted, scopes);
    const { safety: urgent } = wanted;
    const cause = { cause: "person", actor: caller.actor, userId: caller.userId ?? null } as const;
    return curtailments.begin({ ...wanted, ...rest, ...cause, urgent });
  };

  return {
    listCurtailments: async ({ active, limit }, caller) => {
      const access = accessBook.of(caller);
      shares.take(caller, limit * costs.result);
      const listed: Curtailment[] = [];
      const list = async (one: RunningCurtailment | StoredEnd): Promise<void> => {
        if (listed.length < limit && (await isVisible(one, access, caller))) listed.push(await shown(one));
      };
      const running = curtailments.running.toReversed();
      // Those under way first, so that a user of some groups does not lose their own among those of others.
      for (const one of running) await list(one);
      const ids = new Set(running.map(({ id }) => id));
      const pageLength = access.all ? limit : Math.max(limit, shortestPage);
      let before: number | null = active === true ? null : Number.MAX_SAFE_INTEGER;
      for (let read = 0; before !== null && listed.length < limit && read < mostRead; read += pageLength) {
        const filter = { open: false, limit: pageLength, before };
        before = await shares.measuredRead(caller, 0, async () => {
          const page = await store.curtailments.list(filter);
          for (const each of page) if (!ids.has(each.id)) await list(endOf(each));
          return page.at(-1)?.id ?? null;
        });
      }
      listed.sort((one, other) => other.id - one.id);
      return listed;
    },
    getCurtailment: async ({ id }, caller) => shown(await found(id, caller)),
    getCurtailmentReport: async ({ id }, caller) => {
      const one = await found(id, caller);
      const rigs = one instanceof RunningCurtailment ? one.rigs : await store.curtailments.rigs(id);
      const samples = await store.curtailments.samples(id);
      shares.take(caller, (rigs.size + samples.length) * costs.result);
      return {
        curtailment: await shown(one),
        shed: shedEnergy(one.row, one instanceof RunningCurtailment ? one.measured : one.row.measured, samples),
        rigs: presentRigs(rigs, registry),
        samples: samples.map(({ time, ...sample }) => ({ time: new Date(time).toISOString(), ...sample })),
      };
    },
    previewCurtailment: async (body, caller) => {
      const access = accessBook.of(caller);
      const { scope, target, order, level, ramp, safety } = wantedBy(body, access);
      shares.take(caller, ownScope(scope, access) * costs.result);
      const rank = safety ? "emergency" : "person";
      const manner = { order, level, ramp, urgent: safety, rank, since: null } as const;
      return previewOf({ scope, target, manner, parallel: ramp.parallel, currency: rates.currency }, scopes);
    },
    startCurtailment: async ({ reason, key, until, ...asked }, caller) => {
      const access = accessBook.of(caller);
      const wanted = wantedBy(asked, access);
      ownScope(wanted.scope, access);
      return shown(await begin(wanted, { reason, key: key ?? null, until: endAt(until, now()), drill: false }, caller));
    },
    changeCurtailment: async ({ id, target, until }, caller) => {
      const one = await running(id, caller);
      // The next turn over the places would undo it.
      if (one.row.cause === "limit") throw new RigbridgeError("not.possible", detail("curtailment.ofLimit", { id }));
      await curtailments.change(one, {
        target,
        until: until === undefined ? undefined : endAt(until ?? undefined, now()),
      });
      return shown(one);
    },
    endCurtailment: async ({ id }, caller) => {
      const one = await running(id, caller);
      await curtailments.end(one);
      return shown(one);
    },
    releaseCurtailment: async ({ id }, caller) => {
      const one = await running(id, caller);
      await curtailments.end(one, true);
      return shown(one);
    },
    drillCurtailmentPlan: async ({ key, dry, lasts }, caller) => {
      const wanted = wantedBy({ plan: key }, accessBook.of(caller));
      const reason = `Drill of ${plans.plan(key).name ?? key}`;
      if (!dry)
        return shown(await begin(wanted, { reason, key: null, until: now() + lasts * 1000, drill: true }, caller));
      await checkAny(wanted, scopes);
      const cause = { cause: "person", actor: caller.actor, userId: caller.userId ?? null } as const;
      return shown(
        await curtailments.dryDrill({
          ...wanted,
          ...cause,
          reason,
          key: null,
          until: null,
          drill: true,
          urgent: false,
        }),
      );
    },
  };
}

/** Curtailments that are over and read for a list, of which a user of some groups may see few: at once at least, and at most. */
const shortestPage = 100;
const mostRead = 2_000;

const noRigs: ReadonlyMap<number, StoredCurtailedRig> = new Map();

/** Rigs of one that is over. */
const totalOf = ({ counts }: StoredCurtailment): number =>
  Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0);

const endOf = ({ id, ...row }: StoredCurtailment & { readonly id: number }): StoredEnd => ({ id, row });

/** Throws `input.invalid` for a time that is over. */
function endAt(until: string | undefined, now: number): number | null {
  if (until === undefined) return null;
  const at = Date.parse(until);
  if (at <= now) throw invalid("until", detail("curtailment.past"));
  return at;
}

/** Throws `nothing.to.do` if no rig of the scope could be curtailed, now or once it can be reached. */
async function checkAny(
  { scope, order, level, ramp, safety }: Pick<StoredCurtailment, "scope" | "order" | "level" | "ramp" | "safety">,
  context: ScopeContext,
): Promise<void> {
  const rigs = await rigsIn(scope, order, context);
  const exempt = exemptPlaces(context.places);
  const manner = { order, level, ramp, urgent: safety, rank: safety ? "emergency" : "person", since: null } as const;
  const isPossible = (each: (typeof rigs)[number]): boolean => {
    try {
      sheddingRig(each, manner, exempt, context);
      return true;
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      return error.code === "rig.unreachable";
    }
  };
  if (!rigs.some(isPossible))
    throw new RigbridgeError("nothing.to.do", detail("curtailment.none", { rigs: rigs.length }));
}

/** s that the slowest rig under way may still need. */
function slowestOf({ rigs }: RunningCurtailment, { registry, orders }: ScopeContext, now: number): number {
  let slowest = 0;
  for (const [minerId, { state, wanted, sent }] of rigs) {
    const entry = state === "due" || state === "sent" ? registry.find(minerId) : undefined;
    if (entry === undefined) continue;
    const seconds = orders.seconds(entry);
    const needed = (wanted === 0 ? seconds.off : seconds.setpoint) ?? 0;
    slowest = Math.max(slowest, needed - (state === "sent" ? (now - (sent ?? now)) / 1000 : 0));
  }
  return Math.round(slowest);
}
