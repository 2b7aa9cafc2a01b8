import type { Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { momentNow, SendDeadline, sendingBefore } from "../../src/async/send-deadline.ts";
import type { ReceivedMessage } from "../../src/contract/messages.ts";
import { startBroker } from "../../src/mqtt/broker.ts";
import { BrokerMessages } from "../../src/mqtt/messages.ts";
import { openConnection } from "../../src/mqtt/mqtt-connection.ts";
import { startRelay } from "../relay.ts";
import { until } from "../until.ts";
import { messagesAt } from "./messages-at.ts";
import { startMosquitto, subscribeAt } from "./mosquitto.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const brokers = {
  mosquitto: async (): Promise<string> => {
    const broker = await startMosquitto();
    closing.push(() => broker.stop());
    return broker.url;
  },
  "the embedded broker": async (): Promise<string> => {
    const settings = { broker: { host: "127.0.0.1", port: 0 } };
    const broker = await startBroker({ settings, log: pino({ level: "silent" }) });
    closing.push(() => broker.close());
    return broker.url;
  },
};

async function opened(url: string, now?: () => number) {
  const { messages, close } = await messagesAt(url, now);
  const others = await subscribeAt(url, ["said/#"]);
  closing.push(close, () => others.close());
  const heardAt = (topic: string): { readonly heard: ReceivedMessage[]; readonly end: () => void } => {
    const heard: ReceivedMessage[] = [];
    return { heard, end: messages.listen(topic, (message) => heard.push(message)) };
  };
  return { messages, others, heardAt };
}

const texts = (heard: readonly ReceivedMessage[]): string[] => heard.map(({ payload }) => payload);

describe.each(Object.entries(brokers))("messages at %s", (_, broker) => {
  test("are delivered to all listeners with the time of arrival", async () => {
    let now = 1000;
    const { others, heardAt } = await opened(await broker(), () => now);
    await others.publish("room", "20", { retain: true });
    const first = heardAt("room");
    await until(() => first.heard.length === 1, "the retained message");
    now = 2000;
    await others.publish("room", "21", { retain: true });
    await until(() => first.heard.length === 2, "the new message");
    expect(first.heard).toEqual([
      { payload: "20", at: 1000, retained: true },
      { payload: "21", at: 2000, retained: false },
    ]);
    now = 3000;
    expect(heardAt("room").heard).toEqual([{ payload: "21", at: 2000, retained: false }]);
  });

  test("are no longer delivered to a listener that has ended, but still to others", async () => {
    const { others, heardAt } = await opened(await broker());
    const [first, second] = [heardAt("room"), heardAt("room")];
    await others.publish("room", "20", { retain: true });
    await until(() => second.heard.length === 1, "the retained message");
    first.end();
    await others.publish("room", "21");
    await until(() => second.heard.length === 2, "the new message to reach the other listener");
    expect([texts(first.heard), texts(second.heard)]).toEqual([["20"], ["20", "21"]]);
    second.end();
    const third = heardAt("room");
    await others.publish("room", "22");
    await until(() => third.heard.length === 2, "both messages to reach the new listener");
    expect([texts(second.heard), texts(third.heard)]).toEqual([
      ["20", "21"],
      ["21", "22"],
    ]);
  });

  test("are published to others", async () => {
    const { messages, others } = await opened(await broker());
    expect(messages.publish("said/plug", "ON")).toBe(true);
    expect(await others.until(({ topic }) => topic === "said/plug")).toMatchObject({ payload: "ON", retained: false });
  });

  test("stay at the broker if they are to be retained", async () => {
    const url = await broker();
    const { messages, others } = await opened(url);
    expect(messages.publish("said/news", "once")).toBe(true);
    expect(messages.publish("said/alarm", "on", true)).toBe(true);
    await others.until(({ topic }) => topic === "said/alarm");
    const later = await subscribeAt(url, ["said/#"]);
    closing.push(() => later.close());
    expect(await later.until(() => true)).toMatchObject({ topic: "said/alarm", payload: "on", retained: true });
  });
});

