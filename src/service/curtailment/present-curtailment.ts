import type { CurtailedRig, Curtailment, CurtailmentReport } from "../../contract/curtailment.ts";
import { briefOf } from "../../fleet/state.ts";
import type { StoredCurtailedRig, StoredCurtailment, StoredCurtailmentSample } from "../../store/index.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import { countsOf, targetWatts } from "./curtailment-figures.ts";
import type { Observed } from "./running-curtailment.ts";

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
  const target = targetWatts(row) ?? 0;
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

/** The rigs of a curtailment, in the order in which they were told. */
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

/** What was given up, from the samples between its start and its end, kWh. Null without two samples. */
export function shedEnergy(
  { started, ended, reached, baseline, ...rest }: StoredCurtailment,
  samples: readonly StoredCurtailmentSample[],
  now: number,
): CurtailmentReport["shed"] {
  const until = ended ?? now;
  const inside = samples.filter(({ time }) => time >= started && time <= until);
  const target = targetWatts({ ...rest, baseline }) ?? 0;
  const [first] = inside;
  if (first === undefined || inside.length < 2) return { energy: null, byMeter: null, shortfall: null };
  const since = (from: number, watts: (sample: StoredCurtailmentSample) => number | null): number | null => {
    let sum = 0;
    for (const [index, sample] of inside.entries()) {
      const next = inside[index + 1]?.time ?? until;
      const value = watts(sample);
      if (value === null) return null;
      sum += value * Math.max(0, next - Math.max(from, sample.time));
    }
    return sum / hourMs / 1000;
  };
  return {
    energy: since(started, ({ rigs }) => baseline - rigs),
    byMeter:
      first.meter === null ? null : since(started, ({ meter }) => (meter === null ? null : (first.meter ?? 0) - meter)),
    shortfall: since(reached ?? started, ({ rigs }) => Math.max(0, rigs - target)),
  };
}

const timeOf = (ms: number): string => new Date(ms).toISOString();
