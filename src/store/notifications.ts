import type { Selectable } from "kysely";
import type { Database, Statement } from "./database.ts";
import { unlessFull } from "./deferred-delete.ts";
import { rowsFlusher } from "./flusher.ts";
import type { NewNotification, StoredNotification } from "./resources.ts";
import type { RunMark } from "./run-mark.ts";
import type { Tables } from "./tables.ts";

/** Notifications kept, in memory and on disk. */
export const notificationLimit = 20_000;
/** ms for which a closed one is kept. */
export const closedNotificationsKeptMs = 30 * 86_400_000;

export interface NotificationLog {
  /** Newest first. The array never changes; a later call may return another. */
  list(): readonly StoredNotification[];
  /** The open one with this key. */
  open(key: string): StoredNotification | undefined;
  /**
   * Adds a notification, or counts a repeat of the open one with the same key, whose `count` is then above 1. Null for
   * a warning that was cleared while open, until it is closed. A failed write is repeated later; until then the
   * notification is listed from memory.
   */
  raise(notification: NewNotification): StoredNotification | null;
  /** Closes the open one with this key; undefined if there is none. */
  close(key: string): StoredNotification | undefined;
  /** In one transaction; unknown ids are ignored. Returns those that were not yet acknowledged. */
  acknowledge(ids: readonly number[] | "all"): Promise<readonly StoredNotification[]>;
  /** In one transaction; unknown ids are ignored. Returns those that were removed. */
  clear(ids: readonly number[] | "all"): Promise<readonly StoredNotification[]>;
  /** Writes unwritten rows. Throws store.full. */
  flush(): Promise<void>;
}

export const openNotifications = async (
  database: Database,
  mark: RunMark,
  now: () => number,
): Promise<NotificationLog> => {
  const { tables } = database;
  const rows = await tables.selectFrom("notification").selectAll().orderBy("id").execute();
  /** Oldest first. */
  const all = new Map(rows.map((row) => [row.id, fromRow(row)]));
  let newestFirst: readonly StoredNotification[] | null = null;
  const openIds = new Map<string, number>();
  for (const { id, key, closed } of all.values()) if (key !== null && closed === null) openIds.set(key, id);
  /** Keys of warnings that were cleared while they were open. */
  const cleared = new Set<string>();
  let last = mark.last.lastId("notification");
  const unwritten = new Set<number>();
  const dropped = new Set<number>();

  const put = (notification: StoredNotification): StoredNotification => {
    all.set(notification.id, notification);
    unwritten.add(notification.id);
    newestFirst = null;
    return notification;
  };

  const remove = ({ id, key }: StoredNotification): void => {
    all.delete(id);
    unwritten.delete(id);
    if (key !== null && openIds.get(key) === id) openIds.delete(key);
    newestFirst = null;
  };

  let agedAt = Number.NEGATIVE_INFINITY;
  /** Drops notifications that were closed long ago; runs about hourly. */
  const age = (): void => {
    if (Math.abs(now() - agedAt) < 3_600_000) return;
    agedAt = now();
    for (const each of all.values()) {
      if (each.closed === null || each.closed >= agedAt - closedNotificationsKeptMs) continue;
      remove(each);
      dropped.add(each.id);
    }
  };

  const limit = (): void => {
    age();
    while (all.size > notificationLimit) {
      const least = leastImportant(all.values());
      if (least === undefined) return;
      remove(least);
      dropped.add(least.id);
    }
  };

  const upsert = (notification: StoredNotification): Statement => {
    const row = toRow(notification);
    return tables
      .insertInto("notification")
      .values(row)
      .onConflict((conflict) => conflict.column("id").doUpdateSet(row));
  };

  const flush = rowsFlusher(database, "notification", { all, unwritten, dropped, upsert, last: () => last });

  const flushSoon = (): void => {
    // What cannot be written now stays for the next flush, which says why.
    flush().catch(() => undefined);
  };

  const add = (notification: NewNotification): StoredNotification => {
    last += 1;
    const time = now();
    const closed = notification.key === null ? time : null;
    const added = put({ ...notification, id: last, time, last: time, count: 1, closed, isAcknowledged: false });
    if (notification.key !== null) openIds.set(notification.key, last);
    limit();
    // Beforehand, because others may have seen it when it turns out that it cannot be written.
    mark.idGiven("notification", last);
    flushSoon();
    return added;
  };

  const known = (ids: readonly number[] | "all"): StoredNotification[] =>
    ids === "all" ? [...all.values()] : [...new Set(ids)].flatMap((id) => all.get(id) ?? []);

  const openOne = (key: string): StoredNotification | undefined => {
    const id = openIds.get(key);
    return id === undefined ? undefined : all.get(id);
  };

  limit();
  await unlessFull(flush);
  return {
    list: () => {
      age();
      newestFirst ??= [...all.values()].reverse();
      return newestFirst;
    },

    open: openOne,

    raise: (notification) => {
      const { key } = notification;
      const open = key === null ? undefined : openOne(key);
      if (open !== undefined) {
        const repeated = put({ ...open, ...notification, count: open.count + 1, last: now() });
        flushSoon();
        return repeated;
      }
      if (key !== null && cleared.has(key)) return null;
      return add(notification);
    },

    close: (key) => {
      cleared.delete(key);
      const open = openOne(key);
      if (open === undefined) return undefined;
      openIds.delete(key);
      const closed = put({ ...open, closed: now() });
      flushSoon();
      return closed;
    },

    acknowledge: async (ids) => {
      const update = tables.updateTable("notification").set({ is_acknowledged: 1 });
      await flush();
      await database.write([ids === "all" ? update : update.where(database.dialect.isOneOf("id", ids))]);
      const changed = known(ids).filter(({ isAcknowledged }) => !isAcknowledged);
      for (const each of changed) all.set(each.id, { ...each, isAcknowledged: true });
      newestFirst = null;
      return changed;
    },

    clear: async (ids) => {
      const deletion = tables.deleteFrom("notification");
      await database.free([ids === "all" ? deletion : deletion.where(database.dialect.isOneOf("id", ids))]);
      const removed = known(ids);
      for (const each of removed) {
        if (each.key !== null && each.closed === null && each.severity !== "info") cleared.add(each.key);
        remove(each);
      }
      return removed;
    },

    flush,
  };
};

