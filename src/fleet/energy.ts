/** What one read says of the energy. */
export interface EnergyRead {
  /** Epoch ms. */
  readonly at: number;
  /** W. */
  readonly power: number | null;
  /** Wh on a meter, where there is one. */
  readonly meter?: number | undefined;
}

/**
 * Energy drawn, in Wh: what a meter has counted between two reads, else the mean of two readings over the time between
 * them. A gap is not guessed: nothing is added for a time in which neither the rig nor its meter was there.
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

/** How far two computations of one start may lie apart: clocks drift, and uptimes are whole seconds. */
const drift = (uptime: number): number => Math.max(30_000, uptime * 10);

/** The read before this one: its uptime in seconds, and the ms of a monotonic clock that have passed since. */
export interface EarlierUptime {
  readonly uptime: number;
  readonly elapsed: number;
}

/**
 * When mining started, epoch ms. It moves only on a restart, whatever the clocks of this machine and of the rig do:
 * who has an uptime that has not fallen, and that is longer than what has passed since it was last read, has not
 * restarted. Where nothing was read before, it is kept as long as the uptime agrees with it.
 */
export function startOf(
  known: number | null,
  at: number,
  uptime: number | null,
  before: EarlierUptime | null,
): number | null {
  if (uptime === null) return known;
  const start = at - uptime * 1000;
  // No rig has run since before 1970, and a date that far back cannot be written.
  if (start < 0) return known;
  if (known === null || Math.abs(start - known) <= drift(uptime)) return known ?? start;
  return before !== null && uptime >= before.uptime && uptime * 1000 > before.elapsed ? known : start;
}
