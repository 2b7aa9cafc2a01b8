import { Script } from "node:vm";
import { describe, expect, jest, test } from "@jest/globals";
import { type Change, changesSince, seenWith } from "../../nodes/notification-in/changes.ts";
import { textFilter } from "../../nodes/notification-in/filters.ts";
import { MessageSender, RateLimit } from "../../nodes/notification-in/messages.ts";
import { Poller } from "../../nodes/notification-in/poller.ts";
import { leastSeverity, NotificationInConfig } from "../../nodes/notification-in/settings.ts";
import type { Notification } from "../../src/contract/resources.ts";
import { onTestFinished } from "../finished.ts";
import { addedFields } from "../notification-rows.ts";
import { english } from "./english.ts";
import { HeldClock } from "./held-clock.ts";

const notification = (id: number, changed: Partial<Notification> = {}): Notification => ({
  id,
  minerId: null,
  minerName: "Rig A",
  title: null,
  source: "System",
  message: `Message ${id}`,
  timeUtc: new Date(1_700_000_000_000 + id * 1000).toISOString(),
  time: `2026-01-01 00:00:${String(id).padStart(2, "0")}`,
  isAcknowledged: false,
  isWarning: false,
  ...addedFields,
  ...changed,
});

const words = (changes: readonly Change[]): string[] =>
  changes.map(({ event, notification: { id, message } }) => `${event} ${id} ${message}`);

describe("the changes of notifications", () => {
  const before = seenWith(null, [notification(3), notification(2)]);

  test("are none while only times differ", () => {
    const list = [notification(3), notification(2, { timeUtc: new Date(0).toISOString() })];
    expect(changesSince(before, list, [])).toEqual([]);
  });

  test("are in order of time", () => {
    const list = [notification(5), notification(4), notification(3, { isAcknowledged: true })];
    expect(words(changesSince(before, list, []))).toEqual([
      "closed 2 Message 2",
      "changed 3 Message 3",
      "new 4 Message 4",
      "new 5 Message 5",
    ]);
  });

  test("include a notification that came and went between two polls, once", () => {
    const list = [notification(3), notification(2)];
    const recorded = [notification(4), notification(4)];
    expect(words(changesSince(before, list, recorded))).toEqual(["new 4 Message 4", "closed 4 Message 4"]);
    expect(changesSince(seenWith(before, list, recorded), list, recorded)).toEqual([]);
  });

  test("are the end of a trouble once, not its repeats, and nothing when the end is removed from the list", () => {
    const closedUtc = new Date(1_700_000_100_000).toISOString();
    const repeated = notification(2, { count: 4, lastUtc: closedUtc });
    expect(changesSince(before, [notification(3), repeated], [])).toEqual([]);
    const over = notification(2, { closedUtc });
    expect(words(changesSince(before, [notification(3), over], []))).toEqual(["closed 2 Message 2"]);
    const later = seenWith(before, [notification(3), over]);
    expect(changesSince(later, [notification(3), over], [over])).toEqual([]);
    expect(changesSince(later, [notification(3)], [])).toEqual([]);
  });

  test("include a trouble that came and ended between two polls, and one that became more severe", () => {
    const ended = notification(4, { closedUtc: new Date(1_700_000_100_000).toISOString() });
    const worse = notification(3, { severity: "critical" });
    expect(words(changesSince(before, [ended, worse, notification(2)], []))).toEqual([
      "changed 3 Message 3",
      "new 4 Message 4",
      "closed 4 Message 4",
    ]);
  });

  test("never close what was over at once", () => {
    const { timeUtc } = notification(4);
    const share = notification(4, { closedUtc: timeUtc });
    expect(words(changesSince(before, [share, notification(3), notification(2)], []))).toEqual(["new 4 Message 4"]);
    expect(words(changesSince(before, [notification(3), notification(2)], [share]))).toEqual(["new 4 Message 4"]);
    const later = seenWith(before, [share, notification(3), notification(2)]);
    expect(changesSince(later, [notification(3), notification(2)], [])).toEqual([]);
  });

  test("do not repeat a notification whose event arrives late", () => {
    expect(changesSince(seenWith(before, [notification(3)]), [notification(3)], [notification(2)])).toEqual([]);
  });

  test("include a different notification with a reused id", () => {
    const other = notification(2, { message: "Another", time: "2026-02-02 00:00:00", timeUtc: "2026-02-02T00:00:00Z" });
    expect(words(changesSince(before, [notification(3), other], []))).toEqual(["closed 2 Message 2", "new 2 Another"]);
  });
});

test("the least severity of a node that an earlier version made follows its choice of warnings", () => {
  const leastOf = (raw: object) => leastSeverity(NotificationInConfig.parse({ service: "s", scope: "all", ...raw }));
  expect([leastOf({}), leastOf({ warningsOnly: true }), leastOf({ warningsOnly: true, severity: "info" })]).toEqual([
    "info",
    "warning",
    "info",
  ]);
});

describe("a rate limit", () => {
  test("allows its number in any minute", () => {
    let now = 0;
    const rateLimit = new RateLimit(2, () => now);
    expect([rateLimit.take(), rateLimit.take(), rateLimit.take()]).toEqual([true, true, false]);
    now = 20_000;
    expect([rateLimit.take(), rateLimit.waitMs()]).toEqual([false, 40_000]);
    now = 60_000;
    expect([rateLimit.waitMs(), rateLimit.take(), rateLimit.take(), rateLimit.take()]).toEqual([0, true, true, false]);
  });
});