/** Of those over the limit: closed before open, info before warnings, then the oldest. */
function leastImportant(oldestFirst: Iterable<StoredNotification>): StoredNotification | undefined {
  const rank = ({ closed, severity }: StoredNotification): number =>
    (closed === null ? 2 : 0) + (severity === "info" ? 0 : 1);
  let least: StoredNotification | undefined;
  for (const each of oldestFirst) {
    if (least === undefined || rank(each) < rank(least)) least = each;
    if (rank(least) === 0) break;
  }
  return least;
}

/** Shared by all without codes. */
const uncoded = { title: null, message: null } as const;

const fromRow = (row: Selectable<Tables["notification"]>): StoredNotification => ({
  id: row.id,
  key: row.key,
  time: row.time,
  last: row.last,
  count: row.count,
  closed: row.closed,
  minerId: row.miner_id,
  uid: row.uid,
  minerName: row.miner_name,
  title: row.title,
  source: row.source,
  message: row.message,
  severity: row.severity,
  isAcknowledged: row.is_acknowledged === 1,
  coded: row.coded === null ? uncoded : JSON.parse(row.coded),
});

const toRow = ({ id, key, time, last, count, closed, uid, title, source, message, ...each }: StoredNotification) => ({
  id,
  key,
  time,
  last,
  count,
  closed,
  uid,
  title,
  source,
  message,
  miner_id: each.minerId,
  miner_name: each.minerName,
  severity: each.severity,
  is_warning: each.severity === "info" ? 0 : 1,
  is_acknowledged: each.isAcknowledged ? 1 : 0,
  coded: each.coded.title === null && each.coded.message === null ? null : JSON.stringify(each.coded),
});
