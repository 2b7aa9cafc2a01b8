import { expect, jest, test } from "@jest/globals";
import { momentNow, SendDeadline } from "../../src/async/send-deadline.ts";
import type { Publication } from "../../src/mqtt/mqtt-link.ts";
import { Outgoing, type Wire } from "../../src/mqtt/outgoing.ts";
import { fakeTimers } from "../fake-timers.ts";

/** A broker that accepts so many messages and acknowledges them on command. */
function broker(window = 10) {
  const sent: Publication[] = [];
  const unacknowledged: (() => void)[] = [];
  const wire: Wire = {
    send: (publication, arrived) => {
      sent.push(publication);
      unacknowledged.push(arrived);
    },
    hasRoom: true,
    isEmpty: true,
    window,
    nudge: () => undefined,
  };
  const acknowledge = (): void => {
    for (let arrived = unacknowledged.shift(); arrived !== undefined; arrived = unacknowledged.shift()) arrived();
  };
  return { wire, sent, acknowledge };
}

function outgoing(time = { now: 0 }) {
  const dropped: number[] = [];
  const out = new Outgoing({ now: () => time.now, dropped: (count) => void dropped.push(count) });
  const say = (topic: string, payload: string, more: Partial<Publication> = {}): void =>
    out.publish({ topic, payload, qos: 1, retain: false, ...more });
  const keep = (topic: string, payload: string): void => say(topic, payload, { retain: true });
  return { out, dropped, say, keep };
}

const texts = (sent: readonly Publication[]): string[] => sent.map(({ topic, payload }) => `${topic} ${payload}`);

test("only the newest message of a retained topic waits for a slow broker", () => {
  const { out, dropped, keep } = outgoing();
  const { wire, sent, acknowledge } = broker(1);
  out.open(wire);
  for (let count = 0; count < 50_000; count += 1) keep(`miner/${count % 3}`, String(count));
  acknowledge();
  expect(texts(sent)).toEqual(["miner/0 0", "miner/1 49999", "miner/2 49997", "miner/0 49998"]);
  expect(dropped).toEqual([]);
});

test("events and retained messages keep their order", () => {
  const { out, say, keep } = outgoing();
  const { wire, sent, acknowledge } = broker(1);
  out.open(wire);
  for (const word of ["a", "b", "c", "d", "e", "f"]) (word < "c" || word > "d" ? say : keep)(word, "1");
  acknowledge();
  expect(texts(sent)).toEqual(["a 1", "b 1", "c 1", "d 1", "e 1", "f 1"]);
});

test("the newest 10,000 events wait for a slow broker, and the number of dropped ones is reported once", () => {
  const { out, dropped, say } = outgoing();
  const { wire, sent, acknowledge } = broker();
  out.open(wire);
  for (let count = 0; count < 12_010; count += 1) say("event", String(count));
  expect(dropped).toEqual([]);
  acknowledge();
  expect(sent).toHaveLength(10_010);
  expect(sent[10]?.payload).toBe("2010");
  expect(dropped).toEqual([2_000]);
});

test("long responses wait up to 16 million characters, and the last one always", () => {
  const { out, dropped, say } = outgoing();
  const { wire, sent, acknowledge } = broker(1);
  out.open(wire);
  say("first", "");
  const long = "x".repeat(6_000_000);
  for (const word of ["a", "b", "c"]) say(word, long);
  say("all", "x".repeat(20_000_000));
  acknowledge();
  expect(sent.map(({ topic }) => topic)).toEqual(["first", "all"]);
  expect(dropped).toEqual([3]);
});

test("at most 8 million characters are under way, or one message", () => {
  const { out, say } = outgoing();
  const { wire, sent, acknowledge } = broker(100);
  out.open(wire);
  for (let count = 0; count < 5; count += 1) say(String(count), "x".repeat(3_000_000));
  expect(sent).toHaveLength(3);
  acknowledge();
  expect(sent).toHaveLength(5);
});

test("after a reconnect, the newest thousand unexpired events are sent, and nothing retained", () => {
  const time = { now: 0 };
  const { out, dropped, say, keep } = outgoing(time);
  const first = broker(1);
  out.open(first.wire);
  say("under way", "1");
  keep("state", "old");
  say("event", "expires", { expiry: 5 });
  for (let count = 0; count < 1_500; count += 1) say("event", String(count), { expiry: 60 });
  out.lost();
  keep("state", "away");
  time.now = 10_000;
  const second = broker(2_000);
  out.open(second.wire);
  expect(second.sent).toHaveLength(1_000);
  expect(second.sent.map(({ topic }) => topic)).not.toContain("state");
  expect(second.sent[0]?.payload).toBe("500");
  expect(dropped).toEqual([501]);
});

test("messages with a deadline leave in their order once nothing waits in front of them, unless they expire", async () => {
  fakeTimers();
  const time = { now: 0 };
  const { out, say } = outgoing(time);
  const { wire, sent, acknowledge } = broker();
  let isEmpty = false;
  out.open({
    ...wire,
    hasRoom: true,
    get isEmpty() {
      return isEmpty;
    },
  });
  const sendBefore = new SendDeadline();
  sendBefore.moveTo(momentNow(), 3_600_000);
  say("plug", "expires", { sendBefore, expiry: 10 });
  jest.advanceTimersByTime(60_000);
  time.now = 10_000;
  for (const payload of ["on", "off"]) say("plug", payload, { sendBefore, expiry: 10 });
  say("other", "1");
  out.publish({ topic: "telemetry", payload: "1", qos: 0, retain: false });
  jest.advanceTimersByTime(60_000);
  expect(sent).toEqual([]);
  isEmpty = true;
  jest.advanceTimersByTime(60_000);
  expect(texts(sent)).toEqual(["plug on", "plug off", "other 1"]);
  acknowledge();
  isEmpty = false;
  say("plug", "late", { sendBefore, expiry: 3_600 });
  const settled = out.settled();
  sendBefore.end();
  jest.advanceTimersByTime(60_000);
  await settled;
  expect(sent).toHaveLength(3);
});
