import type { TolerantReader } from "../../tolerant-reader.ts";

type Figures = readonly (number | null)[];

/** Null if no value is known. */
export const highest = (values: Figures): number | null => reduced(values, Math.max);

export const lowest = (values: Figures): number | null => reduced(values, Math.min);

export const total = (values: Figures): number | null => reduced(values, (sum, value) => sum + value);

const reduced = (values: Figures, join: (one: number, other: number) => number): number | null =>
  values.reduce((known, value) => (known === null || value === null ? (known ?? value) : join(known, value)), null);

/** °C; a sensor that is not there reads 0. */
export const celsius = { absent: 0, min: -60, max: 250 } as const;

/** Above it a number of MHz is one of Hz already: an E3 writes "1600M". */
const highestMegahertz = 1e5;

/** Hz, of a field in MHz; 0 stands for none. */
export function megahertz(reply: TolerantReader, key: string): number | null {
  const written = reply.number(key, { absent: 0 });
  return written === null || written > highestMegahertz ? written : reply.number(key, { times: 1e6 });
}

const longestUptime = 10 * 365 * 86_400;

/**
 * s since a start time in epoch s, which a device reports by its own clock; null if that is in the future or years ago.
 * `now`: epoch ms.
 */
export function uptimeSince(start: number | null, now: number): number | null {
  const seconds = start === null ? -1 : Math.floor(now / 1000 - start);
  return seconds < 0 || seconds > longestUptime ? null : seconds;
}
