import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import {
  type ConnectionSettings,
  largestPacket,
  type MqttConnection,
  openConnection,
} from "../../src/mqtt/mqtt-connection.ts";
import type { Message } from "../../src/mqtt/mqtt-link.ts";
import { freePort } from "../free-port.ts";
import { until, within } from "../until.ts";
import { quick, recordingLog } from "./bridged.ts";
import { startMosquitto, subscribeAt } from "./mosquitto.ts";
import { startOldBroker } from "./old-broker.ts";
import { beginningOf, flood, startRudeBroker } from "./rude-broker.ts";
import { startWebBroker } from "./web-broker.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

async function broker(options: Parameters<typeof startMosquitto>[0] = {}) {
  const started = await startMosquitto(options);
  cleanup.push(() => started.stop());
  return started;
}

async function open(settings: Partial<ConnectionSettings> & { readonly url: string }, now: () => number = Date.now) {
  const { log, lines } = recordingLog();
  const connection = await openConnection({
    settings: { clientId: "bridge", ...settings },
    will: { topic: "home/bridge/state", payload: "offline" },
    log,
    now,
    reconnectDelays: quick,
  });
  cleanup.push(() => connection.close());
  return { connection, lines, sentences: () => lines.map(({ msg }) => msg) };
}

const connects = (connection: MqttConnection): Promise<void> =>
  within(new Promise((resolve) => connection.connected(() => resolve())), "the bridge to connect to the broker");

async function listening(url: string, filters?: readonly string[]) {
  const client = await subscribeAt(url, filters);
  cleanup.push(() => client.close());
  return client;
}

const message = { topic: "home/a", payload: "1", qos: 1, retain: false } as const;

describe("a connection", () => {
  test("uses MQTT 5, and publishes its will, retained, when it closes", async () => {
    const { url } = await broker();
    const { connection } = await open({ url });
    await connects(connection);
    expect(connection.version).toBe(5);
    await connection.close();
    const listener = await listening(url);
    const will = await listener.until(({ topic }) => topic === "home/bridge/state");
    expect(will).toMatchObject({ payload: "offline", retained: true });
    await expect(within(connection.ended, "the connection to end")).resolves.toBeUndefined();
  });

  test("falls back to 3.1.1 if the broker refuses 5", async () => {
    const { port } = await broker();
    const old = await startOldBroker(port);
    cleanup.push(() => old.close());
    const { connection, sentences } = await open({ url: old.url });
    await connects(connection);
    expect(connection.version).toBe(4);
    expect(sentences()).toEqual([expect.stringContaining("with MQTT 3.1.1")]);
    const listener = await listening(`mqtt://127.0.0.1:${port}`);
    connection.publish({ ...message, expiry: 10 });
    await listener.until(({ topic }) => topic === "home/a");
  });

  test("reconnects and subscribes again each time the broker is killed", async () => {
    const mosquitto = await broker();
    const { connection } = await open({ url: mosquitto.url });
    const heard: Message[] = [];
    connection.subscribe(["home/+/set"], (each) => heard.push(each));
    await connects(connection);
    for (let round = 0; round < 5; round += 1) {
      await mosquitto.kill();
      await until(() => !connection.isConnected, "the bridge to notice that the broker is gone");
      await mosquitto.start();
      await until(() => connection.isConnected, "the bridge to reconnect");
      const sender = await subscribeAt(mosquitto.url, ["nothing"]);
      await sender.publish("home/a/set", String(round));
      await until(() => heard.length > round, "the command to arrive");
      await sender.close();
    }
    expect(heard.map(({ payload }) => payload.toString())).toEqual(["0", "1", "2", "3", "4"]);
  });

  test("logs once that no broker answers, and connects as soon as there is one", async () => {
    const mosquitto = await broker();
    await mosquitto.kill();
    const { connection, sentences } = await open({ url: mosquitto.url });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(sentences()).toEqual([`No broker answers at 127.0.0.1:${mosquitto.port} (connection refused)`]);
    await mosquitto.start();
    await connects(connection);
  });

  test("logs once that the password is wrong, without the password", async () => {
    const { url } = await broker({ users: { anna: "right-password" } });
    const { sentences } = await open({ url, username: "anna", password: "wrong-password" });
    await until(() => sentences().length > 0, "the log to say that the password is wrong");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(sentences()).toEqual([
      expect.stringMatching(/refuses the username and password; check mqtt.username and mqtt.password$/),
    ]);
    const none = await open({ url });
    await until(() => none.sentences().length > 0, "the log to say that a password is wanted");
    expect(none.sentences()).toEqual([
      expect.stringMatching(/requires a username and password; set mqtt.username and mqtt.password$/),
    ]);
    const right = await open({ url, username: "anna", password: "right-password" });
    await connects(right.connection);
  });

  test("recognises a server that is not a broker", async () => {
    const { createServer } = await import("node:http");
    const port = await freePort();
    const server = createServer((_request, response) => response.end("hello")).listen(port, "127.0.0.1");
    cleanup.push(() => server.close());
    const { sentences } = await open({ url: `mqtt://127.0.0.1:${port}` });
    await until(() => sentences().length > 0, "the log to say what is wrong there");
    expect(sentences()[0]).toMatch(/127\.0\.0\.1/);
  });

  test("trusts a broker only with the certificate of its authority", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rigbridge-tls-"));
    cleanup.push(() => rmSync(folder, { recursive: true }));
    const [ca, key] = [join(folder, "ca.pem"), join(folder, "key.pem")];
    const wanted = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"];
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", ca, ...wanted], {
      stdio: "ignore",
    });
    const config = [`certfile ${ca}`, `keyfile ${key}`];
    const { url } = await broker({ config, scheme: "mqtts" });
    const wary = await open({ url });
    await until(() => wary.sentences().length > 0, "the log to say that the broker is not trusted");
    expect(wary.sentences()[0]).toMatch(/is not trusted: its certificate is signed by an unknown authority/);
    const trusting = await open({ url, ca, clientId: "other" });
    await connects(trusting.connection);
    await expect(open({ url, ca: join(folder, "none.pem") })).rejects.toThrow("mqtt.ca:");
  });
});

