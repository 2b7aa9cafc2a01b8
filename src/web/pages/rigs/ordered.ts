import type { Row } from "../../live.ts";

export type Compare = (one: Row, other: Row) => number;

/**
 * All rigs in sorted order, kept up to date: after changes, only the changed ones are sorted and merged with the
 * others.
 */
export class OrderedRows {
  #compare: Compare | null = null;
  #rows: readonly Row[] = [];
  /** The last sorted rows. */
  readonly #sorted = new Map<number, Row>();

  /** The same array as before if nothing has changed. */
  update(byId: ReadonlyMap<number, Row>, compare: Compare): readonly Row[] {
    const changed: Row[] = [];
    for (const row of byId.values()) if (this.#sorted.get(row.id) !== row) changed.push(row);
    const isSame = compare === this.#compare && changed.length === 0 && byId.size === this.#sorted.size;
    if (isSame) return this.#rows;
    if (compare !== this.#compare || changed.length > byId.size / 4) this.#rows = [...byId.values()].sort(compare);
    else
      this.#rows = merged(
        this.#rows.filter((row) => byId.get(row.id) === row),
        changed.sort(compare),
        compare,
      );
    this.#compare = compare;
    for (const row of changed) this.#sorted.set(row.id, row);
    if (this.#sorted.size > byId.size) for (const id of this.#sorted.keys()) if (!byId.has(id)) this.#sorted.delete(id);
    return this.#rows;
  }
}

function merged(rows: readonly Row[], others: readonly Row[], compare: Compare): Row[] {
  const pieces: (readonly Row[])[] = [];
  let from = 0;
  for (const other of others) {
    const at = firstAfter(rows, other, from, compare);
    pieces.push(rows.slice(from, at), [other]);
    from = at;
  }
  return [...pieces, rows.slice(from)].flat();
}

/** The index of the first row that comes after another, by bisection. */
function firstAfter(rows: readonly Row[], other: Row, from: number, compare: Compare): number {
  let [low, high] = [from, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row !== undefined && compare(row, other) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
