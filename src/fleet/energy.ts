/** The power and the meter of one read. */
export interface EnergyRead {
  /** Epoch ms. */
  readonly at: number;
  /** W. */
  readonly power: number | null;
  /** Wh, where there is a meter. */
  readonly meter?: number | undefined;
}

/**
 * Energy drawn, in Wh: by the meter between two reads, otherwise the mean power of two reads times the time between
 * them. Gaps are not estimated: nothing is added for a time without the rig and without a meter.
 */
export function addEnergy(
  energy: number | null,
  before: EnergyRead | null,
  now: EnergyRead,
  longestGap: number,
): number | null {
  const counted = before?.meter === undefined || now.meter === undefined ? -1 : now.meter - before.meter;
  if (counted >= 0) return (energy ?? 0) + counted;
  if (now.power === null) return energy;
  const gap = before === null ? 0 : now.at - before.at;
  if (before === null || before.power === null || gap <= 0 || gap > longestGap) return energy ?? 0;
  return (energy ?? 0) + ((Math.max(0, before.power) + Math.max(0, now.power)) / 2) * (gap / 3_600_000);
}

/** ms by which two computations of the same start may differ: clocks drift, and uptimes are whole seconds. */
const drift = (uptime: number): number => Math.max(30_000, uptime * 10);

/** The previous read: its uptime in s, and the ms since then by a monotonic clock. */
export interface EarlierUptime {
  readonly uptime: number;
  readonly elapsed: number;
}

/**
 * When mining started, epoch ms. It changes only with a restart, whatever the clocks of this machine and of the rig do:
 * a rig whose uptime has not fallen, and is longer than the time since the last read, has not restarted. Before the
 * first read the known start is kept while the uptime agrees with it.
 */
export function startOf(
  known: number | null,
  at: number,
  uptime: number | null,
  before: EarlierUptime | null,
): number | null {
  if (uptime === null) return known;
  const start = at - uptime * 1000;
  // No rig has run since before 1970, and such a date cannot be represented.
  if (start < 0) return known;
  if (known === null || Math.abs(start - known) <= drift(uptime)) return known ?? start;
  return before !== null && uptime >= before.uptime && uptime * 1000 > before.elapsed ? known : start;
}
