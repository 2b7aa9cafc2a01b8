import type { MinerStatus } from "./resources.ts";

/** A sum over miners, of what is known: without the numbers beside it, a part of them looks like all. */
export interface KnownOf {
  /** Null while nothing of it is known. */
  readonly value: number | null;
  /** How many miners it is of. */
  readonly known: number;
  /** Of how many it would be if all were known. */
  readonly total: number;
}

/** A sum that a page shows: before its parts are loaded there is none, not even an unknown one. */
export type LoadedSum = KnownOf | "loading";

/** How many miners a sum leaves out. */
export const uncounted = ({ known, total }: KnownOf): number => total - known;

/** Adds up what is known. */
export class KnownSum implements KnownOf {
  value: number | null = null;
  known = 0;
  total = 0;

  /** `isExpected`: whether the sum lacks this part if it is unknown. */
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
 * Whether the sums of a farm lack a miner whose figure is unknown: one that cannot be reached, is disabled or starts is
 * part of no sum.
 */
export const isSummed = (status: MinerStatus): boolean =>
  status === "Mining" || status === "Idle" || status === "Stopped";
