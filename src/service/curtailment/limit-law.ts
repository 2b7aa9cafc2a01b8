/** A place is used up to this share of what it may take. */
export const usedShare = 0.8;
/** ms for which a place may be above that share, and above all of it. */
export const nearForMs = 30_000;
export const overForMs = 5_000;
/** What the sum of its miners is multiplied by while its meter is silent: it sees less than the meter. */
export const silentFactor = 1.05;

/** Since when a place is above its share, and above all of it, ms of the monotonic clock; null: it is not. */
export interface LimitWatch {
  readonly near: number | null;
  readonly over: number | null;
}

export const unwatched: LimitWatch = { near: null, over: null };

export interface LimitTurn {
  readonly watch: LimitWatch;
  /** `orderly`: its miners are lowered at their pace; `at-once`: the largest first, all together. */
  readonly wants: "nothing" | "orderly" | "at-once";
}

/** What is to be done about the power of a place that may take `most` W. Pure. */
export function limitTurn(watts: number, most: number, before: LimitWatch, now: number): LimitTurn {
  const near = watts > most * usedShare ? (before.near ?? now) : null;
  const over = watts > most ? (before.over ?? now) : null;
  const watch = { near, over };
  if (over !== null && now >= over + overForMs) return { watch, wants: "at-once" };
  if (near !== null && now >= near + nearForMs) return { watch, wants: "orderly" };
  return { watch, wants: "nothing" };
}

/** W of a place: the worse of its meter and the sum of its miners. `meter`: undefined: it has none; null: it is silent. */
export const powerOfPlace = (meter: number | null | undefined, rigs: number): number =>
  meter === undefined ? rigs : Math.max(meter ?? rigs * silentFactor, rigs);