test("a retained message is delivered once, not again after each reconnect", async () => {
  const broker = await startMosquitto();
  closing.push(() => broker.stop());
  const { others, heardAt } = await opened(broker.url);
  await others.publish("room", "20", { retain: true });
  const { heard } = heardAt("room");
  const marks = heardAt("mark");
  await until(() => heard.length === 1, "the retained message");
  await broker.kill();
  await broker.start();
  const sensor = await subscribeAt(broker.url);
  closing.push(() => sensor.close());
  await sensor.publish("room", "20", { retain: true });
  await sensor.publish("mark", "again", { retain: true });
  await until(() => texts(marks.heard).includes("again"), "the message after the reconnect");
  expect(heard.filter(({ retained }) => retained)).toHaveLength(1);
});

test("subscriptions made before there is a connection work once there is", async () => {
  const url = await brokers.mosquitto();
  const others = await subscribeAt(url);
  await others.publish("room", "20", { retain: true });
  const messages = new BrokerMessages(Date.now);
  const heard: ReceivedMessage[] = [];
  messages.listen("room", (message) => heard.push(message));
  expect(messages.publish("said/plug", "ON")).toBe(false);
  const connection = await openConnection({
    settings: { url, clientId: "rigbridge" },
    will: { topic: "rigbridge/bridge/state", payload: "offline" },
    log: pino({ level: "silent" }),
  });
  closing.push(
    () => connection.close(),
    () => others.close(),
  );
  messages.join(connection);
  await until(() => heard.length === 1, "the retained message");
  expect(texts(heard)).toEqual(["20"]);
});

test("nothing is published while there is no connection, nor later", async () => {
  const broker = await startMosquitto();
  closing.push(() => broker.stop());
  const { messages, heardAt } = await opened(broker.url);
  const marks = heardAt("mark");
  await broker.kill();
  await until(() => !messages.publish("said/lost", "ON"), "the client to notice that the broker is gone");
  expect(messages.publish("said/late", "ON")).toBe(false);
  await broker.start();
  const others = await subscribeAt(broker.url, ["said/#"]);
  closing.push(() => others.close());
  await others.publish("mark", "back", { retain: true });
  await until(() => texts(marks.heard).includes("back"), "the message after the reconnect");
  messages.publish("said/now", "ON");
  await others.until(({ topic }) => topic === "said/now");
  expect(others.received.map(({ topic }) => topic)).not.toContain("said/late");
});

/** Leads to a broker, and can stop what either of the two sends. */
async function stoppable(port: number) {
  const sockets: Record<"client" | "broker", Socket[]> = { client: [], broker: [] };
  const relay = await startRelay({ host: "127.0.0.1", port }, (client, broker) => {
    sockets.client.push(client);
    sockets.broker.push(broker);
    client.on("data", (bytes) => broker.write(bytes));
    broker.on("data", (bytes) => client.write(bytes));
  });
  closing.push(() => relay.close());
  return {
    url: `mqtt://127.0.0.1:${relay.port}`,
    stop: (from: "client" | "broker") => sockets[from].forEach((socket) => void socket.pause()),
    go: (from: "client" | "broker") => sockets[from].forEach((socket) => void socket.resume()),
  };
}

test.each([
  // More than it takes at once.
  ["acknowledges nothing", "broker", Array.from({ length: 20 }, () => "x")],
  // More than the buffers of the system hold.
  ["reads nothing", "client", Array.from({ length: 3 }, () => "x".repeat(2_500_000))],
] as const)("work whose deadline passes while the broker %s publishes nothing any more", async (_, from, before) => {
  const broker = await startMosquitto();
  closing.push(() => broker.stop());
  const others = await subscribeAt(broker.url, ["said/#"]);
  closing.push(() => others.close());
  const way = await stoppable(broker.port);
  const { messages, close } = await messagesAt(way.url);
  closing.push(close);
  const lease = new SendDeadline();
  const publish = (payload: string): boolean => sendingBefore(lease, () => messages.publish("said/plug", payload));
  lease.moveTo(momentNow(), 3_600_000);
  way.stop(from);
  for (const payload of before) messages.publish("filler", payload);
  publish("late");
  lease.end();
  way.go(from);
  messages.publish("said/plug", "without a deadline");
  await others.until(({ payload }) => payload === "without a deadline");
  lease.moveTo(momentNow(), 3_600_000);
  publish("again");
  await others.until(({ payload }) => payload === "again");
  expect(others.received.map(({ payload }) => payload)).toEqual(["without a deadline", "again"]);
});
