/** The bounds of a number. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/**
 * A range whose bounds follow a fluctuating value: known bounds stay while they suffice, and otherwise move in whole
 * steps, so that they rarely move again.
 */
export function widened(known: Range | null, { min, max }: Range): Range {
  if (known === null) return { min, max };
  const whole = wholeSteps({ min, max });
  return { min: min < known.min ? whole.min : known.min, max: max > known.max ? whole.max : known.max };
}

/** Rounded outwards to the two first digits of its maximum, and at least to whole numbers. */
export function wholeSteps({ min, max }: Range): Range {
  const step = max > 0 ? Math.max(1, 10 ** (Math.floor(Math.log10(max)) - 1)) : 1;
  return { min: Math.floor(min / step) * step, max: Math.ceil(max / step) * step };
}
