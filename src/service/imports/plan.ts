import { z } from "zod";
import type { ImportColumn } from "../../contract/import-columns.ts";
import type { ImportChange, ImportMistake, ImportRow } from "../../contract/imports.ts";
import { Line, minerFields } from "../../contract/inputs.ts";
import { type Mistake, messageIn, RigbridgeError } from "../../contract/problems.ts";
import { quantityIn } from "../../contract/quantity.ts";
import type { Input } from "../../contract/service.ts";
import { messageOf, worded } from "../../contract/wording.ts";
import { formatAddress, parseAddress, storedAddress } from "../../link/address.ts";
import type { Detail } from "../../messages/coded-text.ts";
import type { StoredMiner } from "../../store/index.ts";
import { blankMiner } from "../miners/declared-miner.ts";
import { hasLogin } from "../miners/miner-settings.ts";
import type { Placement } from "../places/placing.ts";
import { mistakeAt, type RigTable, type TableRow } from "./csv-table.ts";
import type { Match } from "./rig-index.ts";
import {
  nameColumns,
  type PresentPlacement,
  unplaced,
  type WantedPlacement,
  wantedPlacement,
} from "./row-placement.ts";

const placeName = Line(64).optional();

/** What a list of rigs can set, beside the address. */
const fields = z.object({
  name: minerFields.name,
  driver: minerFields.driver,
  login: minerFields.login,
  interval: minerFields.interval,
  powerNameplate: minerFields.powerNameplate,
  site: placeName,
  building: placeName,
  container: placeName,
  row: placeName,
  rack: placeName,
  slot: placeName,
  tags: minerFields.tags,
});

/** A rig as it is now. */
export interface PresentRig {
  readonly row: Omit<StoredMiner, "uid" | "offlineExpected" | "supply" | "power">;
  /** Where it is shown: in the place of the defaults if it has none of its own. */
  readonly placement: PresentPlacement;
  /** As it is shown, also if it is that of the rig itself. */
  readonly name: string;
  /** With the port at which it is read, as lists of rigs have it. */
  readonly shownAddress: string;
  readonly group: string | null;
}

export interface GroupOfRow {
  readonly id: number;
  readonly path: string;
}

export interface PlanContext {
  readonly present: (id: number) => PresentRig;
  /** Where the defaults put a new rig. */
  readonly placementOfNew: (rig: Pick<StoredMiner, "address" | "groupId">) => PresentPlacement;
  /** A group by its name or path. Throws `input.invalid`. */
  readonly group: (name: string) => GroupOfRow;
  /** The checks of `addMiner` and `changeMiner`, which throw. */
  readonly newRow: (body: Input<"addMiner">) => StoredMiner;
  readonly patchOf: (body: Input<"changeMiner">) => Partial<StoredMiner>;
  /** Where a row puts its rig. Throws `input.invalid`. */
  readonly place: (id: number | null, wanted: WantedPlacement, now: PresentPlacement, line: number) => Placement;
}

export interface Plan {
  readonly rows: readonly ImportRow[];
  readonly added: readonly StoredMiner[];
  readonly changed: ReadonlyMap<number, Partial<StoredMiner>>;
}

/** What an import adds and changes. Adds the mistakes; with any, the plan is only for showing. */
export function planOf(
  { rows, columns }: RigTable,
  matches: readonly Match[],
  context: PlanContext,
  mistakes: ImportMistake[],
): Plan {
  const added: StoredMiner[] = [];
  const changed = new Map<number, Partial<StoredMiner>>();
  const planned = rows.map((row, index): ImportRow => {
    const before = mistakes.length;
    const wrong = (column: ImportColumn | null, what: Detail | string): void => {
      const place = column === null ? null : (columns.get(column) ?? null);
      mistakes.push(mistakeAt(row.line, [place, column], what));
    };
    const wanted = wantedIn(row, wrong);
    const named = row.cells.get("group");
    let group: GroupOfRow | undefined;
    checked(wrong, () => {
      group = named === undefined ? undefined : context.group(named);
    });
    const match = matches[index];
    const present = match?.id == null ? undefined : context.present(match.id);
    const name = row.cells.get("name") ?? present?.name ?? row.cells.get("address") ?? [...row.cells.values()][0] ?? "";
    const shown = { line: row.line, miner: match?.id ?? null, name };
    const now = present?.placement ?? (match === undefined ? unplaced : context.placementOfNew(newRig(row, group)));
    const placement = wantedPlacement(row, now, wrong);
    if (match === undefined || mistakes.length > before) return { ...shown, state: "error", changes: [] };
    const changes: ImportChange[] = [];
    checked(wrong, () => {
      const { body, changes: differing } = differences(row, { ...wanted, group }, present);
      changes.push(...differing, ...(placement?.changes ?? []));
      const placed = placement === null ? {} : context.place(match.id, placement, now, row.line);
      if (match.id === null)
        added.push({ ...context.newRow({ ...body, address: row.cells.get("address") ?? "" }), ...placed });
      else if (changes.length > 0) {
        const patch = { ...context.patchOf({ id: match.id, ...body }), ...placed };
        changed.set(match.id, patch);
        changes.push(...lostLogin(patch, present));
      }
    });
    if (mistakes.length > before) return { ...shown, state: "error", changes: [] };
    const state = match.id === null ? "added" : changes.length === 0 ? "same" : "changed";
    return { ...shown, state, changes };
  });
  return { rows: planned, added, changed };
}

