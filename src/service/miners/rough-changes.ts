import { type RowColumn, rowColumnNames } from "../../contract/rows.ts";

/** By how much a figure must have moved: by this share of it, or by this. */
type Tolerance = { readonly share: number } | { readonly by: number };

const usual: Tolerance = { share: 0.05 };

/** The figures that move with nearly every read. */
const figures = new Map<RowColumn, Tolerance>([
  ...(["hashrate", "hashrateAverage", "power", "efficiency", "profit", "revenue", "cost"] as const).map(
    (column) => [column, usual] as const,
  ),
  ...(["energy", "rejected", "bestShare"] as const).map((column) => [column, usual] as const),
  ["temperature", { by: 2 }],
]);

/** By place of the column. */
const tolerances: readonly (Tolerance | undefined)[] = rowColumnNames.map((name) => figures.get(name));

/** ms for which the figures of a row rest after they have counted as changed. */
const restMs = 60_000;
/** ms after which the smallest difference counts. */
const latestMs = 600_000;

/** What was read of a row, by place of the column. */
export interface Read {
  readonly places: readonly number[];
  readonly values: readonly unknown[];
  readonly isChanged: (place: number) => boolean;
  /** Monotonic ms. */
  readonly now: number;
}

/**
 * When a row has changed enough for somebody who does not look at it: at once for anything but a figure and for a figure
 * that comes or goes; after a minute for one that moves much, after ten for one that moves little.
 */
export class RoughChanges {
  /** By place: the figure when it counted last, NaN for none, and at what time; undefined before the first. */
  readonly #values: (number | undefined)[] = [];
  readonly #countedAt: number[] = [];
  /** ms by which the small differences count earlier the first time. */
  #earlierMs: number;

  /** `phase`: 0 to 1, so that the rows of a farm, which are all read at its start, do not count all at the same time. */
  constructor(phase: number) {
    this.#earlierMs = phase * latestMs;
  }

  /** Whether a read counts. If so, all figures of it rest, since whoever gets the row gets all of it. */
  counts(read: Read): boolean {
    const { places, values, now } = read;
    const counts = places.some((place) => this.#counts(place, read));
    for (const place of places) {
      if (tolerances[place] === undefined || (!counts && this.#values[place] !== undefined)) continue;
      this.#values[place] = numberOf(values[place]);
      this.#countedAt[place] = now;
    }
    return counts;
  }

  #counts(place: number, { values, isChanged, now }: Read): boolean {
    const tolerance = tolerances[place];
    if (tolerance === undefined) return isChanged(place);
    const before = this.#values[place];
    const after = numberOf(values[place]);
    if (before === undefined || Object.is(before, after)) return false;
    if (Number.isNaN(before) || Number.isNaN(after)) return true;
    const rested = now - (this.#countedAt[place] ?? now);
    const enough = "by" in tolerance ? tolerance.by : tolerance.share * Math.abs(before);
    if (rested < restMs || (rested + this.#earlierMs < latestMs && Math.abs(after - before) <= enough)) return false;
    this.#earlierMs = 0;
    return true;
  }
}

const numberOf = (value: unknown): number => (typeof value === "number" ? value : Number.NaN);
