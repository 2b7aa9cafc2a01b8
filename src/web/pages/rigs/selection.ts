import { signal } from "@preact/signals";
import type { Row } from "../../live.ts";

/** Ids of the selected rigs. Filters do not deselect them; the bar shows the number of hidden ones. */
export const selection = signal<ReadonlySet<number>>(new Set());
/** The start of a range. */
let anchor: number | null = null;

export function clearSelection(): void {
  selection.value = new Set();
  anchor = null;
}

export function selectAll(rows: readonly Row[]): void {
  selection.value = new Set(rows.map(({ id }) => id));
}

/** Toggles the rig; with `range`, selects everything between the last one and this one. */
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

/** Deselects removed rigs. */
export function keepOnly(ids: ReadonlyMap<number, Row>): void {
  const gone = [...selection.value].filter((id) => !ids.has(id));
  if (gone.length > 0) selection.value = new Set([...selection.value].filter((id) => ids.has(id)));
}

/** Maximum rigs in one chart: more curves could not be told apart. */
export const mostCompared = 6;
