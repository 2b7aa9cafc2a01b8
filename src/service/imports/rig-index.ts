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

type Keys = ReadonlyMap<KeyColumn, string>;

/**
 * Finds the rig of each row by its uid, MAC address, serial number or address. All that a row names must belong to one rig,
 * or, what an unread rig does not report yet, to none. Adds the mistakes.
 */
export function matched(
  { rows, columns }: RigTable,
  rigs: readonly RigKeys[],
  mistakes: ImportMistake[],
): readonly Match[] {
  const byKey = new Map(keyColumns.map((column) => [column, new Map<string, RigKeys[]>()]));
  const ids = new Map<number, { readonly rig: RigKeys; readonly keys: Keys }>();
  for (const rig of rigs) {
    const keys = keysOfRig(rig);
    ids.set(rig.id, { rig, keys });
    for (const [column, key] of keys) {
      const holders = byKey.get(column);
      holders?.set(key, [...(holders.get(key) ?? []), rig]);
    }
  }
  const addresses = byKey.get("address");
  for (const rig of rigs) {
    const key = rig.address === null ? "" : addressKey(storedAddress(rig.shownAddress));
    if (key !== "" && addresses?.has(key) === false) addresses.set(key, [rig]);
  }
  const linesByRig = new Map<number, number>();
  const linesByKey = new Map<string, number>();
  return rows.map((row) => {
    const at = (column: ImportColumn) => [columns.get(column) ?? null, column] as const;
    const before = mistakes.length;
    const keys = keysOfRow(row, at, mistakes);
    if (mistakes.length > before) return undefined;
    const repeated = keyColumns.find((column) => linesByKey.has(keyText(column, keys)));
    for (const column of keyColumns)
      if (keys.has(column) && !linesByKey.has(keyText(column, keys))) linesByKey.set(keyText(column, keys), row.line);
    const wrong = (column: KeyColumn, what: Detail): undefined => {
      mistakes.push(mistakeAt(row.line, at(column), what));
      return undefined;
    };
    if (repeated !== undefined)
      return wrong(repeated, detail("import.twice", { line: linesByKey.get(keyText(repeated, keys)) ?? 0 }));
    let found: { readonly rig: RigKeys; readonly by: KeyColumn } | undefined;
    for (const [column, key] of keys) {
      const [holder, another] = byKey.get(column)?.get(key) ?? [];
      if (holder === undefined) continue;
      if (another !== undefined) return wrong(column, detail("import.several"));
      if (found === undefined) found = { rig: holder, by: column };
      else if (found.rig.id !== holder.id)
        return wrong(
          column,
          detail("import.otherRig", { miner: holder.name, column: found.by, other: found.rig.name }),
        );
    }
    if (found === undefined) return keys.has("address") ? { id: null } : wrong("address", detail("import.noAddress"));
    const { rig, by } = found;
    const known = ids.get(rig.id)?.keys;
    for (const [column, key] of keys) {
      const its = known?.get(column);
      if (column !== "address" && its !== undefined && its !== key)
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

const keyText = (column: KeyColumn, keys: Keys): string => `${column} ${keys.get(column) ?? ""}`;

const shownKey = (rig: RigKeys, column: Exclude<KeyColumn, "address">): string => rig[column] ?? "";

function keysOfRig({ uid, mac, serial, address }: RigKeys): Keys {
  const all = [
    ["uid", uid],
    ["mac", mac === null ? null : plainMac(mac)],
    ["serial", serial],
    ["address", address === null ? null : addressKey(address)],
  ] as const;
  return new Map(all.flatMap(([column, key]) => (key === null ? [] : [[column, key] as const])));
}

type At = (column: ImportColumn) => readonly [number | null, string | null];

function keysOfRow({ line, cells }: TableRow, at: At, mistakes: ImportMistake[]): Keys {
  const mac = cells.get("mac");
  if (mac !== undefined && plainMac(mac) === null) mistakes.push(mistakeAt(line, at("mac"), detail("import.mac")));
  const address = addressIn(cells.get("address"), (what) => mistakes.push(mistakeAt(line, at("address"), what)));
  const keys = [
    ["uid", cells.get("uid") ?? null],
    ["mac", mac === undefined ? null : plainMac(mac)],
    ["serial", cells.get("serial") ?? null],
    ["address", address],
  ] as const;
  return new Map(keys.flatMap(([column, key]) => (key === null ? [] : [[column, key] as const])));
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
