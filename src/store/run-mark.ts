import { randomUUID } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { unlessFull } from "./deferred-delete.ts";
import type { Run, SqliteConnection } from "./sqlite-connection.ts";

/** Tables whose rows may wait in memory while the store cannot be written. */
type BufferedTable = "command" | "notification";

/** What the last run left. */
export interface LastRun {
  /**
   * Whether this store is as the last run left it. False for a copy of an earlier moment, as a restored backup is: since
   * then anything may have been sent. False too where nothing tells, as on another machine.
   */
  readonly isUnchanged: boolean;
  /** When it sent something last, epoch ms; null when nothing tells. */
  readonly sentAt: number | null;
  /** The last id given in a table, also where its row was never written. */
  lastId(table: BufferedTable): number;
}

/**
 * A file beside the store counts what is sent, as the store itself does. A backup holds the store alone, so one that is
 * restored counts less than the file, or belongs to an earlier run. Written to the store first: a killed process leaves
 * a store that counts no less than its file. The file also holds ids that are given to rows which are not on disk.
 */
export interface RunMark {
  readonly last: LastRun;
  /** A new run begins: what the last one left is settled. */
  begin(): void;
  /** Something is about to be sent; `save` and `publish` before it is. */
  countSend(): void;
  /** Within a transaction of the store: what is not in it yet. */
  save(run: Run): void;
  /** After the transaction, whether it could be written or not. Never throws. */
  publish(written: boolean): void;
  /** An id was given to a row that waits in memory. */
  idGiven(table: BufferedTable, id: number): void;
  close(): void;
}

/** More rows than ever wait in memory: ids that may have been given are passed over. */
const skippedIds = 20_000;

interface Content {
  readonly id: string;
  readonly sent: number;
  readonly command: number;
  readonly notification: number;
}

/** `file`: null for a store in memory. */
export const openRunMark = async (
  sqlite: SqliteConnection,
  file: string | null,
  now: () => number,
): Promise<RunMark> => {
  const { tables } = sqlite;
  const row = await tables.selectFrom("run").selectAll().executeTakeFirst();
  const fileContent = file === null ? null : contentOf(file);
  const isUnchanged = row !== undefined && fileContent?.id === row.id && row.sent >= fileContent.sent;
  const sequence = sqlite.prepare("select seq from sqlite_sequence where name = ?");
  const lastId = (table: BufferedTable): number => {
    const seq = Number(sequence.get(table)?.seq ?? 0);
    if (row === undefined) return seq;
    return isUnchanged && fileContent !== null ? Math.max(seq, fileContent[table]) : seq + skippedIds;
  };

  let content: Content = { id: randomUUID(), sent: 0, command: 0, notification: 0 };
  let isSaved = false;
  let descriptor: number | null = null;

  const save = (run: Run): void => {
    if (isSaved) return;
    const { id, sent } = content;
    const values = { id, sent, time: now() };
    run(
      tables
        .insertInto("run")
        .values({ only: 1, ...values })
        .onConflict((conflict) => conflict.column("only").doUpdateSet(values)),
    );
  };

  const close = (): void => {
    if (descriptor !== null) closeSync(descriptor);
    descriptor = null;
  };

  /** In place, so that a full disk keeps nobody from it; a file that cannot be written must not be believed later. */
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

    begin: () => {
      // A service also starts on a full disk; the next run then knows nothing of this one until something is written.
      isSaved = unlessFull(() => sqlite.write(save));
      descriptor = file === null ? null : open(file);
      write();
    },

    countSend: () => {
      content = { ...content, sent: content.sent + 1 };
      isSaved = false;
    },

    save,

    publish: (written) => {
      isSaved ||= written;
      write();
    },

    idGiven: (table, id) => {
      content = { ...content, [table]: id };
      write();
    },

    close,
  };
};

/** null where there is no space for it; the next run then does not know this one. */
const open = (file: string): number | null => {
  try {
    rmSync(file, { force: true });
    return openSync(file, "wx", 0o600);
  } catch {
    return null;
  }
};

const textOf = ({ id, ...numbers }: Content): string =>
  `${[id, ...Object.values(numbers).map((number) => String(number).padStart(16, "0"))].join(" ")}\n`;

const contentOf = (file: string): Content | null => {
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
