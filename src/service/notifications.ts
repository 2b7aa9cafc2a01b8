import type { Notification } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import type { Store, StoredNotification } from "../store/index.ts";
import type { Format } from "../units/format.ts";
import { done } from "./replies.ts";

type NotificationOperations = Pick<
  MiningService,
  "listNotifications" | "allNotificationsAction" | "notificationAction"
>;

export const shownNotification =
  (format: Format) =>
  (notification: StoredNotification): Notification => {
    const { id, minerName, title, time, source, message, isAcknowledged, isWarning } = notification;
    return {
      id,
      minerName,
      title,
      timeUtc: new Date(time).toISOString(),
      time: format.localTime(time),
      source,
      message,
      isAcknowledged,
      isWarning,
    };
  };

export function notificationOperations({ notifications }: Store, format: Format): NotificationOperations {
  const shown = shownNotification(format);
  const act = {
    ack: notifications.acknowledge.bind(notifications),
    clear: notifications.clear.bind(notifications),
  };
  return {
    listNotifications: async () => {
      const all = notifications.list();
      return {
        notificationList: all.map(shown),
        notificationCount: all.length,
        unacknowledgedNotificationCount: all.filter(({ isAcknowledged }) => !isAcknowledged).length,
      };
    },
    allNotificationsAction: async ({ action }) => {
      await (action === "ack_all" ? act.ack("all") : act.clear("all"));
      return done(action === "ack_all" ? "All notifications acknowledged" : "All notifications removed");
    },
    notificationAction: async ({ id, action }) => {
      await act[action](id);
      return done(`Notification ${id} ${action === "ack" ? "acknowledged" : "removed"}`);
    },
  };
}
