import type { Control } from "../../../contract/readings.ts";

/** A firmware's profile or preset with its rated power. */
export interface WattLevel {
  readonly watts: number;
  readonly label: string;
}

/** The highest level within so many watts; null where all take more. */
export const highestWithin = (levels: readonly WattLevel[], watts: number): WattLevel | null =>
  levels.reduce<WattLevel | null>(
    (best, level) => (level.watts <= watts && (best === null || level.watts > best.watts) ? level : best),
    null,
  );

/**
 * A power limit set by levels accepts every watt from the lowest to the highest. Its value is the limit last set while
 * the rig is still at the level that this limit selects, otherwise the level's own watts.
 */
export function limitScale(
  levels: readonly WattLevel[],
  present: number | null,
  asked: number | null,
): Pick<Control, "unit" | "min" | "max" | "step" | "value"> {
  const watts = levels.map((level) => level.watts);
  const isKept = asked !== null && present !== null && highestWithin(levels, asked)?.watts === present;
  return {
    unit: "W",
    min: Math.min(...watts),
    max: Math.max(...watts),
    step: 1,
    value: isKept ? asked : present,
  };
}
