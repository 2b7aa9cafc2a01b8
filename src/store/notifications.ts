import type { Connection } from "./connection.ts";
import type { NewNotification, StoredNotification } from "./resources.ts";

/** How many are kept; the oldest go first, on disk too. */
export const notificationLimit = 10_000;

export interface NotificationLog {
  /** Newest first. The array never changes; a later call may return another. */
  list(): readonly StoredNotification[];
  add(notification: NewNotification): Promise<StoredNotification>;
  /** In one transaction; ids that are not there are passed over. */
  acknowledge(ids: readonly number[] | "all"): Promise<void>;
  /** Likewise. */
  clear(ids: readonly number[] | "all"): Promise<void>;
}

export const openNotifications = async (connection: Connection, now: () => number): Promise<NotificationLog> => {
  const { tables } = connection;
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

  return {
    list: () => list,

    add: async (notification) => {
      const time = now();
      const id = connection.write((run) => {
        const { id } = run(
          tables.insertInto("notification").values({
            time,
            miner_id: notification.minerId,
            miner_name: notification.minerName,
            title: notification.title,
            source: notification.source,
            message: notification.message,
            is_warning: notification.isWarning ? 1 : 0,
            is_acknowledged: 0,
          }),
        );
        const oldest = list[notificationLimit - 2];
        if (oldest !== undefined) run(tables.deleteFrom("notification").where("id", "<", oldest.id));
        return id;
      });
      const added = { ...notification, id, time, isAcknowledged: false };
      list = [added, ...list.slice(0, notificationLimit - 1)];
      return added;
    },

    acknowledge: async (ids) => {
      const update = tables.updateTable("notification").set({ is_acknowledged: 1 });
      connection.write((run) => run(ids === "all" ? update : update.where("id", "in", ids)));
      const named = ids === "all" ? null : new Set(ids);
      list = list.map((each) => (named?.has(each.id) === false ? each : { ...each, isAcknowledged: true }));
    },

    clear: async (ids) => {
      const removal = tables.deleteFrom("notification");
      connection.write((run) => run(ids === "all" ? removal : removal.where("id", "in", ids)));
      const named = ids === "all" ? null : new Set(ids);
      list = named === null ? [] : list.filter((each) => !named.has(each.id));
    },
  };
};
