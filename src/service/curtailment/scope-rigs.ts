import { setImmediate as yieldToOthers } from "node:timers/promises";
import type { BulkOrder } from "../../contract/bulk-orders.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Scope } from "../../contract/rules.ts";
import { nameplateOf } from "../../link/nameplate.ts";
import { detail } from "../../messages/detail.ts";
import type { Store } from "../../store/index.ts";
import { inOrder } from "../automation/bulk-order.ts";
import { scopeTest } from "../automation/scope.ts";
import { enabled } from "../crud.ts";
import type { Devices } from "../facility/devices.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { PlaceBook } from "../places/place-book.ts";
import type { PowerHolds } from "../power/power-holds.ts";
import type { PowerTargets } from "../power/power-targets.ts";
import type { PowerRank } from "../power/precedence.ts";
import type { Access } from "../users/access.ts";
import type { RigView } from "./curtailed-rig.ts";
import type { SheddingRig } from "./curtailment-law.ts";
import type { RigOrders } from "./rig-orders.ts";

export interface ScopeContext {
  readonly registry: MinerRegistry;
  readonly store: Pick<Store, "groups">;
  readonly places: PlaceBook;
  readonly devices: Devices;
  readonly power: PowerTargets;
  readonly holds: PowerHolds;
  readonly orders: RigOrders;
  /** J per hash of a miner over the last day; null: not known. */
  readonly dayEfficiency: (minerId: number) => number | null;
  /** Why nothing acts on a miner now; null: nothing keeps it. */
  readonly maintenanceOf: (entry: Entry) => string | null;
}

/** How the rigs of a curtailment are lowered. */
export interface Manner {
  readonly order: BulkOrder;
  readonly level: "setpoint" | "off";
  readonly ramp: { readonly deadline: number };
  readonly urgent: boolean;
  readonly rank: PowerRank;
  /** Epoch ms: what a person sets from then on stays, unless it is for safety; null: nothing is set apart. */
  readonly since: number | null;
}

/** A rig of a scope. */
export interface ScopeRig {
  readonly entry: Entry;
  readonly view: RigView;
  readonly expected: number;
  /** W that it takes when it works fully, as learned, declared, or by its model; null: not known. */
  readonly full: number | null;
}

/** The rig of a miner, in the scope or not any more; null: there is no such miner. */
export type FindRig = (minerId: number) => ScopeRig | null;

/** W that a rig takes, or may take if that is not known but it can be reached and is not stopped. */
export const assumedPower = ({ view: { reachable, draw, mining }, full }: ScopeRig): number =>
  !reachable ? 0 : (draw ?? (mining === false ? 0 : (full ?? 0)));

/** The miners of a scope, in no order. */
export function entriesIn(scope: Scope | undefined, { registry, store, places }: ScopeContext): readonly Entry[] {
  const fits = scopeTest(scope, enabled(store.groups), places);
  return [...registry.all()].filter(({ facts, rig }) => !rig.declared.disabled && fits(facts, rig.state.uid));
}

/** Miners that are looked at before other work gets its turn: some 2 ms. */
const rigsAtOnce = 250;

/** The miners of a scope, in the order in which they are curtailed. */
export async function rigsIn(
  scope: Scope | undefined,
  order: BulkOrder,
  context: ScopeContext,
): Promise<readonly ScopeRig[]> {
  const { registry } = context;
  // Equal ones in an order that stays.
  const ids = entriesIn(scope, context)
    .map(({ facts }) => facts.id)
    .sort((one, other) => one - other);
  const rigs: ScopeRig[] = [];
  for (const id of inOrder(ids, order, registry, context.dayEfficiency)) {
    const entry = registry.find(id);
    if (entry !== undefined) rigs.push(scopeRig(entry, context));
    if (rigs.length % rigsAtOnce === 0) await yieldToOthers();
  }
  return rigs;
}

export function scopeRig(entry: Entry, { orders, power }: ScopeContext): ScopeRig {
  const { id } = entry.facts;
  const view = orders.view(entry);
  const { make = null, model = null } = entry.rig.state.identity ?? {};
  return {
    entry,
    view,
    expected: orders.expected(id, view),
    full: power.fullPower(id) ?? nameplateOf({ make, model }),
  };
}

/** Whether a miner is in a scope now. */
export const isIn = (scope: Scope | undefined, { facts, rig }: Entry, { store, places }: ScopeContext): boolean =>
  scopeTest(scope, enabled(store.groups), places)(facts, rig.state.uid);

/** Whether an access sees all rigs of a scope, and there are any. */
export function seesAll(scope: Scope | undefined, access: Access, context: ScopeContext): boolean {
  const entries = entriesIn(scope, context);
  return entries.length > 0 && entries.every(({ facts }) => access.seesGroup(facts.groupId));
}

