/** A meter may show that much more than its rigs say, as share of what it shows. */
export const mostShare = 0.08;
/** How long it must do so before it is a notice. */
export const noticeAfterMs = 900_000;

/** What a meter and its rigs say. */
export interface Difference {
  /** W of the meter; null: unknown. */
  readonly meter: number | null;
  /** W that its rigs say together, without those whose power is unknown. */
  readonly rigs: number;
  readonly total: number;
  /** Rigs whose power is unknown. */
  readonly unknown: number;
}

/** `powers`: W of each rig; null: unknown. */
export function differenceOf(meter: number | null, powers: readonly (number | null)[]): Difference {
  const known = powers.filter((power) => power !== null);
  const rigs = known.reduce((sum, power) => sum + power, 0);
  return { meter, rigs, total: powers.length, unknown: powers.length - known.length };
}

export interface DifferenceTurn {
  /** Epoch ms since when the difference is too large; null while it is not. */
  readonly since: number | null;
  /** true: it is a notice; false: there is none; null: unknown, so an open one stays open. */
  readonly isNotice: boolean | null;
}

/** Whether the difference has lasted. While the meter is unknown, nothing begins and nothing ends. Pure. */
export function differenceTurn({ meter, rigs, total }: Difference, since: number | null, now: number): DifferenceTurn {
  if (meter === null) return { since: null, isNotice: null };
  if (total === 0 || meter <= 0 || meter - rigs <= meter * mostShare) return { since: null, isNotice: false };
  const from = since ?? now;
  return { since: from, isNotice: now - from >= noticeAfterMs ? true : null };
}
