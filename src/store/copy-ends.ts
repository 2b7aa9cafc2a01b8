import type { NumberedTable, Row } from "./database.ts";

/** Every table of a store but those of its engine, with its columns. */
export type Columns = ReadonlyMap<string, readonly string[]>;

export interface TableReader {
  /** The file, or the address without its password. */
  readonly name: string;
  columns(): Promise<Columns>;
  count(table: string): Promise<number>;
  /** In batches, so that memory is bounded. */
  rows(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]>;
}

/** The store of a service that does not run, read in one snapshot. */
export interface CopySource extends TableReader {
  /**
   * The store is as its last run left it. If not, it is a backup: since then more may have been sent, and more numbers
   * given.
   */
  readonly isAsLeft: boolean;
  /** The last number that a table has given. */
  lastId(table: NumberedTable): Promise<number>;
  /** Null for a file. */
  readonly lease: LeaseSeen | null;
  /** Throws store.refused if a service has begun to use it since. */
  checkUnused(): Promise<void>;
  close(): Promise<void>;
}

/** What services have seen of the lease of a store in a database. */
export interface LeaseSeen {
  readonly site: string | null;
  readonly epoch: number;
  readonly beat: number;
}

/** A new store, which nobody sees before it is complete. */
export interface CopyTarget extends TableReader {
  /** PostgreSQL's texts hold every character but the one with code 0. */
  readonly holdsEveryCharacter: boolean;
  insert(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void>;
  setLastId(table: NumberedTable, id: number): Promise<void>;
  setLease(lease: LeaseSeen): Promise<void>;
  commit(isAsLeft: boolean): Promise<void>;
  /** Undoes everything unless it was committed. */
  close(): Promise<void>;
}
