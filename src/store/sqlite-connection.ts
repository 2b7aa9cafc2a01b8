import { DatabaseSync, type SQLInputValue, StatementSync } from "node:sqlite";
import { Kysely, type SqliteDatabase, SqliteDialect, sql } from "kysely";
import { RigbridgeError } from "../contract/problems.ts";
import type {
  Database,
  Dialect,
  NewestCommands,
  NumberedTable,
  PlainStatement,
  Row,
  SqlValue,
  Statement,
} from "./database.ts";
import type { DiskReserve } from "./disk-reserve.ts";
import { diskFull, isFull, readingFailure, writingFailure } from "./failures.ts";
import { newestCommands } from "./newest-commands.ts";
import type { Tables } from "./tables.ts";

/** Runs a statement in the open transaction; returns the number of rows that it has changed. */
export type Run = (statement: Statement) => number;

/**
 * FULL: a commit survives a power failure. NORMAL: it survives a crash of the process; a power failure may undo the last
 * commits, but never damages the file. Source: sqlite.org/pragma.html#pragma_synchronous, for WAL.
 */
export type Durability = "full" | "normal";

export interface ConnectionOptions {
  readonly durability: Durability;
  /** A write blocks the process for up to this long while another program has the file locked. */
  readonly busyTimeoutMs: number;
  readonly reserve: DiskReserve;
}

/**
 * One SQLite connection. A write is begun and committed before its call returns, so that no transaction is ever open while
 * other code runs: two connections of this process cannot wait for each other, and no statement ends up in a foreign
 * transaction.
 */
export class SqliteConnection implements Database {
  readonly name: string;
  readonly isAway = false;
  readonly withFirstWrite = null;
  readonly recorder = this;
  readonly tables: Kysely<Tables>;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #reserve: DiskReserve;
  #newestCommands: NewestCommands | undefined;
  #open = true;