/** Places whose rigs are left out, with those inside them. */
export const exemptPlaces = (places: PlaceBook): ReadonlySet<number> =>
  places.within(places.all().flatMap(({ row }) => (row.exempt === true ? row.id : [])));

/**
 * How a rig can be curtailed now. Throws `not.possible`, `control.absent` or what keeps it from being reached if it cannot be.
 */
export function sheddingRig(
  { entry, view, expected }: ScopeRig,
  { level, ramp, urgent, rank, since }: Manner,
  exempt: ReadonlySet<number>,
  { power, holds, orders, maintenanceOf }: ScopeContext,
): SheddingRig {
  const { facts, rig } = entry;
  const { id } = facts;
  if (facts.placeId !== null && exempt.has(facts.placeId))
    throw new RigbridgeError("not.possible", detail("curtailment.exempt"));
  const { trouble, reading } = rig.state;
  if (!view.reachable) throw new RigbridgeError("rig.unreachable", trouble?.message ?? "The rig was not read yet");
  if (view.mining === false) throw new RigbridgeError("not.possible", detail("curtailment.stopped"));
  const maintenance = maintenanceOf(entry);
  if (maintenance !== null && !urgent)
    throw new RigbridgeError("not.possible", detail("curtailment.maintenance", { name: maintenance }));
  const hold = holds.holdFor(entry, { rank, stops: true });
  const last = holds.last(id);
  const isTaken = rank !== "emergency" && last?.by === "person" && since !== null && last.at >= since;
  if (isTaken || (hold !== null && hold.curtailed === undefined))
    throw new RigbridgeError("not.possible", detail("command.held", { who: last?.who ?? hold?.by ?? "" }));
  // A command would be refused again, unless it is for its plug.
  const isLoginWrong = reading?.locked?.why === "login wrong";
  if (isLoginWrong && rig.declared.supply?.cutPower !== true) throw noControl(entry);
  const ladder = orders.ladder(entry);
  const { setpoint, off } = orders.seconds(entry);
  // A rig that takes no commands may still be stopped by its plug.
  if (off === null && (ladder === null || setpoint === null)) throw noControl(entry);
  const permits = (watts: number): boolean =>
    urgent || reading === null || ladder === null || power.permission(id, reading, watts).now;
  const isSettable =
    level === "setpoint" &&
    ladder !== null &&
    ladder.present !== null &&
    setpoint !== null &&
    setpoint <= ramp.deadline;
  const lowest =
    isSettable && ladder.lowest < expected && permits(ladder.lowest) ? ladder.choose(ladder.lowest).watts : null;
  const stops = off !== null && permits(0);
  if (lowest === null && !stops) throw refusalOf(entry, power);
  return { id, draw: view.draw, expected, lowest, within: (watts) => ladder?.choose(watts).watts ?? watts, stops };
}

/** Why its rules do not allow it now. */
function refusalOf({ facts, rig }: Entry, power: PowerTargets): RigbridgeError {
  const { reading } = rig.state;
  const permission = reading === null ? null : power.permission(facts.id, reading, 0);
  return permission !== null && !permission.now
    ? new RigbridgeError("not.possible", permission.why)
    : noControl({ rig });
}

/** Why a rig offers no control of its power, and what to do about it. */
function noControl({ rig: { state, declared } }: Pick<Entry, "rig">): RigbridgeError {
  const locked = state.reading?.locked;
  if (locked !== undefined && locked.why !== "read-only") return new RigbridgeError("rig.login", locked.text);
  if (declared.supply?.cutPower === false) return new RigbridgeError("control.absent", detail("curtailment.cutPower"));
  return locked === undefined
    ? new RigbridgeError("control.absent", detail("curtailment.noControl"))
    : new RigbridgeError("rig.read-only", locked.text);
}

/**
 * Keys of the meters of a scope that is nothing but places which all name one, each once; empty for any other. The meter of a
 * place measures the places inside it, too.
 */
export function metersOf(scope: Scope | undefined, { places }: Pick<ScopeContext, "places">): readonly string[] {
  if (scope === undefined || !Object.keys(scope).every((key) => key === "places")) return [];
  const named = new Set(scope.places?.flatMap((place) => places.called(place)));
  const inner = places.within([...named].flatMap(({ children }) => children.map(({ row }) => row.id)));
  const outer = [...named].filter(({ row }) => !inner.has(row.id));
  const meters = outer.flatMap(({ row: { meter } }) => meter ?? []);
  return meters.length === outer.length ? [...new Set(meters)] : [];
}

/** W of the meters of a scope's places; null if a place has none, or the power of one is not known. */
export function meteredPower(scope: Scope | undefined, context: Pick<ScopeContext, "places" | "devices">) {
  const meters = metersOf(scope, context);
  let sum = 0;
  for (const key of meters) {
    const power = context.devices.find(key)?.state.values.power ?? null;
    if (power === null) return null;
    sum += power;
  }
  return meters.length === 0 ? null : sum;
}