describe("a message published without a connection", () => {
  test("waits only if it must arrive and has not expired; telemetry and retained messages do not wait", async () => {
    const mosquitto = await broker();
    await mosquitto.kill();
    let now = Date.now();
    const { connection } = await open({ url: mosquitto.url }, () => now);
    connection.publish({ ...message, topic: "home/telemetry", qos: 0 });
    connection.publish({ ...message, topic: "home/retained", retain: true, expiry: 60 });
    connection.publish({ ...message, topic: "home/old", expiry: 5 });
    now += 6_000;
    connection.publish({ ...message, topic: "home/unbounded" });
    for (let count = 0; count < 1_500; count += 1)
      connection.publish({ ...message, payload: String(count), expiry: 60 });
    await connection.settled();
    const waiting = connects(connection);
    await mosquitto.start();
    const listener = await listening(mosquitto.url);
    await waiting;
    await connection.settled();
    connection.publish({ ...message, topic: "home/end" });
    await listener.until(({ topic }) => topic === "home/end");
    const topics = new Set(listener.received.map(({ topic }) => topic));
    for (const lost of ["home/telemetry", "home/retained", "home/old", "home/unbounded"])
      expect(topics).not.toContain(lost);
  });

  test("waits if it is among the newest thousand", async () => {
    const mosquitto = await broker();
    const listener = await listening(mosquitto.url, ["home/a"]);
    const { connection } = await open({ url: mosquitto.url });
    // Not connected yet.
    for (let count = 0; count < 1_500; count += 1)
      connection.publish({ ...message, payload: String(count), expiry: 60 });
    await listener.until(({ payload }) => payload === "1499");
    expect(listener.received[0]?.payload).toBe("500");
    expect(listener.received).toHaveLength(1_000);
  });
});

test("a message that the broker refuses for its size or rights is logged once and affects no other", async () => {
  const { url } = await broker({ config: ["max_packet_size 2000"] });
  const listener = await listening(url);
  const { connection, sentences } = await open({ url });
  await connects(connection);
  for (let count = 0; count < 3; count += 1)
    connection.publish({ ...message, topic: "home/large", payload: "x".repeat(5_000) });
  connection.publish({ ...message, topic: "home/small" });
  await listener.until(({ topic }) => topic === "home/small");
  await connection.settled();
  expect(sentences().filter((each) => /refuses some messages/.test(each))).toHaveLength(1);
  expect(connection.isConnected).toBe(true);
});

