import { notFound } from "../contract/problems.ts";
import type { Connection } from "./connection.ts";
import type { NewNotification, StoredNotification } from "./resources.ts";

/** How many are kept; the oldest go first, on disk too. */
export const notificationLimit = 10_000;

export interface NotificationLog {
  /** Newest first. The array never changes; a later call may return another. */
  list(): readonly StoredNotification[];
  add(notification: NewNotification): Promise<StoredNotification>;
  /** Throws not.found. */
  acknowledge(id: number | "all"): Promise<void>;
  /** Throws not.found. */
  clear(id: number | "all"): Promise<void>;
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

  const known = (id: number | "all"): void => {
    if (id !== "all" && !list.some((each) => each.id === id)) throw notFound("notification", id);
  };

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

    acknowledge: async (id) => {
      known(id);
      const update = tables.updateTable("notification").set({ is_acknowledged: 1 });
      connection.write((run) => run(id === "all" ? update : update.where("id", "=", id)));
      list = list.map((each) => (id === "all" || each.id === id ? { ...each, isAcknowledged: true } : each));
    },

    clear: async (id) => {
      known(id);
      const removal = tables.deleteFrom("notification");
      connection.write((run) => run(id === "all" ? removal : removal.where("id", "=", id)));
      list = id === "all" ? [] : list.filter((each) => each.id !== id);
    },
  };
};