const newRig = ({ cells }: TableRow, group: GroupOfRow | undefined) => ({
  address: cells.get("address") ?? "",
  groupId: group?.id ?? blankMiner.groupId,
});

type Wanted = z.infer<typeof fields>;

/** The settings in the cells of a row. */
function wantedIn({ cells }: TableRow, wrong: (column: ImportColumn, what: Detail | string) => void): Wanted {
  const numberIn = (column: "interval" | "nameplate", unit: "W" | null): number | undefined => {
    const cell = cells.get(column);
    const number = cell === undefined ? undefined : quantityIn(cell, unit);
    if (typeof number !== "object") return number;
    wrong(column, number);
    return undefined;
  };
  const { data, error } = fields.safeParse(
    {
      name: cells.get("name"),
      driver: cells.get("driver"),
      login: cells.get("login"),
      interval: numberIn("interval", null),
      powerNameplate: numberIn("nameplate", "W"),
      ...Object.fromEntries(nameColumns.map((column) => [column, cells.get(column)])),
      tags: tagsIn(cells.get("tags")),
    },
    worded,
  );
  for (const issue of error?.issues ?? []) {
    const column = columnOf(issue.path.map(String));
    const { message, coded } = messageOf(issue);
    if (column !== null) wrong(column, coded === undefined ? message : { text: message, coded });
  }
  return data ?? {};
}

/** Separated by semicolons; without any, by spaces. */
const tagsIn = (cell: string | undefined): string[] | undefined =>
  cell
    ?.split(cell.includes(";") ? ";" : /\s+/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");

/** The opposite: one tag with a space in it keeps a semicolon. */
export const tagsCell = (tags: readonly string[]): string =>
  tags.length === 1 && /\s/.test(tags[0] ?? "") ? `${tags[0]};` : tags.join(";");

/** The column of a field of a miner. */
function columnOf([field = "", part]: readonly string[]): ImportColumn | null {
  if (field === "position") return part === "column" ? "rackColumn" : "rackRow";
  if (field === "powerNameplate") return "nameplate";
  const known = ["address", "name", "group", "tags", "driver", "interval", "login", ...nameColumns] as const;
  return known.find((column) => column === field) ?? null;
}

interface Differing {
  readonly body: Partial<Wanted> & { readonly address?: string; readonly group?: number };
  readonly changes: readonly ImportChange[];
}

/** What a row sets that is not so already. */
function differences(
  { cells }: TableRow,
  wanted: Wanted & { readonly group: GroupOfRow | undefined },
  present: PresentRig | undefined,
): Differing {
  const changes: ImportChange[] = [];
  const now = present?.row;
  const differs = (field: ImportColumn, from: string | null, to: string | undefined): boolean => {
    if (to === undefined || from === to) return false;
    changes.push({ field, from, to });
    return true;
  };
  const written = cells.get("address");
  const isWhereItIs = written === undefined || written === present?.shownAddress || written === now?.address;
  const address = isWhereItIs ? undefined : formatAddress(parseAddress(written));
  const before = isWhereItIs || now === undefined ? null : formatAddress(storedAddress(now.address));
  const moves = differs("address", before, address);
  const renames = differs("name", present?.name ?? null, wanted.name);
  const { group } = wanted;
  const regroups = group?.id !== now?.groupId && differs("group", present?.group ?? null, group?.path);
  const from = now === undefined || now.tags.length === 0 ? null : tagsCell(now.tags);
  const tags = differs("tags", from, wanted.tags === undefined ? undefined : tagsCell(wanted.tags));
  const driver = differs("driver", now?.driver ?? null, wanted.driver);
  const interval = differs("interval", textOf(now?.interval), textOf(wanted.interval) ?? undefined);
  const login = differs("login", now?.login || null, wanted.login);
  const nameplate = differs("nameplate", textOf(now?.powerNameplate), textOf(wanted.powerNameplate) ?? undefined);
  return {
    changes,
    body: {
      ...(moves && address !== undefined ? { address } : {}),
      ...(renames ? { name: wanted.name } : {}),
      ...(regroups && group !== undefined ? { group: group.id } : {}),
      ...(tags ? { tags: wanted.tags } : {}),
      ...(driver ? { driver: wanted.driver } : {}),
      ...(interval ? { interval: wanted.interval } : {}),
      // A new address ends the login, also one that the row names again.
      ...(login || (moves && wanted.login !== undefined) ? { login: wanted.login } : {}),
      ...(nameplate ? { powerNameplate: wanted.powerNameplate } : {}),
    },
  };
}

const textOf = (number: number | null | undefined): string | null => (number == null ? null : String(number));

/** A login that ends because the rig moves, or names another. */
function lostLogin(patch: Partial<StoredMiner>, present: PresentRig | undefined): ImportChange[] {
  if (present === undefined) return [];
  const login = present.row.login || null;
  const isOwn = hasLogin({ ...present.row, login: null });
  if (patch.login !== undefined && !patch.login && login !== null) return [{ field: "login", from: login, to: null }];
  return patch.username === null && isOwn ? [{ field: "login", from: "***", to: null }] : [];
}

/** Runs a check, and reports what it throws. */
function checked(wrong: (column: ImportColumn | null, what: Detail | string) => void, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    for (const each of error.errors) wrong(columnOf(each.path.split(".")), detailOf(each));
    if (error.errors.length === 0) wrong(error.code === "address.known" ? "address" : null, messageIn(error));
  }
}

const detailOf = ({ message, coded }: Mistake): Detail | string =>
  coded === undefined ? message : { text: message, coded };