test("many QoS 1 messages are under way at once, in order", async () => {
  // A broker drops what a subscriber is too slow for, which is not what this is about.
  const { url } = await broker({ config: ["max_queued_messages 0"] });
  const listener = await listening(url, ["home/#"]);
  const { connection } = await open({ url });
  await connects(connection);
  for (let count = 0; count < 3_000; count += 1) connection.publish({ ...message, payload: String(count) });
  await connection.settled();
  await listener.until(({ payload }) => payload === "2999");
  expect(listener.received.map(({ payload }) => Number(payload))).toEqual([...Array(3_000).keys()]);
});

test("retained messages are delivered as such, but not to subscribers of fresh messages only", async () => {
  const { url } = await broker();
  const sender = await listening(url, ["nothing"]);
  await sender.publish("home/a", "kept", { retain: true });
  const { connection } = await open({ url });
  const all: Message[] = [];
  const fresh: Message[] = [];
  connection.subscribe(["home/+"], (each) => all.push(each));
  connection.subscribe(["home/a"], (each) => fresh.push(each), { fresh: true });
  await until(() => all.length > 0, "the retained message");
  expect(all[0]).toMatchObject({ retained: true });
  await sender.publish("home/a", "fresh");
  await until(() => fresh.some(({ payload }) => payload.toString() === "fresh"), "the fresh message");
  expect(fresh.filter(({ retained }) => !retained).map(({ payload }) => payload.toString())).toContain("fresh");
});

describe("a broker that sends too large packets", () => {
  test("is told the maximum packet size by MQTT 5, and does not send larger ones", async () => {
    const { url } = await broker();
    const sender = await listening(url, ["nothing"]);
    const { connection } = await open({ url });
    const sizes: number[] = [];
    connection.subscribe(["home/+"], ({ payload }) => sizes.push(payload.length));
    await connects(connection);
    await sender.publish("home/a", Buffer.alloc(largestPacket));
    await sender.publish("home/a", Buffer.alloc(largestPacket - 100));
    await until(() => sizes.length > 0, "the message that is not too large");
    expect(sizes).toEqual([largestPacket - 100]);
    expect(connection.isConnected).toBe(true);
  });

  test("is disconnected at the header of the packet, before the rest arrives, and reconnected", async () => {
    const sent: { readonly sent: number }[] = [];
    const rude = await startRudeBroker((socket) => {
      socket.write(beginningOf("home/a", 200_000_000));
      sent.push(flood(socket, 200_000_000));
    });
    cleanup.push(() => rude.close());
    const { connection, sentences } = await open({ url: rude.url });
    connection.subscribe(["home/a"], () => undefined);
    await until(() => rude.welcomed > 2, "the bridge to come back twice");
    // What was on its way in the buffers of two sockets.
    for (const each of sent) expect(each.sent).toBeLessThan(20_000_000);
    expect(sentences()).toContain(
      `The broker at ${new URL(rude.url).host} sends a packet of more than 4194304 bytes, so the connection is closed; reconnecting`,
    );
  });

  test("is disconnected if it sends with QoS 2", async () => {
    const rude = await startRudeBroker((socket) => void socket.write(beginningOf("home/a", 100, { qos: 2 })));
    cleanup.push(() => rude.close());
    const { sentences } = await open({ url: rude.url });
    await until(() => rude.welcomed > 1, "the bridge to come back");
    expect(sentences()).toContainEqual(expect.stringMatching(/sends a message with QoS 2/));
  });

  test("is disconnected over WebSockets too", async () => {
    const rude = await startRudeBroker((socket) => {
      socket.write(Buffer.concat([beginningOf("home/a", 9_000_000), Buffer.alloc(8_900_000)]));
    });
    cleanup.push(() => rude.close());
    const web = await startWebBroker(Number(new URL(rude.url).port), "/mqtt");
    cleanup.push(() => web.close());
    const { sentences } = await open({ url: web.url });
    await until(() => rude.welcomed > 1, "the bridge to come back");
    expect(sentences()).toContainEqual(expect.stringMatching(/sends a (packet|frame) of more than/));
  });
});
