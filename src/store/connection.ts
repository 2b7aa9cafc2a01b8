import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { type Compilable, Kysely, type SqliteDatabase, SqliteDialect } from "kysely";
import { RigbridgeError } from "../contract/problems.ts";
import { writingFailure } from "./failures.ts";
import type { Tables } from "./tables.ts";

export interface Written {
  readonly changes: number;
  /** The id of the row, where the table gives one. */
  readonly id: number;
}
export type Run = (query: Compilable) => Written;

/**
 * FULL: a commit survives the loss of power. NORMAL: it survives the death of the process, and the loss of power may
 * take the last ones (never the file's soundness). Source: sqlite.org/pragma.html#pragma_synchronous, for WAL.
 */
export type Durability = "full" | "normal";

/**
 * One SQLite connection. Kysely builds the queries and runs the reads; writes are built by Kysely and run here, begun
 * and committed in one go, so that no transaction is ever open while other code runs: two connections of this process
 * cannot wait for each other, and nothing strays into a transaction that is not its own.
 */
export class Connection {
  readonly file: string;
  readonly tables: Kysely<Tables>;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #open = true;

  /** `patience`: ms that a write waits, with everything else, while another program holds the file. */
  constructor(file: string, durability: Durability, patience: number) {
    this.file = file;
    this.#database = new DatabaseSync(file);
    this.#database.exec(`pragma busy_timeout = ${patience}`);
    this.#database.exec("pragma journal_mode = wal");
    this.#database.exec(`pragma synchronous = ${durability}`);
    this.#database.exec("pragma cache_size = -16000");
    this.#database.exec("pragma wal_autocheckpoint = 4000");
    this.#database.exec(`pragma journal_size_limit = ${64 << 20}`);
    this.tables = new Kysely({ dialect: new SqliteDialect({ database: forKysely(this.#database) }) });
  }

  prepare(sql: string): StatementSync {
    return this.#database.prepare(sql);
  }

  /** Runs `work` in one transaction, which is on disk when this returns. Throws store.full when it cannot be. */
  write<T>(work: (run: Run) => T): T {
    if (!this.#open) throw new RigbridgeError("service.not-ready", `The store ${this.file} is closed`);
    try {
      this.#database.exec("begin immediate");
      const result = work(this.#run);
      this.#database.exec("commit");
      return result;
    } catch (error) {
      this.#rollback();
      throw writingFailure(this.file, error);
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#statements.clear();
    this.#database.close();
  }

  readonly #run: Run = (query) => {
    const { sql, parameters } = query.compile();
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    const { changes, lastInsertRowid } = statement.run(...parameters.map(input));
    return { changes: Number(changes), id: Number(lastInsertRowid) };
  };

  #rollback(): void {
    try {
      this.#database.exec("rollback");
    } catch {
      // SQLite has already rolled back (a full disk), or never began.
    }
  }
}

const input = (value: unknown): SQLInputValue => {
  if (value === null || typeof value === "number" || typeof value === "string" || value instanceof Uint8Array)
    return value;
  throw new RigbridgeError("internal", `A ${typeof value} cannot be stored`);
};

/**
 * `all()` runs a statement of any kind and returns the rows it makes, none for a write; so every statement counts as
 * a reader, and nothing depends on `columns()`, which Node 22.13 does not have.
 */
const forKysely = (database: DatabaseSync): SqliteDatabase => ({
  close: () => database.close(),
  prepare: (sql) => {
    const statement = database.prepare(sql);
    return {
      reader: true,
      all: (parameters) => statement.all(...parameters.map(input)),
      run: (parameters) => statement.run(...parameters.map(input)),
      iterate: (parameters) => statement.iterate(...parameters.map(input)),
    };
  },
});
