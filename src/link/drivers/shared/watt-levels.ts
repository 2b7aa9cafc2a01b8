import type { Control } from "../../../contract/readings.ts";

/** A setting of a firmware (profile, preset) with the power that it is made for. */
export interface WattLevel {
  readonly watts: number;
  readonly label: string;
}

/** The strongest level that takes no more than so many watts; null when all take more. */
export const highestWithin = (levels: readonly WattLevel[], watts: number): WattLevel | null =>
  levels.reduce<WattLevel | null>(
    (best, level) => (level.watts <= watts && (best === null || level.watts > best.watts) ? level : best),
    null,
  );

/**
 * A power limit over levels takes every watt between the lowest and the highest. It is reported as it was asked for
 * while the rig's level is just the one that this limit leads to, else as what that level takes.
 */
export function limitScale(
  levels: readonly WattLevel[],
  present: number | null,
  asked: number | null,
): Pick<Control, "unit" | "min" | "max" | "step" | "value"> {
  const watts = levels.map((level) => level.watts);
  const kept = asked !== null && present !== null && highestWithin(levels, asked)?.watts === present;
  return {
    unit: "W",
    min: Math.min(...watts),
    max: Math.max(...watts),
    step: 1,
    value: kept ? asked : present,
  };
}
