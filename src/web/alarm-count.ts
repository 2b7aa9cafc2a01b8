import type { Notification } from "../contract/resources.ts";
import { counted } from "./format.ts";
import { t } from "./language.ts";

/** The number of open alarms, and of unacknowledged ones: the header, the overview and the list agree. */
export function alarmCountText(open: readonly Notification[]): string {
  const unseen = open.filter(({ isAcknowledged }) => !isAcknowledged).length;
  const all = counted(open.length, t.shell.alarms);
  return unseen === open.length ? all : `${all} · ${counted(unseen, t.shell.unacknowledged)}`;
}
