/** A rig that a curtailment may lower or stop now. */
export interface SheddingRig {
  readonly id: number;
  /** W as last read; null: not known. */
  readonly draw: number | null;
  /** W that count: what it was commanded to take, as long as its readings may not show it yet, or what it takes. */
  readonly expected: number;
  /** W of its lowest setting; null: it can only be stopped. */
  readonly lowest: number | null;
  /** W of its highest setting within this power, at least `lowest`. */
  within(watts: number): number;
  readonly stops: boolean;
}

/** The power that a rig is to take, W; 0 = stopped. */
export interface Shed {
  readonly id: number;
  readonly watts: number;
}

export interface SheddingAim {
  /** W that the rigs may take together; null: they all stop. */
  readonly target: number | null;
  readonly level: "setpoint" | "off";
  /** W above the target that are no reason for a command: sums of measured powers are not exact. */
  readonly tolerance: number;
  /** W that may be given up now. */
  readonly allowance: number;
}

/** W; sums are not whole numbers. */
const rounding = 0.5;

/** A rig that is lowered is lowered by this share of what it takes at least. */
const leastStep = 0.02;

/**
 * What each rig is to take so that all together take no more than the target, in their order: first set to a lower power,
 * then stopped, and those of unknown power last, since they may help although nothing is promised of them. `others`: W of the
 * rigs of the scope that cannot be sent anything now. Pure.
 */
export function shed(rigs: readonly SheddingRig[], others: number, aim: SheddingAim): readonly Shed[] {
  const { target, level } = aim;
  const chosen = new Map<number, number>();
  if (target === null) for (const { id, stops } of rigs) if (stops) chosen.set(id, 0);
  let excess = target === null ? 0 : rigs.reduce((sum, { expected }) => sum + expected, others) - target;
  if (target !== null && excess > aim.tolerance) {
    const left = (rig: SheddingRig): number => chosen.get(rig.id) ?? rig.expected;
    const choose = (rig: SheddingRig, watts: number): void => {
      excess -= left(rig) - watts;
      chosen.set(rig.id, watts);
    };
    if (level === "setpoint")
      for (const rig of rigs) {
        if (excess <= rounding) break;
        if (rig.lowest === null) continue;
        const watts = rig.within(Math.max(rig.lowest, Math.min(rig.expected - excess, rig.expected * (1 - leastStep))));
        if (watts < rig.expected) choose(rig, watts);
      }
    for (const rig of rigs) {
      if (excess <= rounding) break;
      if (rig.stops && left(rig) > 0) choose(rig, 0);
    }
    if (excess > rounding) for (const { id, stops, draw } of rigs) if (stops && draw === null) chosen.set(id, 0);
  }
  return withinAllowance(rigs, chosen, aim.allowance);
}

function withinAllowance(rigs: readonly SheddingRig[], chosen: ReadonlyMap<number, number>, allowance: number): Shed[] {
  let left = allowance;
  return rigs.flatMap(({ id, expected }): Shed[] => {
    const watts = chosen.get(id);
    if (watts === undefined || expected - watts > left) return [];
    left -= expected - watts;
    return [{ id, watts }];
  });
}

/** A rig that a curtailment holds, and that could be given back its power. */
export interface HeldRig {
  readonly id: number;
  /** W that count now. */
  readonly expected: number;
  /** W that it took before. */
  readonly before: number;
}

/** The rigs that can be given back their power within these W, in their order. Pure. */
export function givenBack(rigs: readonly HeldRig[], watts: number): readonly number[] {
  let left = watts;
  return rigs.flatMap(({ id, expected, before }) => {
    const more = Math.max(0, before - expected);
    if (more > left) return [];
    left -= more;
    return [id];
  });
}

/** W that may have changed since a ramp began. `perMinute`: absent: any. */
export const rampAllowance = (perMinute: number | undefined, elapsedMs: number): number =>
  perMinute === undefined ? Number.POSITIVE_INFINITY : (perMinute * Math.max(0, elapsedMs)) / 60_000;

/** The items of each place in turn, so that no place takes up all its power at once. Pure. */
export function spreadOver<T>(items: readonly T[], placeOf: (item: T) => number | null): readonly T[] {
  const queues = [...Map.groupBy(items, placeOf).values()];
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) => queues.flatMap((queue) => queue[turn] ?? [])).flat();
}
