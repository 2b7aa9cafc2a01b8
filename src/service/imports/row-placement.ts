import type { ImportColumn } from "../../contract/import-columns.ts";
import type { ImportChange } from "../../contract/imports.ts";
import { type PlaceKind, placeKinds } from "../../contract/places.ts";
import { Position } from "../../contract/resources.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import { type PlaceChain, plainName } from "../places/place-book.ts";
import type { Placement } from "../places/placing.ts";
import type { TableRow } from "./csv-table.ts";

/** The columns with names of places, largest first, and the slot; `container` is another name of `building`. */
export const nameColumns = ["site", "building", "container", "row", "rack", "slot"] as const;

/** Where a rig is now. */
export interface PresentPlacement extends Placement {
  readonly chain: PlaceChain;
}

export const unplaced: PresentPlacement = {
  placeId: null,
  position: null,
  slot: null,
  chain: { site: null, building: null, row: null, rack: null },
};

export interface WantedPlacement {
  readonly chain: PlaceChain;
  readonly slot: string | null;
  /** Null: none; undefined: as it is, unless the place is another. */
  readonly position: Position | null | undefined;
  readonly changes: readonly ImportChange[];
}

type Wrong = (column: ImportColumn, what: Detail | string) => void;

/** What a row says of its rig's place beside what is so already; null if it says nothing else. Reports mistakes. */
export function wantedPlacement({ cells }: TableRow, now: PresentPlacement, wrong: Wrong): WantedPlacement | null {
  const changes: ImportChange[] = [];
  const differs = (field: ImportColumn, from: string | null, to: string | undefined): void => {
    if (to !== undefined && to !== from) changes.push({ field, from, to });
  };
  /** A name in another case is the same place. */
  const isElsewhere = (field: ImportColumn, from: string | null, to: string | undefined): void => {
    if (to !== undefined && plainName(to) !== plainName(from ?? "")) changes.push({ field, from, to });
  };
  if (cells.has("building") && cells.has("container")) wrong("container", detail("import.buildingTwice"));
  const building = cells.get("building") ?? cells.get("container");
  const cellOf = { site: cells.get("site"), building, row: cells.get("row"), rack: cells.get("rack") };
  const chain: Record<PlaceKind, string | null> = { ...now.chain };
  for (const kind of placeKinds) {
    const [from, to] = [now.chain[kind], cellOf[kind]];
    const field = kind === "building" && cells.has("container") ? "container" : kind;
    // The smaller places of another site, building or row are not those of before.
    if (to === undefined && changes.length > 0) {
      chain[kind] = null;
      if (from !== null) changes.push({ field, from, to: null });
    } else {
      chain[kind] = to ?? from;
      isElsewhere(field, from, to);
    }
  }
  const moves = changes.length > 0;
  differs("slot", now.slot, cells.get("slot"));
  const before = now.position;
  const kept = moves ? null : before;
  const position = positionIn(cells, kept, wrong);
  if (position === undefined && moves && before !== null)
    changes.push(
      { field: "rackRow", from: String(before.row), to: null },
      { field: "rackColumn", from: String(before.column), to: null },
    );
  if (position != null) {
    differs("rackRow", before === null ? null : String(before.row), String(position.row));
    differs("rackColumn", before === null ? null : String(before.column), String(position.column));
  }
  if (changes.length === 0) return null;
  return { chain, slot: cells.get("slot") ?? now.slot, position, changes };
}

function numberIn(column: "rackRow" | "rackColumn", cells: TableRow["cells"], wrong: Wrong): number | undefined {
  const cell = cells.get(column);
  if (cell === undefined) return undefined;
  const number = /^\d{1,4}$/.test(cell) ? Number(cell) : 0;
  if (Position.shape.row.safeParse(number).success) return number;
  wrong(column, detail("import.position"));
  return undefined;
}

/** The position of the cells; a missing half is that of the position that the rig keeps. */
function positionIn(cells: TableRow["cells"], kept: Position | null, wrong: Wrong): Position | undefined {
  if (!cells.has("rackRow") && !cells.has("rackColumn")) return undefined;
  const row = cells.has("rackRow") ? numberIn("rackRow", cells, wrong) : kept?.row;
  const column = cells.has("rackColumn") ? numberIn("rackColumn", cells, wrong) : kept?.column;
  if (row !== undefined && column !== undefined) return { row, column };
  if (!cells.has("rackRow")) wrong("rackColumn", detail("import.half", { column: "rackRow" }));
  if (!cells.has("rackColumn")) wrong("rackRow", detail("import.half", { column: "rackColumn" }));
  return undefined;
}

/** What a rig loses that is not in a table which unplaces such rigs. */
export function lostPlacement({ chain, slot, position }: PresentPlacement): ImportChange[] {
  const parts = [
    ...(["site", "building", "row", "rack"] as const).map((kind) => [kind, chain[kind]] as const),
    ["slot", slot] as const,
    ["rackRow", position === null ? null : String(position.row)] as const,
    ["rackColumn", position === null ? null : String(position.column)] as const,
  ];
  return parts.flatMap(([field, from]) => (from === null ? [] : [{ field, from, to: null }]));
}
