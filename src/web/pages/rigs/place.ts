import type { Row } from "../../live.ts";
import type { Compare } from "./ordered.ts";

/** The position of a rig in a list. */
export interface Place {
  /** The number of rigs before it. */
  readonly before: number;
  /** The number of rigs in the list. */
  readonly total: number;
  /** False: the filters no longer match the rig; it keeps the position that it would have. */
  readonly isListed: boolean;
  readonly previous: Row | null;
  readonly next: Row | null;
}

/** Finds the position in one pass: sorting ten thousand rigs to know three of them would block the page. */
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