describe("a text filter", () => {
  test("searches title and message, ignoring case", () => {
    const contains = textFilter("contains", "OFFLINE");
    expect([contains(notification(1, { title: "Miner offline" })), contains(notification(1))]).toEqual([true, false]);
    const fits = textFilter("regex", "^message \\d$");
    expect([fits(notification(1)), fits(notification(12))]).toEqual([true, false]);
  });

  test("refuses an expression that takes forever", () => {
    const fits = textFilter("regex", "^(a+)+$");
    expect(() => fits(notification(1, { message: `${"a".repeat(60)}!` }))).toThrow(/slow-regex/);
    expect(fits(notification(1, { message: "aaa" }))).toBe(true);
  });

  test("gives an expression its time again while other programs have the processor, and not for ever", () => {
    const fits = textFilter("regex", "^(a+)+$");
    const slow = notification(1, { message: `${"a".repeat(60)}!` });
    let looked = 0;
    const used = (idleFor: number) => () => ({ user: looked++ < idleFor ? 0 : 1e9, system: 0 });
    const spy = jest.spyOn(process, "cpuUsage").mockImplementation(used(5));
    onTestFinished(() => void spy.mockRestore());
    expect(() => fits(slow)).toThrow(/slow-regex/);
    // Before the title, then before and after each of three tries: only the third used the processor.
    expect(looked).toBe(7);
    looked = 0;
    spy.mockImplementation(used(1_000));
    // As after its time, without the time.
    const run = jest.spyOn(Script.prototype, "runInContext").mockImplementation(() => {
      throw new Error("Script execution timed out");
    });
    onTestFinished(() => void run.mockRestore());
    expect(() => fits(slow)).toThrow(/slow-regex/);
    expect(looked).toBe(39);
  });
});

describe("the messages over the limit", () => {
  const farm = { miners: new Map() };
  const changes = (count: number): Change[] =>
    Array.from({ length: count }, (_, index) => ({ event: "new", notification: notification(index + 1) }));

  function open() {
    const clock = new HeldClock();
    const sent: unknown[] = [];
    const shown: string[] = [];
    const warned: string[] = [];
    const status = { done: (text: string) => shown.push(text), failed: (text: string) => shown.push(`! ${text}`) };
    const sender = new MessageSender({
      limit: 2,
      clock,
      translate: english,
      status,
      send: (msg) => sent.push(msg),
      warn: (text) => warned.push(text),
    });
    return { clock, sent, shown, warned, sender };
  }

  test("are counted in one message as soon as the limit allows, and never sent", () => {
    const { clock, sent, shown, sender } = open();
    expect(words(sender.send(changes(4), farm))).toEqual(["new 1 Message 1", "new 2 Message 2"]);
    clock.pass(30);
    sender.send([{ event: "closed", notification: notification(1) }], farm);
    expect(sent).toHaveLength(2);
    clock.pass(30);
    const message = "3 more notifications, over the limit of 2 per minute";
    expect(sent.slice(2)).toEqual([
      { event: "held-back", topic: "", miner: null, payload: { message, count: 3, new: 2, changed: 0, closed: 1 } },
    ]);
    expect(shown.slice(-2)).toEqual([`! ${message}`, message]);
    expect(clock.waiting).toBe(0);
    sender.send(changes(1), farm);
    expect(sent).toHaveLength(4);
  });

  test("are logged if the node closes before", () => {
    const { clock, warned, sender } = open();
    sender.send(changes(3), farm);
    sender.close();
    expect([clock.waiting, warned]).toEqual([0, ["1 more notifications, over the limit of 2 per minute"]]);
  });
});

describe("a poller", () => {
  test("polls on request with a minimum interval, one poll at a time, and automatically at its interval", async () => {
    const clock = new HeldClock();
    const polls: PromiseWithResolvers<void>[] = [];
    const wholes: boolean[] = [];
    const poll = (isWhole: boolean): Promise<void> => {
      wholes.push(isWhole);
      const next = Promise.withResolvers<void>();
      polls.push(next);
      return next.promise;
    };
    const poller = new Poller({ poll, clock, intervalMs: 30_000, minIntervalMs: 500 });
    const end = async (): Promise<void> => {
      polls.at(-1)?.resolve();
      await new Promise(setImmediate);
    };
    poller.soon();
    poller.soon();
    clock.pass(0);
    expect(polls).toHaveLength(1);
    poller.soon();
    clock.pass(60);
    expect(polls).toHaveLength(1);
    await end();
    clock.pass(0.5);
    expect(polls).toHaveLength(2);
    await end();
    expect(wholes).toEqual([false, true]);
    clock.pass(29);
    expect(polls).toHaveLength(2);
    clock.pass(1);
    expect(polls).toHaveLength(3);
    await end();
    poller.soon();
    clock.pass(0.5);
    await end();
    expect(wholes).toEqual([false, true, true, false]);
    polls.pop();
    poller.pause();
    clock.pass(60);
    expect([polls.length, clock.waiting]).toEqual([3, 0]);
    poller.soon();
    clock.pass(0);
    expect(polls).toHaveLength(4);
  });
});
