import type { MinerStatus } from "./resources.ts";

/** A sum over miners with known values; its counts show how much is missing. */
export interface KnownOf {
  /** Null while no value is known. */
  readonly value: number | null;
  /** The number of miners in it. */
  readonly known: number;
  /** The number of miners if all values were known. */
  readonly total: number;
}

/** A displayed sum: "loading" until its parts are loaded. */
export type LoadedSum = KnownOf | "loading";

/** The number of miners missing from a sum. */
export const uncounted = ({ known, total }: KnownOf): number => total - known;

/** Adds up known values. */
export class KnownSum implements KnownOf {
  value: number | null = null;
  known = 0;
  total = 0;

  /** `isExpected`: whether the sum counts this part as missing if it is unknown. */
  add(part: number | null, isExpected = true): void {
    if (part !== null) {
      this.value = (this.value ?? 0) + part;
      this.known += 1;
    }
    if (part !== null || isExpected) this.total += 1;
  }

  addSum({ value, known, total }: KnownOf): void {
    if (value !== null) this.value = (this.value ?? 0) + value;
    this.known += known;
    this.total += total;
  }
}

/**
 * Whether an unknown figure of this miner counts as missing from sums: a miner that cannot be reached, is disabled or
 * starting belongs to no sum.
 */
export const isSummed = (status: MinerStatus): boolean =>
  status === "Mining" || status === "Idle" || status === "Stopped";
