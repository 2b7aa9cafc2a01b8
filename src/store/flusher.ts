import { type Database, type NumberedTable, plain, type Statement } from "./database.ts";

/** Rows to write, taken out of memory's list of unwritten ones. */
export interface Batch {
  readonly statements: readonly Statement[];
  /** Called once they are stored. */
  written?(): void;
  /** Puts them back, for the next flush. */
  failed(): void;
}

/**
 * Writes what a part of the store keeps in memory first: one batch at a time, so that a later state of a row is never
 * overtaken by an earlier one. `take` returns null if there is nothing to write. Throws store.full.
 */
export function flusher(
  write: (statements: readonly Statement[]) => Promise<unknown>,
  take: () => Batch | null,
): () => Promise<void> {
  /** The last batch under way; null if there is none. */
  let under: Promise<void> | null = null;
  const writeOne = async (): Promise<void> => {
    const batch = take();
    if (batch === null) return;
    try {
      await write(batch.statements);
    } catch (error) {
      batch.failed();
      throw error;
    }
    batch.written?.();
  };
  return () => {
    // Begun at once if nothing is under way: SQLite has then written it before this returns.
    const turn = under === null ? writeOne() : under.then(writeOne, writeOne);
    under = turn;
    const done = (): void => {
      if (under === turn) under = null;
    };
    turn.then(done, done);
    return turn;
  };
}

/** Numbered rows that are kept in memory, and what of them is not stored yet. */
export interface KeptRows<Row> {
  readonly all: ReadonlyMap<number, Row>;
  /** Ids of rows that were added or changed. */
  readonly unwritten: Set<number>;
  /** Ids of rows that were removed. */
  readonly dropped: Set<number>;
  readonly upsert: (row: Row) => Statement;
  /** The highest number that was given. */
  readonly last: () => number;
}

/** The flusher of such rows, which empties `unwritten` and `dropped`. */
export const rowsFlusher = <Row>(
  database: Database,
  table: NumberedTable,
  { all, unwritten, dropped, upsert, last }: KeptRows<Row>,
): (() => Promise<void>) =>
  flusher(
    (statements) => database.write(statements),
    () => {
      const [written, deleted] = [[...unwritten], [...dropped]];
      if (written.length === 0 && deleted.length === 0) return null;
      unwritten.clear();
      dropped.clear();
      const deletion = plain(`delete from ${table} where id in ${database.dialect.oneOfList}`, JSON.stringify(deleted));
      return {
        statements: [
          ...written.flatMap((id) => all.get(id) ?? []).map(upsert),
          ...(deleted.length === 0 ? [] : [deletion]),
          ...database.idTaken(table, last()),
        ],
        failed: () => {
          for (const id of written) if (all.has(id)) unwritten.add(id);
          for (const id of deleted) dropped.add(id);
        },
      };
    },
  );
