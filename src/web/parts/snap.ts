/** A scale of numbers: from `min` in steps up to `max`. */
export interface Scale {
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

/** The nearest number on the scale. */
export function snap(value: number, { min, max, step }: Scale): number {
  const steps = Math.round((value - min) / step);
  const onGrid = Number((min + steps * step).toFixed(6));
  if (onGrid > max) return Number((min + Math.floor((max - min) / step + 1e-9) * step).toFixed(6));
  return Math.max(min, onGrid);
}

/** A typed number, with a decimal point or comma; null if invalid. */
export function typedNumber(text: string): number | null {
  const plain = text
    .trim()
    .replace(/[\s\u00a0\u202f]/g, "")
    .replace(",", ".");
  return /^-?\d+(\.\d+)?$/.test(plain) ? Number(plain) : null;
}

/** The index of the nearest of ascending values; 0 if there are none. */
export function nearestIndex(values: readonly number[], value: number): number {
  let nearest = 0;
  for (const [index, each] of values.entries())
    if (Math.abs(each - value) < Math.abs((values[nearest] ?? each) - value)) nearest = index;
  return nearest;
}