  constructor(file: string, { durability, busyTimeoutMs, reserve }: ConnectionOptions) {
    this.name = file;
    this.#reserve = reserve;
    this.#database = openDatabase(file, [
      `busy_timeout = ${busyTimeoutMs}`,
      "journal_mode = wal",
      `synchronous = ${durability}`,
      "cache_size = -16000",
      "wal_autocheckpoint = 4000",
      `journal_size_limit = ${64 << 20}`,
    ]);
    this.tables = new Kysely({ dialect: new SqliteDialect({ database: forKysely(this.#database) }) });
  }

  prepare(sql: string): StatementSync {
    return this.#database.prepare(sql);
  }

  /** The whole database; null if this Node cannot copy one. */
  image(): Uint8Array | null {
    return hasImages ? this.#database.serialize() : null;
  }

  /** Replaces the whole database by an `image`. */
  become(image: Uint8Array): void {
    this.#database.deserialize(image);
  }

  /** Ids that tables generate are higher; those of a table that has higher ones already go on. */
  startIdsAfter(id: number): void {
    if (id === 0) return;
    this.#database
      .prepare(
        `insert into sqlite_sequence (name, seq)
          select name, ? from sqlite_master where type = 'table' and sql like '%autoincrement%'
            and name not in (select name from sqlite_sequence)`,
      )
      .run(id);
  }

  async write(statements: readonly Statement[]): Promise<readonly number[]> {
    return this.transaction((run) => statements.map(run));
  }

  async free(statements: readonly Statement[]): Promise<readonly number[]> {
    return this.freeing((run) => statements.map(run));
  }

  async rows({ text, values }: PlainStatement): Promise<readonly Row[]> {
    return this.read(() => rowsIn(this.#statement(text), values));
  }

  async lastId(table: NumberedTable): Promise<number> {
    const [row] = await this.rows({ text: "select seq from sqlite_sequence where name = ?", values: [table] });
    return Number(row?.seq ?? 0);
  }

  /** SQLite counts the numbers of its `autoincrement` itself. */
  idTaken(): readonly Statement[] {
    return [];
  }

  readonly newestCommands: NewestCommands = (wanted, limit) => {
    this.#newestCommands ??= newestCommands(this);
    return this.#newestCommands(wanted, limit);
  };

  readonly dialect: Dialect = {
    isOneOf: (column, ids) => sql<boolean>`${sql.ref(column)} in (select value from json_each(${JSON.stringify(ids)}))`,
    oneOfList: "(select value from json_each(?))",
    appended: (column) => `json_insert(${column}, '$[#]', json(?))`,
    // From JSON in one statement: 100,000 statements would block the process for seconds.
    insertResults: `insert into bulk_result (bulk_action_id, miner_id, position, state, message, before)
      select ?, value ->> 'minerId', key, value ->> 'state', value ->> 'message', value ->> 'before' from json_each(?)`,
  };

  /** Runs `work`, which reads with prepared statements. Throws store.refused if the file is damaged. */
  read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw readingFailure(this.name, error);
    }
  }

  /** Runs `work` in one transaction, which is on disk when this returns. Throws store.full if it cannot be written. */
  transaction<T>(work: (run: Run) => T): T {
    this.#checkOpen();
    if (!this.#reserve.mayWrite(this.#shortenLog)) throw diskFull(this.name);
    try {
      return this.#transaction(work);
    } catch (error) {
      throw writingFailure(this.name, error);
    }
  }

  /** Like `transaction`, for deletions: on a full disk the reserve is released for them. */
  freeing<T>(work: (run: Run) => T): T {
    this.#checkOpen();
    try {
      return this.#transaction(work);
    } catch (error) {
      if (!isFull(error) || !this.#reserve.release()) throw writingFailure(this.name, error);
    }
    try {
      this.#shortenLog();
      return this.#transaction(work);
    } catch (error) {
      throw writingFailure(this.name, error);
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#statements.clear();
    this.#database.close();
  }

  #checkOpen(): void {
    if (!this.#open) throw new RigbridgeError("service.not-ready", `The store ${this.name} is closed`);
  }

  #transaction<T>(work: (run: Run) => T): T {
    try {
      this.#database.exec("begin immediate");
      const result = work(this.#run);
      this.#database.exec("commit");
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  /** Moves the write-ahead log into the file and truncates it, unless there is a reader or the disk is full. */
  readonly #shortenLog = (): void => {
    try {
      this.#database.exec("pragma wal_checkpoint(truncate)");
    } catch {
      // Nothing is lost: the log is unchanged.
    }
  };

  readonly #run: Run = (statement) => {
    if ("rows" in statement) {
      const one = this.#statement(statement.upsert.text);
      let changed = 0;
      for (const row of statement.rows) changed += Number(one.run(...row).changes);
      return changed;
    }
    if ("text" in statement) return Number(this.#statement(statement.text).run(...statement.values).changes);
    const { sql, parameters } = statement.compile();
    return Number(this.#statement(sql).run(...parameters.map(sqlValue)).changes);
  };

  #statement(text: string): StatementSync {
    const statement = this.#statements.get(text) ?? this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }

  #rollback(): void {
    try {
      this.#database.exec("rollback");
    } catch {
      // SQLite has already rolled back (full disk), or never began.
    }
  }
}

const sqlValue = (value: unknown): SQLInputValue => {
  if (value === null || typeof value === "number" || typeof value === "string" || value instanceof Uint8Array)
    return value;
  throw new RigbridgeError("internal", `A ${typeof value} cannot be stored`);
};

const hasImages = "deserialize" in DatabaseSync.prototype;
const hasArrays = "setReturnArrays" in StatementSync.prototype;

/**
 * Reads arrays and builds the rows from them: the row objects of node:sqlite have no prototype, take nearly twice the
 * memory and are slow to copy. Node before 22.16 cannot return arrays.
 */
const rowsOf = (statement: StatementSync, parameters: readonly SQLInputValue[]): unknown[] => {
  if (!hasArrays) return statement.all(...parameters);
  statement.setReturnArrays(true);
  const names = statement.columns().map(({ name }) => name);
  return statement.all(...parameters).map((values) => {
    const row: Record<string, unknown> = {};
    for (const [index, name] of names.entries()) row[name] = values[index];
    return row;
  });
};

const rowsIn = (statement: StatementSync, values: readonly SQLInputValue[]): Row[] =>
  statement.all(...values).map((row) => {
    const found: Record<string, SqlValue> = {};
    for (const [name, value] of Object.entries(row)) found[name] = typeof value === "bigint" ? Number(value) : value;
    return found;
  });

/**
 * `all()` runs any statement and returns its rows, none for a write; so every statement is declared a reader, without
 * asking `columns()`, which Node 22.13 does not have.
 */
const forKysely = (database: DatabaseSync): SqliteDatabase => ({
  close: () => database.close(),
  prepare: (sql) => {
    const statement = database.prepare(sql);
    return {
      reader: true,
      all: (parameters) => rowsOf(statement, parameters.map(sqlValue)),
      run: (parameters) => statement.run(...parameters.map(sqlValue)),
      iterate: (parameters) => statement.iterate(...parameters.map(sqlValue)),
    };
  },
});

/** Closes it again if it cannot be used, such as a damaged file. */
function openDatabase(file: string, pragmas: readonly string[]): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    for (const pragma of pragmas) database.exec(`pragma ${pragma}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
