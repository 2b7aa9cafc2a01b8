import { pino } from "pino";
import { Channels } from "../../../src/config/channels.ts";
import { ChannelBook } from "../../../src/service/notifications/channel-book.ts";
import { channelOperations } from "../../../src/service/notifications/channels.ts";
import { FarmNotices, type Notice, type NoticesContext } from "../../../src/service/notifications/notices.ts";
import { Outbox } from "../../../src/service/notifications/outbox.ts";
import { AccessBook } from "../../../src/service/users/access.ts";
import type { Store } from "../../../src/store/index.ts";
import { formatFor } from "../../../src/units/format.ts";

/** Nothing is known to be at any address. */
const targets = { refusal: () => null, resolvedRefusal: async () => null };

export const start = Date.parse("2026-03-01T12:00:00Z");

export const offline = (minerId: number, over: Partial<Notice> = {}): Notice => ({
  key: `disconnected:${minerId}`,
  minerId,
  title: "Disconnected",
  source: "System",
  message: "Cannot be reached: no answer",
  severity: "warning",
  ...over,
});

/** The outbox over a store, with a clock that the test holds. Every miner is "rig <id>" in the group Garage. */
export async function openOutboxRun(
  channels: readonly Record<string, unknown>[],
  store: Store,
  clock = { now: start },
  isCovered: NoticesContext["isCovered"] = () => false,
) {
  const now = () => clock.now;
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => lines.push(line) });
  const notices = new FarmNotices({
    log,
    notifications: store.notifications,
    minerOf: (id) => ({ name: `rig "${id}"`, uid: null, groupId: 1, demo: id === 666, inRepair: false }),
    isCovered,
    changed: () => undefined,
    handled: () => undefined,
  });
  const outbox = new Outbox({
    rows: store.outbox,
    mayAct: () => true,
    format: formatFor({ locale: "en-US", currency: "USD", timeZone: "UTC" }),
    now,
    log,
    timeZone: () => "UTC",
    targets,
    groupsOf: (id) => (id === 0 ? [] : ["Garage", "Hall"]),
  });
  const settings = Channels.parse(channels.map((each) => ({ key: each.type, ...each })));
  outbox.use(settings);
  notices.watch(outbox);
  await outbox.start();
  return {
    clock,
    notices,
    listed: () => store.notifications.list(),
    outbox,
    lines,
    store,
    /** Lets so many seconds pass, with a turn at their end. */
    pass: async (seconds: number): Promise<void> => {
      clock.now += seconds * 1000;
      await outbox.turn();
    },
    rows: () => [...store.outbox.rows()],
    operations: async () => {
      await store.channels.declare(new Map(settings.map(({ key }) => [key, { name: key, definition: null }])));
      const book = new ChannelBook(store, { channels: settings });
      return channelOperations({
        store,
        accessBook: new AccessBook(store),
        book,
        outbox,
        targets,
        notifying: () => [],
      });
    },
  };
}
