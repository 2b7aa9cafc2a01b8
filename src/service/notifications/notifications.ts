import { notFound } from "../../contract/problems.ts";
import type { Notification } from "../../contract/resources.ts";
import type { MiningService } from "../../contract/service.ts";
import type { Store, StoredNotification } from "../../store/index.ts";
import type { Format } from "../../units/format.ts";
import { done } from "../crud.ts";
import type { Access, AccessBook } from "../users/access.ts";
import type { FarmNotices } from "./notices.ts";

type NotificationOperations = Pick<
  MiningService,
  "listNotifications" | "allNotificationsAction" | "notificationsAction" | "notificationAction"
>;

export const presentNotification =
  (format: Format) =>
  ({ key, time, last, closed, ...notification }: StoredNotification): Notification => ({
    ...notification,
    timeUtc: iso(time),
    time: format.localTime(time),
    isWarning: notification.severity !== "info",
    lastUtc: iso(last),
    closedUtc: closed === null ? null : iso(closed),
    ruleId: ruleIdIn(key),
  });

/** The keys of rules' notifications are stored, so their form never changes. */
function ruleIdIn(key: string | null): number | null {
  const [, id] = /^rule:(\d+):/.exec(key ?? "") ?? [];
  return id === undefined ? null : Number(id);
}

const iso = (time: number): string => new Date(time).toISOString();

/**
 * Users see the notifications of their miners, and those of these miners' sites and groups. Other notifications without
 * a miner require access to all miners.
 */
export function notificationOperations(
  { notifications }: Store,
  notices: Pick<FarmNotices, "acknowledge" | "clear">,
  seesNotification: (about: Pick<StoredNotification, "minerId" | "key">, access: Access) => boolean,
  accessBook: AccessBook,
  format: Format,
): NotificationOperations {
  const presented = presentNotification(format);
  const act = {
    ack: (ids: readonly number[] | "all") => notices.acknowledge(ids),
    clear: (ids: readonly number[] | "all") => notices.clear(ids),
  };
  const isVisible = (access: Access, notification: StoredNotification): boolean =>
    access.all || seesNotification(notification, access);
  const visible = (access: Access): readonly StoredNotification[] =>
    access.all ? notifications.list() : notifications.list().filter((each) => isVisible(access, each));

  return {
    listNotifications: async ({ since = 0 }, caller) => {
      const all = visible(accessBook.of(caller)).filter(({ id }) => id > since);
      return {
        notificationList: all.map(presented),
        notificationCount: all.length,
        unacknowledgedNotificationCount: all.filter(({ isAcknowledged }) => !isAcknowledged).length,
      };
    },
    allNotificationsAction: async ({ action }, caller) => {
      const access = accessBook.of(caller);
      const [change, verb] = action === "ack_all" ? [act.ack, "acknowledged"] : [act.clear, "removed"];
      await change(access.all ? "all" : visible(access).map(({ id }) => id));
      return done(`All notifications ${verb}`);
    },
    notificationsAction: async ({ ids, action }, caller) => {
      const access = accessBook.of(caller);
      const wanted = new Set(ids);
      const known = visible(access).flatMap(({ id }) => (wanted.has(id) ? [id] : []));
      await act[action](known);
      const count = `${known.length.toLocaleString("en-US")} notification${known.length === 1 ? "" : "s"}`;
      return done(`${count} ${action === "ack" ? "acknowledged" : "removed"}`);
    },
    notificationAction: async ({ id, action }, caller) => {
      const notification = notifications.list().find((each) => each.id === id);
      if (notification === undefined || !isVisible(accessBook.of(caller), notification))
        throw notFound("notification", id);
      await act[action]([id]);
      return done(`Notification ${id} ${action === "ack" ? "acknowledged" : "removed"}`);
    },
  };
}
