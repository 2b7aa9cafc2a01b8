import { type RowColumn, rowColumnNames } from "../../contract/rows.ts";

/** The change of a figure that counts: a share of it, or an absolute difference. */
type Tolerance = { readonly share: number } | { readonly by: number };

const usual: Tolerance = { share: 0.05 };

/** The figures that change with nearly every read. */
const figures = new Map<RowColumn, Tolerance>([
  ...(["hashrate", "hashrateAverage", "power", "efficiency", "profit", "revenue", "cost"] as const).map(
    (column) => [column, usual] as const,
  ),
  ...(["energy", "rejected", "bestShare"] as const).map((column) => [column, usual] as const),
  ["temperature", { by: 2 }],
]);

/** By column position. */
const tolerances: readonly (Tolerance | undefined)[] = rowColumnNames.map((name) => figures.get(name));

/** ms after a counted change before a row's figures count again. */
const restMs = 60_000;
/** ms after which the smallest difference counts. */
const latestMs = 600_000;

/** The values of a row, by column position. */
export interface Read {
  readonly places: readonly number[];
  readonly values: readonly unknown[];
  readonly isChanged: (place: number) => boolean;
  /** Monotonic ms. */
  readonly now: number;
}

/**
 * Decides when a row outside the visible range has changed enough to be sent: at once if a value other than a figure
 * changes, or a figure appears or disappears; after a minute for large changes of figures, after ten for small ones.
 */
export class RoughChanges {
  /** By column position: the last counted figure, NaN for none, and its time; undefined before the first. */
  readonly #values: (number | undefined)[] = [];
  readonly #countedAt: number[] = [];
  /** ms by which small differences count earlier the first time. */
  #earlierMs: number;

  /** `phase`: 0 to 1, spreads the first counts of the rows of a farm, which are all read at its start. */
  constructor(phase: number) {
    this.#earlierMs = phase * latestMs;
  }

  /** Whether a read counts. If so, the wait restarts for all figures, because the whole row is sent. */
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
