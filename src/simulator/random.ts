/** Repeatable pseudo-random numbers: the same seed gives the same rig, the same clock the same reading. */

/** A hash of both numbers. */
export function mix(seed: number, step: number): number {
  let h = (seed ^ Math.imul(step, 0x9e3779b1)) >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** From 0 to 1, excluding 1. */
export const fraction = (seed: number, step: number): number => mix(seed, step) / 2 ** 32;

/** From -1 to 1. */
export const noise = (seed: number, step: number): number => fraction(seed, step) * 2 - 1;
