import { once } from "node:events";
import { registerHooks } from "node:module";
import { connect as connectSocket, createServer } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { connect, connectAsync, ErrorWithReasonCode, type IClientOptions, type MqttClient } from "mqtt";
import { type Logger, pino } from "pino";
import type { MqttSettings } from "../../src/config/mqtt.ts";
import { type Broker, brokerLimits, startBroker } from "../../src/mqtt/broker.ts";
import { problem } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { until, within } from "../until.ts";
import { type LogLine, recordingLog } from "./bridged.ts";

const log = pino({ level: "silent" });
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Settings = Pick<MqttSettings, "broker" | "username" | "password">;
const here: Settings = { broker: { host: "127.0.0.1", port: 0 } };
const guarded: Settings = { broker: { host: "0.0.0.0", port: 0 }, username: "home", password: "a-good-one" };

async function open(settings: Settings = here, to: Logger = log): Promise<Broker> {
  const broker = await startBroker({ settings, log: to });
  closing.push(() => broker.close());
  return broker;
}

async function client(broker: Broker, options: IClientOptions = {}): Promise<MqttClient> {
  const connected = await connectAsync(broker.url, { reconnectPeriod: 0, protocolVersion: 5, ...options }, false);
  connected.on("error", () => undefined);
  closing.push(() => connected.endAsync(true));
  return connected;
}

interface Got {
  readonly topic: string;
  readonly text: string;
  readonly retained: boolean;
  readonly correlation: string | undefined;
}

/** The next message. */
function next(subscriber: MqttClient): Promise<Got> {
  const got = new Promise<Got>((resolve) =>
    subscriber.once("message", (topic, payload, { retain, properties }) =>
      resolve({ topic, text: String(payload), retained: retain, correlation: properties?.correlationData?.toString() }),
    ),
  );
  return within(got, "the next message to the subscriber");
}

/** Resolves when its connection ends, however. */
const closed = (each: MqttClient): Promise<void> =>
  within(new Promise((resolve) => each.once("close", () => resolve())), "the broker to end the client's connection");

const isAbout =
  (pattern: RegExp) =>
  ({ msg }: LogLine): boolean =>
    pattern.test(msg);

/** The code with which something was refused. */
async function code(promise: Promise<unknown>): Promise<number> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ErrorWithReasonCode) return error.code;
    throw error;
  }
  throw new Error("it was not refused");
}

