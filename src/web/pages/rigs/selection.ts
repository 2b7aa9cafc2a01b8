import { signal } from "@preact/signals";
import type { Row } from "../../live.ts";

/** Ids of the rigs that are selected. Filters leave them selected; the bar says how many are hidden. */
export const selection = signal<ReadonlySet<number>>(new Set());
/** Where a range begins. */
let anchor: number | null = null;

export function clearSelection(): void {
  selection.value = new Set();
  anchor = null;
}

export function selectAll(rows: readonly Row[]): void {
  selection.value = new Set(rows.map(({ id }) => id));
}

/** Selects the rig, or no longer; with `range` everything from the rig before to this one. */
export function toggleSelected(rows: readonly Row[], id: number, range: boolean): void {
  const selected = new Set(selection.value);
  const from = range && anchor !== null ? rows.findIndex((row) => row.id === anchor) : -1;
  const to = rows.findIndex((row) => row.id === id);
  if (from >= 0 && to >= 0)
    for (const row of rows.slice(Math.min(from, to), Math.max(from, to) + 1)) selected.add(row.id);
  else if (selected.has(id)) selected.delete(id);
  else selected.add(id);
  anchor = id;
  selection.value = selected;
}

/** Rigs that are gone are no longer selected. */
export function keepOnly(ids: ReadonlyMap<number, Row>): void {
  const gone = [...selection.value].filter((id) => !ids.has(id));
  if (gone.length > 0) selection.value = new Set([...selection.value].filter((id) => ids.has(id)));
}

/** Rigs in one chart: more curves could not be told apart. */
export const mostCompared = 6;
