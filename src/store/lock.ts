import { closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { RigbridgeError } from "../contract/problems.ts";
import { isBusy, openingFailure } from "./failures.ts";

/**
 * One service per store, and one agent per folder. The lock is an open write transaction on a small SQLite file beside the store: the operating
 * system releases it when the process ends in any way, so a lock is never stale, and the holder's pid stays readable.
 * The file itself is never deleted, because then two processes could hold it.
 */
export interface Lock {
  release(): void;
}

export const lock = (store: string, what = `store ${store}`): Lock => {
  const file = `${store}.lock`;
  try {
    createOnce(file);
    return hold(what, new DatabaseSync(file));
  } catch (error) {
    throw openingFailure(file, error);
  }
};

/** The process that holds the lock of a store; null if none does. For a process that does not hold it itself. */
export const lockHolder = (store: string): number | null => {
  const file = `${store}.lock`;
  if (!existsSync(file)) return null;
  const database = new DatabaseSync(file);
  try {
    database.exec("begin immediate");
    return null;
  } catch (error) {
    if (!isBusy(error)) throw openingFailure(file, error);
    return holder(database) ?? null;
  } finally {
    database.close();
  }
};

/** Never opens an existing file: closing it would drop this process's own lock on it. */
const createOnce = (file: string): void => {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!(typeof error === "object" && error !== null && "code" in error && error.code === "EEXIST")) throw error;
  }
};

const hold = (what: string, database: DatabaseSync): Lock => {
  try {
    database.exec("pragma busy_timeout = 200");
    do {
      // Commits the pid, so that others can read it, then takes the lock; checks that no other process came in between.
      database.exec("begin immediate");
      database.exec("create table if not exists holder (pid integer not null)");
      database.exec("delete from holder");
      database.prepare("insert into holder (pid) values (?)").run(process.pid);
      database.exec("commit");
      database.exec("begin immediate");
    } while (holder(database) !== process.pid && rollBack(database));
    return releasable(database);
  } catch (error) {
    const pid = isBusy(error) ? holder(database) : undefined;
    database.close();
    if (!isBusy(error)) throw error;
    throw new RigbridgeError(
      "store.refused",
      `The ${what} is in use by another Rigbridge${pid === undefined ? "" : ` (process ${pid})`}; ` +
        "stop that one first, or choose another.",
    );
  }
};

const releasable = (database: DatabaseSync): Lock => {
  let held = true;
  return {
    release: () => {
      if (held) database.close();
      held = false;
    },
  };
};

const rollBack = (database: DatabaseSync): true => {
  database.exec("rollback");
  return true;
};

const holder = (database: DatabaseSync): number | undefined => {
  try {
    const pid = database.prepare("select pid from holder").get()?.pid;
    return typeof pid === "number" ? pid : undefined;
  } catch {
    return undefined;
  }
};
