import type { ImportColumn } from "../../contract/import-columns.ts";
import type { ImportMistake } from "../../contract/imports.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { canonicalHost, parseAddress, type RigAddress, storedAddress } from "../../link/address.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import { type KeyColumn, keyColumns, mistakeAt, type RigTable, type TableRow } from "./csv-table.ts";

/** What identifies a rig; null = unknown. */
export interface RigKeys {
  readonly id: number;
  /** As errors name it. */
  readonly name: Detail;
  readonly uid: string | null;
  readonly mac: string | null;
  readonly serial: string | null;
  /** Null for a managed miner, which has no address of its own. */
  readonly address: RigAddress | null;
  /** With the port at which it is read, as lists of rigs have it. */
  readonly shownAddress: string;
}

/** The rig of a row: its id, null for a new one; undefined if the row is mistaken. */
export type Match = { readonly id: number | null } | undefined;

/** Null: unknown, or not given. */
type Keys = Readonly<Record<KeyColumn, string | null>>;

const byColumn = <T>() => ({
  uid: new Map<string, T>(),
  mac: new Map<string, T>(),
  serial: new Map<string, T>(),
  address: new Map<string, T>(),
});

/**
 * Finds the rig of each row by its uid, MAC address, serial number or address. All that a row names must belong to one rig,
 * or, what an unread rig does not report yet, to none. Adds the mistakes.
 */
export function matched(
  { rows, columns }: RigTable,
  rigs: readonly RigKeys[],
  mistakes: ImportMistake[],
): readonly Match[] {
  const holders = holdersOf(rigs);
  const linesByRig = new Map<number, number>();
  const linesByKey = byColumn<number>();
  return rows.map((row) => {
    const at = (column: ImportColumn) => [columns.get(column) ?? null, column] as const;
    const before = mistakes.length;
    const keys = keysOfRow(row, at, mistakes);
    if (mistakes.length > before) return undefined;
    const wrong = (column: KeyColumn, what: Detail): undefined => {
      mistakes.push(mistakeAt(row.line, at(column), what));
      return undefined;
    };
    let repeated: { readonly column: KeyColumn; readonly line: number } | undefined;
    for (const column of keyColumns) {
      const key = keys[column];
      if (key === null) continue;
      const line = linesByKey[column].get(key);
      if (line === undefined) linesByKey[column].set(key, row.line);
      else repeated ??= { column, line };
    }
    if (repeated !== undefined) return wrong(repeated.column, detail("import.twice", { line: repeated.line }));
    let found: { readonly rig: RigKeys; readonly by: KeyColumn } | undefined;
    for (const column of keyColumns) {
      const holder = keys[column] === null ? undefined : holders[column].get(keys[column]);
      if (holder === undefined) continue;
      if (holder === "several") return wrong(column, detail("import.several"));
      if (found === undefined) found = { rig: holder, by: column };
      else if (found.rig.id !== holder.id)
        return wrong(
          column,
          detail("import.otherRig", { miner: holder.name, column: found.by, other: found.rig.name }),
        );
    }
    if (found === undefined) return keys.address === null ? wrong("address", detail("import.noAddress")) : { id: null };
    const { rig, by } = found;
    const known = keysOfRig(rig);
    for (const column of keyColumns) {
      const [key, its] = [keys[column], known[column]];
      if (column !== "address" && key !== null && its !== null && its !== key)
        return wrong(
          column,
          detail("import.otherValue", { known: shownKey(rig, column), miner: rig.name, column: by }),
        );
    }
    const line = linesByRig.get(rig.id);
    if (line !== undefined) return wrong(by, detail("import.twice", { line }));
    linesByRig.set(rig.id, row.line);
    return { id: rig.id };
  });
}

/** The rig of each key. The address without a port belongs to its rig at the shown one too, unless another has that. */
function holdersOf(rigs: readonly RigKeys[]) {
  const holders = byColumn<RigKeys | "several">();
  for (const rig of rigs) {
    const keys = keysOfRig(rig);
    for (const column of keyColumns) {
      const key = keys[column];
      if (key !== null) holders[column].set(key, holders[column].has(key) ? "several" : rig);
    }
  }
  for (const rig of rigs) {
    const key = rig.address === null ? "" : addressKey(storedAddress(rig.shownAddress));
    if (key !== "" && !holders.address.has(key)) holders.address.set(key, rig);
  }
  return holders;
}

const shownKey = (rig: RigKeys, column: Exclude<KeyColumn, "address">): string => rig[column] ?? "";

const keysOfRig = ({ uid, mac, serial, address }: RigKeys): Keys => ({
  uid,
  mac: mac === null ? null : plainMac(mac),
  serial,
  address: address === null ? null : addressKey(address),
});

type At = (column: ImportColumn) => readonly [number | null, string | null];

function keysOfRow({ line, cells }: TableRow, at: At, mistakes: ImportMistake[]): Keys {
  const mac = cells.get("mac");
  if (mac !== undefined && plainMac(mac) === null) mistakes.push(mistakeAt(line, at("mac"), detail("import.mac")));
  const address = addressIn(cells.get("address"), (what) => mistakes.push(mistakeAt(line, at("address"), what)));
  return {
    uid: cells.get("uid") ?? null,
    mac: mac === undefined ? null : plainMac(mac),
    serial: cells.get("serial") ?? null,
    address,
  };
}

/** Twelve hexadecimal digits; null for anything else. */
function plainMac(mac: string): string | null {
  const digits = mac.toLowerCase().replaceAll(/[:.-]/g, "");
  return /^[0-9a-f]{12}$/.test(digits) ? digits : null;
}

function addressIn(text: string | undefined, wrong: (what: Detail | string) => void): string | null {
  if (text === undefined) return null;
  try {
    return addressKey(parseAddress(text));
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    for (const { message, coded } of error.errors) wrong(coded === undefined ? message : { text: message, coded });
    return null;
  }
}

const addressKey = ({ host, port, tls }: RigAddress): string => `${canonicalHost(host)} ${port} ${tls}`;
