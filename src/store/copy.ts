import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CopySource, CopyTarget } from "./copy-ends.ts";
import { openFileSource, openFileTarget } from "./copy-file.ts";
import { openDatabaseSource, openDatabaseTarget } from "./copy-postgres.ts";
import type { NumberedTable, Row, SqlValue } from "./database.ts";
import { copyingFailure } from "./failures.ts";
import { refuse } from "./file.ts";

export type StorePlace = { readonly file: string } | { readonly url: string };

export interface CopyOptions {
  readonly from: StorePlace;
  readonly to: StorePlace;
  /** Called after each batch. */
  readonly progress: (progress: CopyProgress) => void;
  readonly signal: AbortSignal;
}

export interface CopyProgress {
  readonly table: string;
  readonly rows: number;
  readonly of: number;
}

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Of all values in all rows, in any order: the same in both stores. */
  readonly checksum: string;
}

export interface CopiedStore {
  readonly from: string;
  readonly to: string;
  readonly tables: readonly CopiedTable[];
  /** Texts with the character of code 0, instead of which the copy has U+FFFD. */
  readonly changedTexts: number;
}

const numberedTables: readonly NumberedTable[] = ["command", "notification", "outbox", "bulk_action"];

/**
 * Copies everything of a store that no service uses to a new one: between an SQLite file and a PostgreSQL database, or
 * two of a kind. The copy is read again and compared before anybody can see it. Throws store.refused and store.full, and
 * the signal's reason; then there is no copy.
 */
export async function copyStore({ from, to, progress, signal }: CopyOptions): Promise<CopiedStore> {
  const source = await ("file" in from ? openFileSource(from.file) : openDatabaseSource(from.url));
  try {
    const target = await ("file" in to ? openFileTarget(to.file) : openDatabaseTarget(to.url));
    try {
      return await copy(source, target, progress, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw copyingFailure(source.name, target.name, error);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copy(
  source: CopySource,
  target: CopyTarget,
  progress: CopyOptions["progress"],
  signal: AbortSignal,
): Promise<CopiedStore> {
  const { isAsLeft, lease } = source;
  const tables: CopiedTable[] = [];
  let changedTexts = 0;
  // The results of runs before the runs, because a trigger counts new results in the run's row.
  const columns = [...(await source.columns())].sort().reverse();
  for (const [table, named] of columns) {
    // The last run of a store that is a backup is another one.
    if (table === "run" && !isAsLeft) continue;
    const of = await source.count(table);
    const sum = new Checksum(table);
    for await (const read of source.rows(table, named)) {
      const { rows, changed } = target.holdsEveryCharacter ? { rows: read, changed: 0 } : storable(read);
      changedTexts += changed;
      await target.insert(table, named, rows);
      sum.add(rows, named);
      progress({ table, rows: sum.rows, of });
      await turn(signal);
    }
    await compare(target, sum, named, signal);
    tables.push(sum.copied);
  }
  for (const table of numberedTables) await target.setLastId(table, await source.lastId(table));
  if (lease !== null) await target.setLease(lease);
  await source.checkUnused();
  await target.commit(isAsLeft);
  return { from: source.name, to: target.name, tables: tables.reverse(), changedTexts };
}

/** Throws store.refused if the copy of a table differs. */
async function compare(
  target: CopyTarget,
  { copied }: Checksum,
  columns: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const sum = new Checksum(copied.table);
  for await (const rows of target.rows(copied.table, columns)) {
    sum.add(rows, columns);
    await turn(signal);
  }
  if (sum.rows === copied.rows && sum.copied.checksum === copied.checksum) return;
  refuse(
    `The copy of the table ${copied.table} in ${target.name} is not the same: ${copied.rows} rows, and ${sum.rows} in the ` +
      "copy, with other values. There is no copy.",
  );
}

/** Lets signals be handled. */
async function turn(signal: AbortSignal): Promise<void> {
  await nextTurn();
  signal.throwIfAborted();
}

/** Of rows in any order. */
class Checksum {
  readonly #table: string;
  #rows = 0;
  #sum = 0n;

  constructor(table: string) {
    this.#table = table;
  }

  get rows(): number {
    return this.#rows;
  }

  get copied(): CopiedTable {
    return { table: this.#table, rows: this.#rows, checksum: this.#sum.toString(16).padStart(16, "0") };
  }

  add(rows: readonly Row[], columns: readonly string[]): void {
    for (const row of rows) {
      const text = JSON.stringify(columns.map((column) => comparable(row[column] ?? null)));
      this.#sum = BigInt.asUintN(64, this.#sum + hash("sha1", text, "buffer").readBigUInt64BE());
    }
    this.#rows += rows.length;
  }
}

const comparable = (value: SqlValue) =>
  value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : value;

function storable(read: readonly Row[]): { readonly rows: readonly Row[]; readonly changed: number } {
  let changed = 0;
  const replaced = (value: SqlValue): SqlValue => {
    if (typeof value !== "string" || !value.includes("\0")) return value;
    changed += 1;
    return value.replaceAll("\0", "\ufffd");
  };
  const rows = read.map((row) =>
    Object.values(row).some((value) => typeof value === "string" && value.includes("\0"))
      ? Object.fromEntries(Object.entries(row).map(([column, value]) => [column, replaced(value)]))
      : row,
  );
  return { rows, changed };
}
