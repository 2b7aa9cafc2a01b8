import type { CurtailedRig, Curtailment, CurtailmentReport } from "../../contract/curtailment.ts";
import { targetWatts } from "../../contract/target-watts.ts";
import { briefOf } from "../../fleet/state.ts";
import type { StoredCurtailedRig, StoredCurtailment, StoredCurtailmentSample } from "../../store/index.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import { countsOf } from "./curtailment-figures.ts";
import { meteredShed } from "./metered-energy.ts";
import type { Observed } from "./observed-power.ts";
import { shortfallOf } from "./shortfall.ts";

/** A curtailment with its rigs, as far as it is shown. */
export interface ShownCurtailment {
  readonly id: number;
  readonly row: StoredCurtailment;
  readonly rigs: ReadonlyMap<number, StoredCurtailedRig>;
  /** Null: it is over. */
  readonly observed: Observed | null;
  /** Miners of its scope now. */
  readonly total: number;
  /** Whether rigs are left that could give up power. */
  readonly isAble: boolean;
  readonly isReached: boolean;
  /** s that its slowest rig under way may still need. */
  readonly slowest: number;
}

export function presentCurtailment(shown: ShownCurtailment): Curtailment {
  const { id, row, rigs, observed, total, isAble, isReached, slowest } = shown;
  const { plan, reason, cause, actor, drill, safety, scope, order, level, ramp, restore, state, baseline } = row;
  const counts = { ...noRigs, ...(row.counts ?? countsOf(rigs)) };
  const target = targetWatts(row.target, row.baseline) ?? 0;
  const isMoving = counts.due + counts.sent > 0;
  return {
    id,
    plan,
    reason,
    cause,
    actor,
    drill,
    safety,
    ...(scope === undefined ? {} : { scope }),
    target: row.target,
    order,
    level,
    ramp,
    restore,
    state,
    started: timeOf(row.started),
    until: row.until === null ? null : timeOf(row.until),
    reached: row.reached === null ? null : timeOf(row.reached),
    ended: row.ended === null ? null : timeOf(row.ended),
    restored: row.restored === null ? null : timeOf(row.restored),
    power: {
      baseline: Math.round(baseline),
      target: Math.round(target),
      now: Math.round(observed?.rigs ?? baseline),
      pending: Math.round(Math.max(0, (observed?.rigs ?? 0) - (observed?.expected ?? 0))),
      meter: observed?.meter == null ? null : Math.round(observed.meter),
    },
    seconds: row.ended !== null || isReached ? 0 : isMoving || isAble ? slowest : null,
    rigs: { total, ...counts },
  };
}

const noRigs = countsOf(new Map());

/** The rigs of a curtailment, in the order in which they were chosen. */
export const presentRigs = (
  rigs: ReadonlyMap<number, StoredCurtailedRig>,
  registry: Pick<MinerRegistry, "find">,
): CurtailedRig[] =>
  Array.from(rigs, ([minerId, { name, uid, state, before, wanted, sent, reached, restored, tries, message }]) => {
    const found = registry.find(minerId);
    const now =
      found === undefined || found.rig.state.missed > 0 ? null : (briefOf(found.rig.state)?.readings.power ?? null);
    return {
      minerId,
      uid,
      name,
      state,
      before: before.power,
      wanted: Math.round(wanted),
      now,
      sent: sent === null ? null : timeOf(sent),
      reached: reached === null ? null : timeOf(reached),
      restored: restored === null ? null : timeOf(restored),
      tries,
      message,
    };
  });

const hourMs = 3_600_000;

/**
 * What was given up between its start and its end, kWh. `measured`: until now, if it has not ended. Null where nothing was
 * measured.
 */
export function shedEnergy(
  row: StoredCurtailment,
  measured: StoredCurtailment["measured"],
  samples: readonly StoredCurtailmentSample[],
): CurtailmentReport["shed"] {
  if (measured === undefined || measured.rigs.seen <= 0)
    return { energy: null, seen: null, byMeter: null, meterSeen: null, meterBy: null, shortfall: null };
  const { started, ended, baseline } = row;
  const { rigs, meters } = measured;
  const until = ended ?? rigs.at;
  const metered = meteredShed(meters ?? [], until - started);
  return {
    energy: kilowattHours(baseline * (rigs.seen / hourMs) - rigs.energy),
    seen: shareOf(rigs.seen, until - started),
    byMeter: metered?.energy ?? null,
    meterSeen: metered?.seen ?? null,
    meterBy: metered?.by ?? null,
    shortfall: kilowattHours(shortfallOf(row, samples, until)),
  };
}

const kilowattHours = (wattHours: number): number => wattHours / 1000;

const shareOf = (ms: number, all: number): number => (all <= 0 ? 1 : Math.min(1, ms / all));

const timeOf = (ms: number): string => new Date(ms).toISOString();
