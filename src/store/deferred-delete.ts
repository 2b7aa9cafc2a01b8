import { RigbridgeError } from "../contract/problems.ts";
import type { Run, SqliteConnection } from "./sqlite-connection.ts";

/** Deletes the rows of miners; if the store cannot be written now, a later flush does it. */
export interface DeferredDelete {
  forget(minerId: number): void;
  /** Throws store.full. */
  flush(): void;
}

export const deferredDelete = (
  sqlite: SqliteConnection,
  remove: (run: Run, minerId: number) => void,
): DeferredDelete => {
  const pending = new Set<number>();
  const flush = (): void => {
    for (const minerId of pending) {
      sqlite.free((run) => remove(run, minerId));
      pending.delete(minerId);
    }
  };
  return {
    forget: (minerId) => {
      pending.add(minerId);
      unlessFull(flush);
    },
    flush,
  };
};

/** Whether the write succeeded; errors other than store.full are rethrown. */
export const unlessFull = (write: () => void): boolean => {
  try {
    write();
    return true;
  } catch (error) {
    if (error instanceof RigbridgeError && error.code === "store.full") return false;
    throw error;
  }
};
