import { openCommands } from "../../src/store/commands.ts";
import { noReserve } from "../../src/store/disk-reserve.ts";
import { openNotifications } from "../../src/store/notifications.ts";
import { openRunMark } from "../../src/store/run-mark.ts";
import { SqliteConnection } from "../../src/store/sqlite-connection.ts";
import { newNotification } from "../notification-rows.ts";

/**
 * A process of its own over the store named on its command line, which from its third command on is full to SQLite.
 * Says which ids it gave to five commands and five notifications, and waits to be killed.
 */
const file = process.argv[2] ?? "";
const connection = new SqliteConnection(file, { durability: "normal", busyTimeoutMs: 0, reserve: noReserve });
const mark = await openRunMark(connection, `${file}.run`, Date.now);
const notifications = await openNotifications(connection, mark, Date.now);
const commands = await openCommands(connection, mark, Date.now);
await mark.begin();
const given: { commands: number[]; notifications: number[] } = { commands: [], notifications: [] };
for (let count = 0; count < 5; count += 1) {
  if (count === 2) connection.prepare("pragma max_page_count = 1").get();
  const message = count < 2 ? "" : "x".repeat(10_000);
  const command = { minerId: 1, minerName: "", actor: message, action: "stop", parameters: {} };
  given.commands.push((await commands.add(command)).id);
  given.notifications.push(notifications.raise(newNotification({ message }))?.id ?? 0);
}
process.stdout.write(`${JSON.stringify(given)}\n`);
setInterval(() => undefined, 60_000);
