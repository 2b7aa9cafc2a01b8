import { unlessFull } from "./deferred-delete.ts";
import type { NewNotification, StoredNotification } from "./resources.ts";
import type { RunMark } from "./run-mark.ts";
import { isOneOf, type SqliteConnection } from "./sqlite-connection.ts";

/** Notifications kept, in memory and on disk; the oldest are dropped. */
export const notificationLimit = 10_000;

export interface NotificationLog {
  /** Newest first. The array never changes; a later call may return another. */
  list(): readonly StoredNotification[];
  /** One that cannot be written is listed from memory, and written with a later one. */
  add(notification: NewNotification): Promise<StoredNotification>;
  /** In one transaction; unknown ids are ignored. */
  acknowledge(ids: readonly number[] | "all"): Promise<void>;
  /** In one transaction; unknown ids are ignored. */
  clear(ids: readonly number[] | "all"): Promise<void>;
  /** Writes unwritten rows. Throws store.full. */
  flush(): void;
}

export const openNotifications = async (
  sqlite: SqliteConnection,
  mark: RunMark,
  now: () => number,
): Promise<NotificationLog> => {
  const { tables } = sqlite;
  const rows = await tables
    .selectFrom("notification")
    .selectAll()
    .orderBy("id", "desc")
    .limit(notificationLimit)
    .execute();
  let list: readonly StoredNotification[] = rows.map((row) => ({
    id: row.id,
    time: row.time,
    minerId: row.miner_id,
    minerName: row.miner_name,
    title: row.title,
    source: row.source,
    message: row.message,
    isWarning: row.is_warning === 1,
    isAcknowledged: row.is_acknowledged === 1,
  }));

  let last = mark.last.lastId("notification");
  /** Up to this id every notification is on disk. */
  let onDisk = last;

  const flush = (): void => {
    if (onDisk === last) return;
    sqlite.write((run) => {
      for (const each of list.filter(({ id }) => id > onDisk))
        run(tables.insertInto("notification").values(toRow(each)));
      const oldest = list[notificationLimit - 1];
      if (oldest !== undefined) run(tables.deleteFrom("notification").where("id", "<", oldest.id));
    });
    onDisk = last;
  };

  return {
    list: () => list,

    add: async (notification) => {
      last += 1;
      const added = { ...notification, id: last, time: now(), isAcknowledged: false };
      list = [added, ...list.slice(0, notificationLimit - 1)];
      if (!unlessFull(flush)) mark.idGiven("notification", last);
      return added;
    },

    acknowledge: async (ids) => {
      const update = tables.updateTable("notification").set({ is_acknowledged: 1 });
      flush();
      sqlite.write((run) => run(ids === "all" ? update : update.where(isOneOf("id", ids))));
      const named = ids === "all" ? null : new Set(ids);
      list = list.map((each) => (named?.has(each.id) === false ? each : { ...each, isAcknowledged: true }));
    },

    clear: async (ids) => {
      const removal = tables.deleteFrom("notification");
      sqlite.free((run) => run(ids === "all" ? removal : removal.where(isOneOf("id", ids))));
      const named = ids === "all" ? null : new Set(ids);
      list = named === null ? [] : list.filter((each) => !named.has(each.id));
    },

    flush,
  };
};

const toRow = ({ id, time, title, source, message, ...each }: StoredNotification) => ({
  id,
  time,
  miner_id: each.minerId,
  miner_name: each.minerName,
  title,
  source,
  message,
  is_warning: each.isWarning ? 1 : 0,
  is_acknowledged: each.isAcknowledged ? 1 : 0,
});