describe.each([4, 5] as const)("the embedded broker, with a client of MQTT %d", (protocolVersion) => {
  test("delivers messages, and retained ones to later subscribers", async () => {
    const broker = await open();
    const [speaker, hearer] = [await client(broker, { protocolVersion }), await client(broker, { protocolVersion })];
    await hearer.subscribeAsync("plug/+", { qos: 1 });
    const live = next(hearer);
    await speaker.publishAsync("plug/state", "ON", { qos: 1, retain: true });
    expect(await live).toMatchObject({ topic: "plug/state", text: "ON", retained: false });
    const later = await client(broker, { protocolVersion });
    const kept = next(later);
    await later.subscribeAsync("plug/#", { qos: 1 });
    expect(await kept).toMatchObject({ topic: "plug/state", text: "ON", retained: true });
  });

  test("publishes the will of a client that has disconnected", async () => {
    const broker = await open();
    const hearer = await client(broker, { protocolVersion });
    await hearer.subscribeAsync("plug/online");
    const will = { topic: "plug/online", payload: Buffer.from("no"), qos: 1 as const, retain: true };
    const gone = await client(broker, { protocolVersion, will });
    const last = next(hearer);
    gone.stream.destroy();
    expect((await last).text).toBe("no");
  });

  test("accepts only clients with the username and password, if they are set", async () => {
    const broker = await open(guarded);
    const refused = protocolVersion === 5 ? 134 : 4;
    expect(await code(client(broker, { protocolVersion }))).toBe(refused);
    expect(await code(client(broker, { protocolVersion, username: "home" }))).toBe(refused);
    expect(await code(client(broker, { protocolVersion, username: "home", password: "a-good-On" }))).toBe(refused);
    expect(await code(client(broker, { protocolVersion, username: "hom", password: "a-good-one" }))).toBe(refused);
    const known = await client(broker, { protocolVersion, username: "home", password: "a-good-one" });
    expect(known.connected).toBe(true);
  });

  test("reserves its own topics", async () => {
    const broker = await open();
    const [speaker, hearer] = [await client(broker, { protocolVersion }), await client(broker, { protocolVersion })];
    await hearer.subscribeAsync("$SYS/mine");
    const heard: string[] = [];
    hearer.on("message", (topic) => heard.push(topic));
    if (protocolVersion === 5) {
      expect(await code(speaker.publishAsync("$SYS/mine", "1", { qos: 1 }))).toBe(135);
      expect(speaker.connected).toBe(true);
    } else {
      const ended = closed(speaker);
      speaker.publish("$SYS/mine", "1", { qos: 1 }, () => undefined);
      await ended;
    }
    const after = next(hearer);
    await hearer.subscribeAsync("end");
    await hearer.publishAsync("end", "1");
    await after;
    expect(heard).toEqual(["end"]);
  });

  test("disconnects only a client that publishes at a topic with too many levels", async () => {
    const broker = await open();
    const [deep, other] = [await client(broker, { protocolVersion }), await client(broker, { protocolVersion })];
    const fitting = new Array(brokerLimits.levels).fill("a").join("/");
    await deep.publishAsync(fitting, "1", { qos: 1 });
    const ended = closed(deep);
    deep.publish(`${fitting}/a`, "1", { qos: 0 }, () => undefined);
    await ended;
    expect(other.connected).toBe(true);
  });

  test("serves 200 clients, and each receives messages from the others", async () => {
    const broker = await open();
    const clients = await Promise.all(Array.from({ length: 200 }, () => client(broker, { protocolVersion })));
    await Promise.all(clients.map((each) => each.subscribeAsync("all")));
    const heard = Promise.all(clients.map(next));
    await clients[0]?.publishAsync("all", "hello", { qos: 1 });
    expect(new Set((await heard).map(({ text }) => text))).toEqual(new Set(["hello"]));
  });

  test("closes all connections and frees its port when it is closed", async () => {
    const broker = await startBroker({ settings: here, log });
    const each = await client(broker, { protocolVersion });
    const silent = connectSocket(Number(new URL(broker.url).port), "127.0.0.1");
    await once(silent, "connect");
    const ended = Promise.all([closed(each), within(once(silent, "close"), "the broker to end the silent connection")]);
    await broker.close();
    await ended;
    const port = Number(new URL(broker.url).port);
    expect((await open({ broker: { host: "127.0.0.1", port } })).url).toBe(broker.url);
  });
});

