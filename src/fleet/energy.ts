/**
 * Energy drawn, in Wh: the mean of two readings over the time between them. A gap is not guessed: nothing is added
 * for a time in which the rig was not read.
 */
export function addEnergy(
  energy: number | null,
  before: { readonly at: number; readonly power: number | null } | null,
  now: { readonly at: number; readonly power: number | null },
  longestGap: number,
): number | null {
  if (now.power === null) return energy;
  const gap = before === null ? 0 : now.at - before.at;
  if (before === null || before.power === null || gap <= 0 || gap > longestGap) return energy ?? 0;
  return (energy ?? 0) + ((Math.max(0, before.power) + Math.max(0, now.power)) / 2) * (gap / 3_600_000);
}

/** How far two computations of one start may lie apart: clocks drift, and uptimes are whole seconds. */
const drift = (uptime: number): number => Math.max(30_000, uptime * 10);

/** When mining started, epoch ms: kept as long as the uptime agrees with it, so that it moves only on a restart. */
export function startOf(known: number | null, at: number, uptime: number | null): number | null {
  if (uptime === null) return known;
  const start = at - uptime * 1000;
  // No rig has run since before 1970, and a date that far back cannot be written.
  if (start < 0) return known;
  return known !== null && Math.abs(start - known) <= drift(uptime) ? known : start;
}
