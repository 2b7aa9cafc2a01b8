import type { Notification } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { may } from "../../session.ts";

/** Maximum ids in one request. */
const mostIds = 20_000;
/** Concurrent requests to a service that accepts only one id each. */
const parallel = 6;

/** Acknowledges these notifications, or clears them from the list. The service's events update the page. */
export async function handle(action: "ack" | "clear", some: readonly Notification[]): Promise<void> {
  const ids = some.map(({ id }) => id);
  if (ids.length > 1 && may("notificationsAction")) {
    for (let from = 0; from < ids.length; from += mostIds)
      await call("notificationsAction", { action, ids: ids.slice(from, from + mostIds) });
    return;
  }
  const work = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) await call("notificationAction", { id, action });
  };
  await Promise.all(Array.from({ length: parallel }, work));
}
