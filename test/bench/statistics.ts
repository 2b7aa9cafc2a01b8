/** A figure from several runs. */
export interface Measured {
  readonly name: string;
  /** The median. */
  readonly value: number;
  readonly least: number;
  readonly most: number;
  readonly runs: number;
  /** What else was seen, for people. */
  readonly note: string;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

export const measured = (name: string, values: readonly number[], note: string): Measured => ({
  name,
  value: median(values),
  least: Math.min(...values),
  most: Math.max(...values),
  runs: values.length,
  note,
});

/** Run by run, as neighbours saw the same machine. */
export const ratios = (over: readonly number[], under: readonly number[]): number[] =>
  over.map((value, run) => value / (under[run] ?? Number.NaN));
