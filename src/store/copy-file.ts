import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { flushToDisk, giveToOwner } from "./backup.ts";
import type { Columns, CopySource, CopyTarget, TableReader } from "./copy-ends.ts";
import type { NumberedTable, Row, SqlValue } from "./database.ts";
import { noReserve } from "./disk-reserve.ts";
import { openingFailure } from "./failures.ts";
import { checkCopyable, createPrivate, inspect, locate, mark, refuse } from "./file.ts";
import { lock } from "./lock.ts";
import { migrate } from "./migrations.ts";
import { idAfterBackup, lastRunOf, writeRunFile } from "./run-mark.ts";
import { SqliteConnection } from "./sqlite-connection.ts";

const batch = 1_000;

const quoted = (name: string): string => `"${name}"`;

/** Throws store.refused while a service uses the store. */
export async function openFileSource(file: string): Promise<CopySource> {
  const path = locate(file);
  if (!existsSync(path)) refuse(`There is no store ${path}.`);
  const held = lock(path);
  try {
    giveToOwner(path, [`${path}.lock`]);
    checkCopyable(path, inspect(path));
    const database = new DatabaseSync(path, { readOnly: true });
    database.exec("begin");
    const run = database.prepare("select id, sent from run").get();
    const given = run === undefined ? null : lastRunOf({ id: String(run.id), sent: Number(run.sent) }, runFile(path));
    return {
      ...reader(path, database),
      isAsLeft: given !== null,
      lastId: async (table) => {
        const row = database.prepare("select seq from sqlite_sequence where name = ?").get(table);
        const last = Number(row?.seq ?? 0);
        if (table !== "command" && table !== "notification") return last;
        return given === null ? idAfterBackup(last) : Math.max(last, given[table]);
      },
      lease: null,
      // The lock keeps others away.
      checkUnused: async () => undefined,
      close: async () => {
        database.close();
        held.release();
      },
    };
  } catch (error) {
    held.release();
    throw openingFailure(path, error);
  }
}

/** The file appears when it is complete and on disk. */
export async function openFileTarget(file: string): Promise<CopyTarget> {
  const path = locate(file);
  const refuseExisting = (): void => {
    for (const each of [path, `${path}-wal`])
      if (existsSync(each)) refuse(`${each} exists already; choose a new name. Nothing was copied.`);
  };
  refuseExisting();
  const part = `${path}.${process.pid}.part`;
  const removePart = (): void => {
    for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(`${part}${end}`, { force: true });
  };
  removePart();
  try {
    await create(part);
    const database = new DatabaseSync(part);
    // A copy that breaks off is deleted, so nothing need be undone.
    for (const pragma of ["journal_mode = delete", "journal_mode = off", "synchronous = off"])
      database.exec(`pragma ${pragma}`);
    const inserts = new Map<string, StatementSync>();
    const target = reader(path, database);
    database.exec("begin");
    for (const table of (await target.columns()).keys()) database.exec(`delete from ${quoted(table)}`);
    return {
      ...target,
      holdsEveryCharacter: true,
      insert: async (table, columns, rows) => {
        const places = columns.map(() => "?").join(", ");
        const text = `insert into ${quoted(table)} (${columns.map(quoted).join(", ")}) values (${places})`;
        const insert = inserts.get(table) ?? database.prepare(text);
        inserts.set(table, insert);
        for (const row of rows) insert.run(...columns.map((column) => row[column] ?? null));
      },
      setLastId: async (table: NumberedTable, id: number) => {
        database.prepare("delete from sqlite_sequence where name = ?").run(table);
        database.prepare("insert into sqlite_sequence (name, seq) values (?, ?)").run(table, id);
      },
      setLease: async () => undefined,
      commit: async (isAsLeft) => {
        const run = database.prepare("select id, sent from run").get();
        database.exec("commit");
        database.close();
        flushToDisk(part);
        refuseExisting();
        const files = [part];
        if (isAsLeft && run !== undefined) {
          writeRunFile(runFile(path), { id: String(run.id), sent: Number(run.sent), command: 0, notification: 0 });
          files.push(runFile(path));
        }
        giveToOwner(path, files);
        renameSync(part, path);
        flushToDisk(dirname(path));
      },
      close: async () => {
        if (database.isOpen) database.close();
        removePart();
      },
    };
  } catch (error) {
    removePart();
    throw openingFailure(path, error);
  }
}

const runFile = (path: string): string => `${path}.run`;

async function create(file: string): Promise<void> {
  createPrivate(file);
  mark(file);
  const connection = new SqliteConnection(file, { durability: "normal", busyTimeoutMs: 100, reserve: noReserve });
  try {
    await migrate(connection.tables);
  } finally {
    connection.close();
  }
}

function reader(name: string, database: DatabaseSync): TableReader {
  return {
    name,
    columns: async (): Promise<Columns> => {
      const found = new Map<string, string[]>();
      const rows = database
        .prepare(
          `select t.name as "table", c.name from sqlite_master t, pragma_table_info(t.name) c
            where t.type = 'table' and t.name not like 'sqlite%' and t.name not like 'migration%' order by t.name, c.cid`,
        )
        .all();
      for (const row of rows) {
        const table = String(row.table);
        found.set(table, [...(found.get(table) ?? []), String(row.name)]);
      }
      return found;
    },
    count: async (table) =>
      Number(database.prepare(`select count(*) as count from ${quoted(table)}`).get()?.count ?? 0),
    rows: (table, columns) => batches(database, `select ${columns.map(quoted).join(", ")} from ${quoted(table)}`),
  };
}

async function* batches(database: DatabaseSync, text: string): AsyncGenerator<readonly Row[]> {
  let rows: Row[] = [];
  for (const read of database.prepare(text).iterate()) {
    rows.push(row(read));
    if (rows.length < batch) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}

const row = (read: Record<string, SqlValue | bigint>): Row => {
  const values: Record<string, SqlValue> = {};
  for (const [column, value] of Object.entries(read))
    values[column] = typeof value === "bigint" ? Number(value) : value;
  return values;
};