describe("the embedded broker", () => {
  test("disconnects a client that sends a packet that is too large, and serves the others", async () => {
    const broker = await open();
    const [large, other] = [await client(broker, { protocolVersion: 4 }), await client(broker)];
    await large.publishAsync("a", Buffer.alloc(brokerLimits.packet - 100), { qos: 1 });
    const ended = closed(large);
    large.publish("a", Buffer.alloc(brokerLimits.packet), { qos: 1 }, () => undefined);
    await ended;
    await other.publishAsync("a", "1", { qos: 1 });
  });

  test("announces the maximum packet size to a client of MQTT 5", async () => {
    const broker = await open();
    const each = connect(broker.url, { reconnectPeriod: 0, protocolVersion: 5 });
    closing.push(() => each.endAsync(true));
    const told = new Promise((resolve) => each.once("connect", (connack) => resolve(connack.properties)));
    const properties = await within(told, "the client to connect");
    expect(properties).toMatchObject({ maximumPacketSize: brokerLimits.packet });
  });

  test("forwards the response topic and correlation data of MQTT 5", async () => {
    const broker = await open();
    const [asker, answerer] = [await client(broker), await client(broker)];
    await answerer.subscribeAsync("ask");
    const asked = next(answerer);
    const properties = { responseTopic: "answer", correlationData: Buffer.from("17") };
    await asker.publishAsync("ask", "?", { qos: 1, properties });
    expect(await asked).toMatchObject({ text: "?", correlation: "17" });
  });

  test("retains messages up to its limit, and frees the space of cleared ones", async () => {
    const broker = await open();
    const speaker = await client(broker);
    const payload = Buffer.alloc(250_000);
    const room = Math.floor(brokerLimits.retained / (payload.length + 10));
    for (let kept = 0; kept < room; kept += 1)
      await speaker.publishAsync(`kept/${kept}`, payload, { qos: 1, retain: true });
    expect(await code(speaker.publishAsync("kept/more", payload, { qos: 1, retain: true }))).toBe(135);
    await speaker.publishAsync("kept/0", "", { qos: 1, retain: true });
    await speaker.publishAsync("kept/more", payload, { qos: 1, retain: true });
  });

  test("limits the number of retained messages, and logs why it refuses more", async () => {
    const { log: heard, lines } = recordingLog();
    const broker = await open(here, heard);
    const speaker = await client(broker);
    const many = Array.from({ length: brokerLimits.retainedMessages }, (_, index) =>
      speaker.publishAsync(`kept/${index}`, "1", { qos: 1, retain: true }),
    );
    await Promise.all(many);
    expect(await code(speaker.publishAsync("kept/more", "1", { qos: 1, retain: true }))).toBe(135);
    await speaker.publishAsync("kept/0", "another", { qos: 1, retain: true });
    await until(() => lines.some(isAbout(/retained messages have reached the limit/)), "the log to say why");
  });

  test("counts the properties of a retained message too, and disconnects a client whose message has too many", async () => {
    const { log: heard, lines } = recordingLog();
    const broker = await open(here, heard);
    const [large, speaker] = [await client(broker), await client(broker)];
    const ended = closed(large);
    const userProperties = { note: "x".repeat(brokerLimits.properties) };
    large.publish("large", "1", { qos: 1, properties: { userProperties } }, () => undefined);
    await ended;
    await until(() => lines.some(isAbout(/more than 16384 bytes of properties/)), "the log to say why");
    const say = (index: number, note: string) =>
      speaker.publishAsync(`kept/${index}`, "1", { qos: 1, retain: true, properties: { userProperties: { note } } });
    const note = "x".repeat(brokerLimits.properties - 100);
    const room = Math.floor(brokerLimits.retained / note.length);
    for (let index = 0; index < room - 100; index += 1) await say(index, note);
    const more = Promise.all(Array.from({ length: 100 }, (_, index) => say(room + index, note)));
    await expect(more).rejects.toThrow();
  });

  test("keeps a thousand messages for a disconnected client, and logs that further ones are dropped", async () => {
    const { log: heard, lines } = recordingLog();
    const broker = await open(here, heard);
    const session = { clientId: "gone", clean: true, properties: { sessionExpiryInterval: 300 } };
    const gone = await client(broker, session);
    await gone.subscribeAsync("all", { qos: 1 });
    const left = closed(gone);
    gone.stream.destroy();
    await left;
    const speaker = await client(broker);
    for (let index = 0; index < brokerLimits.queue + 500; index += 1)
      await speaker.publishAsync("all", String(index), { qos: 1 });
    await until(
      () => lines.some(isAbout(/messages for "gone" are dropped, because 1000 already wait/)),
      "the log to say why",
    );
    const back = connect(broker.url, { ...session, reconnectPeriod: 0, protocolVersion: 5, clean: false });
    closing.push(() => back.endAsync(true));
    const texts: string[] = [];
    back.on("message", (_topic, payload) => texts.push(String(payload)));
    await until(() => texts.length >= brokerLimits.queue, "the stored messages");
    expect(texts).toEqual([...Array(brokerLimits.queue).keys()].map(String));
    // There is room again.
    const later = next(back);
    await until(async () => {
      await speaker.publishAsync("all", "later", { qos: 1 });
      return texts.includes("later");
    }, "a later message to arrive");
    expect((await later).text).toBe("later");
  });

  test("disconnects a client that never acknowledges, and one that never releases its QoS 2 messages", async () => {
    const { log: heard, lines } = recordingLog();
    const broker = await open(here, heard);
    const deaf = await client(broker, {
      clientId: "deaf",
      properties: { sessionExpiryInterval: 300 },
      customHandleAcks: () => undefined,
    });
    await deaf.subscribeAsync("all", { qos: 1 });
    const cutDeaf = closed(deaf);
    const speaker = await client(broker);
    for (let index = 0; index <= brokerLimits.queue; index += 1) await speaker.publishAsync("all", "1", { qos: 1 });
    await cutDeaf;
    expect(lines.some(isAbout(/"deaf": 1000 messages wait for its acknowledgements/))).toBe(true);

    const socket = connectSocket(Number(new URL(broker.url).port), "127.0.0.1");
    const cut = within(once(socket, "close"), "the broker to cut off the one that releases nothing");
    socket.on("error", () => undefined);
    // CONNECT of MQTT 3.1.1 as "hoard", then PUBLISH with QoS 2 under ids of their own.
    socket.write(Buffer.from("101100044d515454040200000005686f617264", "hex"));
    await within(once(socket, "data"), "the broker to welcome it");
    socket.resume();
    const id = Buffer.alloc(2);
    for (let index = 1; index <= brokerLimits.queue + 1; index += 1) {
      id.writeUInt16BE(index);
      socket.write(Buffer.concat([Buffer.from("3406000161", "hex"), id, Buffer.from("x")]));
    }
    await cut;
    await until(() => lines.some(isAbout(/"hoard": 1000 messages with QoS 2 wait/)), "the log to say why");
    // The same is let in again: what it had sent is forgotten.
    const again = await client(broker, { clientId: "hoard" });
    await again.publishAsync("a", "1", { qos: 2 });
  });

  test("refuses a CONNECT with a will that is too large", async () => {
    const broker = await open();
    const will = { topic: "a", payload: Buffer.alloc(brokerLimits.connect), qos: 0 as const, retain: false };
    await expect(client(broker, { will })).rejects.toThrow();
  });

  test("accepts nothing from a web page that posts to its port", async () => {
    const broker = await open();
    const hearer = await client(broker);
    const heard: string[] = [];
    hearer.on("message", (topic) => heard.push(topic));
    await hearer.subscribeAsync("#");
    const socket = connectSocket(Number(new URL(broker.url).port), "127.0.0.1");
    const ended = within(once(socket, "close"), "the broker to end the web page's connection");
    // A whole CONNECT of MQTT 3.1.1 and a PUBLISH behind a head of HTTP.
    const connect = Buffer.from("100d00044d5154540402003c000161", "hex");
    const publish = Buffer.from("30050001782d31", "hex");
    const head = Buffer.from("POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: text/plain\r\n\r\n");
    socket.write(Buffer.concat([head, connect, publish, connect, publish]));
    await ended;
    const after = next(hearer);
    await hearer.publishAsync("end", "1");
    await after;
    expect(heard).toEqual(["end"]);
  });

  test("is reached on loopback if it listens on all addresses", async () => {
    expect((await open(guarded)).url).toMatch(/^mqtt:\/\/127\.0\.0\.1:\d+$/);
  });

  test.each([
    ["without a password", { broker: { host: "0.0.0.0", port: 0 }, username: "home" }],
    ["with an empty password", { broker: { host: "::", port: 0 }, username: "home", password: "" }],
    ["without a username", { broker: { host: "192.0.2.1", port: 0 }, password: "a-good-one" }],
  ])("does not listen beyond loopback %s", async (_, settings) => {
    const refused = await problem(startBroker({ settings, log }));
    expect(refused.message).toMatch(/needs a login; set mqtt.username and mqtt.password$/);
  });

  test("reports that its port is in use", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { code: kind, message } = await problem(
      startBroker({ settings: { broker: { host: "127.0.0.1", port } }, log }),
    );
    expect(kind).toBe("config.invalid");
    expect(message).toContain(`cannot listen on 127.0.0.1 port ${port}: another program listens there`);
  });

  test("reports that its package is not installed", async () => {
    const hooks = registerHooks({
      resolve(specifier, context, next) {
        if (specifier !== "aedes") return next(specifier, context);
        throw Object.assign(new Error("Cannot find package 'aedes'"), { code: "ERR_MODULE_NOT_FOUND" });
      },
    });
    onTestFinished(() => hooks.deregister());
    const loadedAgain = new URL("../../src/mqtt/broker.ts?without-aedes", import.meta.url).href;
    const { startBroker: startAnew }: typeof import("../../src/mqtt/broker.ts") = await import(loadedAgain);
    await expect(startAnew({ settings: here, log })).rejects.toMatchObject({
      code: "config.invalid",
      message: expect.stringContaining("npm install aedes@2.0.0-beta.1"),
    });
  });
});
