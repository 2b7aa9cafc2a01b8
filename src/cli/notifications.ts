import type { Command } from "commander";
import type { Notification } from "../contract/resources.ts";
import { type Colour, inColour, isColoured } from "./colours.ts";
import { failing } from "./failure.ts";
import { localMinute } from "./local-time.ts";
import { caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { fittedTable } from "./table.ts";

interface NotificationsOptions extends ServiceOptions {
  readonly open?: true;
  readonly json?: true;
}

export function notificationsCommand(): Command {
  return serviceCommand("notifications", "rigbridge notifications --open")
    .description("Lists the notifications of a running service, newest first.")
    .option("--open", "only those that are not over")
    .option("--json", "print JSON")
    .action(failing(notifications));
}

async function notifications({ open, json, ...options }: NotificationsOptions): Promise<void> {
  const { notificationList } = await withService(options, (service) => service.listNotifications({}, caller));
  const listed = notificationList
    .filter(({ closedUtc }) => !open || closedUtc === null)
    .toSorted((one, other) => other.lastUtc.localeCompare(one.lastUtc) || other.id - one.id);
  if (json) console.log(JSON.stringify(listed, null, 2));
  else if (listed.length === 0) console.log(open ? "No notification is open." : "There are no notifications.");
  else console.log(notificationTable(listed, isColoured(process.stdout)).join("\n"));
}

export type ListedNotification = Pick<
  Notification,
  "lastUtc" | "severity" | "minerName" | "title" | "message" | "closedUtc"
>;

const heads = ["Time", "Severity", "State", "Rig", "Notification"];
const [severityColumn, rigColumn, textColumn] = [1, 3, 4];
const colours: Partial<Record<string, Colour>> = { critical: "red", warning: "yellow" };

/** Notifications as lines of a table, the heads first, at most 80 columns; times are local. */
export function notificationTable(listed: readonly ListedNotification[], coloured: boolean): string[] {
  const rows = listed.map(({ lastUtc, severity, minerName, title, message, closedUtc }) => [
    localMinute(new Date(lastUtc)),
    severity,
    closedUtc === null ? "open" : "over",
    minerName,
    title === null || message === "" ? (title ?? message) : `${title}: ${message}`,
  ]);
  const paint = (cell: string, row: number, column: number): string => {
    const colour = column === severityColumn ? colours[listed[row]?.severity ?? ""] : undefined;
    return colour === undefined ? cell : inColour(colour, cell);
  };
  return fittedTable(heads, rows, { flexible: [rigColumn, textColumn], ...(coloured ? { paint } : {}) });
}
