import type { Statement } from "./database.ts";

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
