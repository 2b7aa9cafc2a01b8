import type { Row } from "../../live.ts";
import type { Compare } from "./ordered.ts";

/** Where a rig stands in a list. */
export interface Place {
  /** How many rigs stand before it. */
  readonly before: number;
  /** Of the list. */
  readonly total: number;
  /** false: the filters do not list the rig any more; it keeps the place that it would have. */
  readonly isListed: boolean;
  readonly previous: Row | null;
  readonly next: Row | null;
}

/** Finds the place in one pass: sorting ten thousand rigs to know three of them would stop the page. */
export function placeOf(rig: Row, rows: Iterable<Row>, isListed: (row: Row) => boolean, compare: Compare): Place {
  let before = 0;
  let total = 0;
  let previous: Row | null = null;
  let next: Row | null = null;
  for (const row of rows) {
    if (!isListed(row)) continue;
    total += 1;
    if (row.id === rig.id) continue;
    if (compare(row, rig) < 0) {
      before += 1;
      if (previous === null || compare(row, previous) > 0) previous = row;
    } else if (next === null || compare(row, next) < 0) next = row;
  }
  return { before, total, isListed: isListed(rig), previous, next };
}
