import { RigbridgeError } from "../contract/problems.ts";
import type { Database, Statement } from "./database.ts";
import { flusher } from "./flusher.ts";

/** Deletes the rows of miners; if the store cannot be written now, a later flush does it. */
export interface DeferredDelete {
  forget(minerId: number): Promise<void>;
  /** Throws store.full. */
  flush(): Promise<void>;
}

/** `remove`: the statements that delete a miner's rows. */
export const deferredDelete = (
  database: Database,
  remove: (minerId: number) => readonly Statement[],
): DeferredDelete => {
  const pending = new Set<number>();
  const flush = flusher(
    (statements) => database.free(statements),
    () => {
      const ids = [...pending];
      if (ids.length === 0) return null;
      pending.clear();
      return {
        statements: ids.flatMap(remove),
        failed: () => {
          for (const id of ids) pending.add(id);
        },
      };
    },
  );
  return {
    forget: async (minerId) => {
      pending.add(minerId);
      await unlessFull(flush);
    },
    flush,
  };
};

/** Whether the write succeeded; errors other than store.full are rethrown. */
export const unlessFull = async (write: () => Promise<unknown>): Promise<boolean> => {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof RigbridgeError && error.code === "store.full") return false;
    throw error;
  }
};
