import { randomUUID } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import type { Database, Statement } from "./database.ts";
import { unlessFull } from "./deferred-delete.ts";

/** Tables whose rows are kept in memory while the store cannot be written. */
type BufferedTable = "command" | "notification";

/** The last run of the service. */
export interface LastRun {
  /**
   * Whether this store is unchanged since the last run. False for a restored backup: anything may have been sent since.
   * Also false if unknown, such as on another machine.
   */
  readonly isUnchanged: boolean;
  /** When it last sent a command, epoch ms; null if unknown. */
  readonly sentAt: number | null;
  /** The last id used in a table, even if its row was never written. */
  lastId(table: BufferedTable): number;
}

/**
 * A file beside the store counts sent commands, as the store itself does. A backup contains only the store, so a
 * restored one has a lower count than the file, or belongs to an earlier run. The store is written first, so that after
 * a kill its count is no lower than the file's. The file also contains the last ids of rows that are not on disk.
 */
export interface RunMark {
  readonly last: LastRun;
  /** Begins a new run, after the open rows of the last one are settled. */
  begin(): Promise<void>;
  /** Counts a command that is about to be sent; save it before sending. */
  countSend(): void;
  /** Saves the count within a transaction of the store. */
  saving(): Saving;
  /** A row that is only in memory has this id. */
  idGiven(table: BufferedTable, id: number): void;
  close(): void;
}

export interface Saving {
  readonly statements: readonly Statement[];
  /** Call it after the transaction, even if that failed. Never throws. */
  ended(isWritten: boolean): void;
}

/** Ids that may be in use are skipped: more than rows are ever kept in memory. */
const skippedIds = 30_000;

/** The same for a store that is a backup: above the numbers that were given since. */
export const idAfterBackup = (lastOnDisk: number): number => lastOnDisk + skippedIds;

/** What the file beside a store says of the run that the store names; null if the store is not as that run left it. */
export const lastRunOf = (row: { readonly id: string; readonly sent: number }, file: string): RunContent | null => {
  const content = contentOf(file);
  return content?.id === row.id && row.sent >= content.sent ? content : null;
};

/** Makes a store in a new file count as its last run has left it. */
export const writeRunFile = (file: string, content: RunContent): void =>
  writeFileSync(file, textOf(content), { mode: 0o600 });

interface RunContent {
  readonly id: string;
  readonly sent: number;
  readonly command: number;
  readonly notification: number;
}

/**
 * `file`: null for a store in memory, and for one in a database server; `isTrusted`: that is as the last
 * run left it, by its lease.
 */
export const openRunMark = async (
  database: Database,
  file: string | null,
  now: () => number,
  isTrusted = false,
): Promise<RunMark> => {
  const { tables } = database;
  const row = await tables.selectFrom("run").selectAll().executeTakeFirst();
  const fileContent = file === null || row === undefined ? null : lastRunOf(row, file);
  const isUnchanged = row !== undefined && (isTrusted || fileContent !== null);
  const lastOnDisk = { command: await database.lastId("command"), notification: await database.lastId("notification") };
  const lastId = (table: BufferedTable): number => {
    const seq = lastOnDisk[table];
    if (row === undefined || isTrusted) return seq;
    return fileContent === null ? idAfterBackup(seq) : Math.max(seq, fileContent[table]);
  };

  let content: RunContent = { id: randomUUID(), sent: 0, command: 0, notification: 0 };
  /** The count of sent commands that is in the store. */
  let savedSent = -1;
  let counted = 0;
  let descriptor: number | null = null;

  const saving = (): Saving => {
    const sent = counted;
    const values = { id: content.id, sent, time: now() };
    const save = tables
      .insertInto("run")
      .values({ only: 1, ...values })
      .onConflict((conflict) => conflict.column("only").doUpdateSet(values));
    return {
      statements: savedSent < sent ? [save] : [],
      ended: (isWritten) => {
        if (isWritten) savedSent = Math.max(savedSent, sent);
        // What is not in the store is in the file, so that the next run does not trust the store.
        const highest = Math.max(content.sent, isWritten ? sent : counted);
        if (highest === content.sent) return;
        content = { ...content, sent: highest };
        write();
      },
    };
  };

  const close = (): void => {
    if (descriptor !== null) closeSync(descriptor);
    descriptor = null;
  };

  /** Overwrites in place, which works on a full disk; a file that cannot be written is deleted, so that it is not trusted. */
  const write = (): void => {
    if (descriptor === null || file === null) return;
    try {
      writeSync(descriptor, textOf(content), 0);
    } catch {
      close();
      rmSync(file, { force: true });
    }
  };

  return {
    last: { isUnchanged, sentAt: row?.time ?? null, lastId },

    begin: async () => {
      // A service also starts on a full disk; until something is written, the next run has no trace of this one.
      const { statements, ended } = saving();
      const isWritten = await unlessFull(() => database.write(statements));
      descriptor = file === null ? null : open(file);
      ended(isWritten);
      write();
    },

    countSend: () => {
      counted += 1;
    },

    saving,

    idGiven: (table, id) => {
      content = { ...content, [table]: id };
      write();
    },

    close,
  };
};

/** Null if there is no space; the next run then has no trace of this one. */
const open = (file: string): number | null => {
  try {
    rmSync(file, { force: true });
    return openSync(file, "wx", 0o600);
  } catch {
    return null;
  }
};

const textOf = ({ id, ...numbers }: RunContent): string =>
  `${[id, ...Object.values(numbers).map((number) => String(number).padStart(16, "0"))].join(" ")}\n`;

const contentOf = (file: string): RunContent | null => {
  try {
    const match = /^([0-9a-f-]{36}) (\d{16}) (\d{16}) (\d{16})\n$/.exec(readFileSync(file, "utf8"));
    const [, id = "", sent, command, notification] = match ?? [];
    return match === null
      ? null
      : { id, sent: Number(sent), command: Number(command), notification: Number(notification) };
  } catch {
    return null;
  }
};
