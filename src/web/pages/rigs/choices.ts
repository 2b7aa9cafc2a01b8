import { signal } from "@preact/signals";
import { type ColumnKey, isColumn, usualColumns } from "./column-keys.ts";
import { type Layout, layouts } from "./view.ts";

const columnsKey = "rigbridge.rigs.columns";
const layoutKey = "rigbridge.rigs.layout";

const storedColumns = (localStorage.getItem(columnsKey) ?? "").split(",").filter(isColumn);
const storedLayout = localStorage.getItem(layoutKey);

/** The columns of this browser, used if an address does not specify them. */
export const ownColumns = signal<readonly ColumnKey[]>(
  storedColumns.length === 0 ? usualColumns : [...new Set(storedColumns)],
);
/** Null: cards on narrow screens. */
export const ownLayout = signal<Layout | null>(layouts.find((layout) => layout === storedLayout) ?? null);

export function keepColumns(columns: readonly ColumnKey[]): void {
  ownColumns.value = columns;
  localStorage.setItem(columnsKey, columns.join(","));
}

export function keepLayout(layout: Layout): void {
  ownLayout.value = layout;
  localStorage.setItem(layoutKey, layout);
}
