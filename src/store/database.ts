import type { Compilable, Kysely, RawBuilder } from "kysely";
import type { Tables } from "./tables.ts";

export type SqlValue = number | string | Uint8Array | null;
export type Row = Readonly<Record<string, SqlValue>>;

/** SQL that every engine understands, with `?` for each value. */
export interface PlainStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** As in migrations.ts. */
export type ColumnType = "integer" | "real" | "text" | "blob";

/** Adds rows to a table; one with the key of a stored row changes that. */
export interface Upsert {
  readonly table: keyof Tables;
  readonly columns: ReadonlyMap<string, ColumnType>;
  /** The places of the key among the columns. */
  readonly key: readonly number[];
  /** What follows the rows. */
  readonly onConflict: string;
  /** For one row, with `?` for each value. */
  readonly text: string;
}

/** The rows of one table, of which there may be thousands: each the values of all columns, in their order. */
export interface RowsStatement {
  readonly upsert: Upsert;
  readonly rows: readonly (readonly SqlValue[])[];
}

/** A statement that Kysely has built, a plain one, which costs less, or many rows of one table, which cost the least. */
export type Statement = Compilable | PlainStatement | RowsStatement;

export const plain = (text: string, ...values: readonly SqlValue[]): PlainStatement => ({ text, values });

/** Tables that number their rows; a number is never used again. */
export type NumberedTable = "command" | "notification" | "outbox" | "bulk_action";

export interface WantedCommands {
  /** Undefined: commands of all miners, removed ones included. */
  readonly minerIds?: readonly number[] | undefined;
  readonly actor?: string | undefined;
  /** Epoch ms. */
  readonly since?: number | undefined;
}

/** Ids of the wanted commands on disk, newest first, at most `limit`. */
export type NewestCommands = (wanted: WantedCommands, limit: number) => Promise<readonly number[]>;

/** What the parts of the store need of their engine. */
export interface Database {
  /** The file, or the address without its password; for messages. */
  readonly name: string;
  /** Whether the last call did not reach it. */
  readonly isAway: boolean;
  /** Builds queries, and runs reads. */
  readonly tables: Kysely<Tables>;
  /**
   * Writes statements in one transaction, in this order, and after those of earlier calls. Resolves with the number of rows
   * that each has changed once they are stored. Statements are known beforehand, so that no transaction waits for this
   * program. Throws store.full.
   */
  write(statements: readonly Statement[]): Promise<readonly number[]>;
  /**
   * Runs `work`, whose first write stores these statements too, before its own and in the same transaction; they are not
   * stored if it writes nothing. Null: a write of its own costs next to nothing.
   */
  readonly withFirstWrite: (<T>(statements: readonly Statement[], work: () => Promise<T>) => Promise<T>) | null;
  /**
   * The same for frequent records of the service, in rows that nothing else writes: so that no write with a caller waits
   * behind thousands of rows.
   */
  readonly recorder: Database;
  /** Like `write`, for deletions: on a full disk they have space in reserve. */
  free(statements: readonly Statement[]): Promise<readonly number[]>;
  /** The rows of a plain statement. Throws store.refused. */
  rows(statement: PlainStatement): Promise<readonly Row[]>;
  /** The highest number that a table has ever given to a row. */
  lastId(table: NumberedTable): Promise<number>;
  /** Statements that keep a number from being used again, beside those that insert its row. */
  idTaken(table: NumberedTable, id: number): readonly Statement[];
  readonly newestCommands: NewestCommands;
  /** SQL that only this engine understands. */
  readonly dialect: Dialect;
}

export interface Dialect {
  /** For a list of any length: one statement for all lengths, without a limit on the number of values. */
  isOneOf(column: string, ids: readonly number[]): RawBuilder<boolean>;
  /** The same in a plain statement, whose value is the ids as JSON. */
  readonly oneOfList: string;
  /** A column that holds a JSON array as text, with one more element, which is the statement's value. */
  appended(column: string): string;
  /** `insert into bulk_result (…)`; the values are the number of the run and its rows as JSON. */
  readonly insertResults: string;
}

/** The same database with other writes. */
export const writingBy = (database: Database, write: Database["write"], free: Database["free"] = write): Database => ({
  name: database.name,
  get isAway() {
    return database.isAway;
  },
  tables: database.tables,
  dialect: database.dialect,
  newestCommands: database.newestCommands,
  withFirstWrite: null,
  get recorder() {
    return this;
  },
  rows: (statement) => database.rows(statement),
  lastId: (table) => database.lastId(table),
  idTaken: (table, id) => database.idTaken(table, id),
  write,
  free,
});
