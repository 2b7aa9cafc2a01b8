import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { connectAsync } from "mqtt";
import { type Logger, pino } from "pino";
import { brokerLimits } from "../../src/mqtt/broker.ts";
import { type Bridge, MqttSettings, startMqtt } from "../../src/mqtt/index.ts";
import { caller, kinds, type Opened } from "../contract/kinds.ts";
import { freePort } from "../free-port.ts";
import { until, within } from "../until.ts";
import { bridgeTo, type LogLine, quick, recordingLog } from "./bridged.ts";
import { checkDevices } from "./home-assistant-checker.ts";
import { type Received, type Subscriber, subscribeAt } from "./mosquitto.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

const json = ({ payload }: Received): Record<string, unknown> => JSON.parse(payload);
const silent = pino({ level: "silent" });

let opened: Opened;
beforeAll(async () => {
  const [own] = kinds;
  if (own === undefined) throw new Error("there is no kind");
  opened = await own.open();
});
afterAll(() => opened.close());

/** The bridge and its broker, at this port. */
async function start(port: number, more: Partial<MqttSettings> = {}, log: Logger = silent): Promise<Bridge> {
  const settings = MqttSettings.parse({
    broker: { host: "127.0.0.1", port },
    interval: 1,
    responseTopics: ["answers"],
    ...more,
  });
  const service = opened.service;
  const bridge = await startMqtt({ service, settings, log, version: "test", folder: null, reconnectDelays: quick });
  cleanup.push(() => bridge.close());
  return bridge;
}

async function listening(
  port: number,
  ...more: Parameters<typeof subscribeAt> extends [string, ...infer R] ? R : []
): Promise<Subscriber> {
  const listener = await subscribeAt(`mqtt://127.0.0.1:${port}`, ...more);
  cleanup.push(() => listener.close());
  return listener;
}

async function topicsOfAll(): Promise<string[]> {
  const { groupList } = await opened.service.listMiners({}, caller);
  const groups = groupList.flatMap(({ id }) =>
    id > 0 ? [`rigbridge/group/${id}/state`, `homeassistant/device/rigbridge_group_${id}/config`] : [],
  );
  const miners = groupList.flatMap(({ minerList }) =>
    minerList.flatMap(({ uid }) => [
      `rigbridge/miner/${uid}/state`,
      `rigbridge/miner/${uid}/availability`,
      `homeassistant/device/rigbridge_miner_${uid}/config`,
    ]),
  );
  const others = ["bridge/state", "bridge/info", "summary", "notifications"].map((topic) => `rigbridge/${topic}`);
  return [...others, "homeassistant/device/rigbridge_farm/config", ...groups, ...miners].sort();
}

const uidOf = async (id: number) => (await opened.service.getMiner({ id }, caller)).uid;

describe("a bridge on the embedded broker", () => {
  test.each([5, 4] as const)(
    "publishes all topics and takes commands, with clients of MQTT %d",
    async (protocolVersion) => {
      const port = await freePort();
      await start(port);
      const topics = await topicsOfAll();
      const listener = await listening(port, ["#"], { protocolVersion });
      for (const topic of topics) await listener.until((heard) => heard.topic === topic);
      const configs = listener.received.filter(({ topic }) => topic.startsWith("homeassistant/"));
      expect(checkDevices(new Map(configs.map(({ topic, payload }) => [topic, payload])))).toEqual([]);
      const uid = await uidOf(opened.steered);
      for (const [word, is] of [
        ["OFF", false],
        ["ON", true],
      ] as const) {
        const from = listener.received.length;
        await listener.publish(`rigbridge/miner/${uid}/mining/set`, word);
        const answer = await listener.until(({ topic }) => topic === `rigbridge/miner/${uid}/response`, from);
        expect(json(answer)).toMatchObject({ status: "ok", data: { mining: word } });
        expect((await opened.service.getMiner({ id: opened.steered }, caller)).isRunning).toBe(is);
        await listener.until(
          (heard) => heard.topic === `rigbridge/miner/${uid}/state` && json(heard).mining === word,
          from,
        );
      }
    },
  );

  test("publishes everything again after a restart, while other clients' topics are lost", async () => {
    const port = await freePort();
    const before = await start(port);
    const listener = await listening(port);
    await listener.publish("plug/state", "ON", { retain: true });
    const topics = await topicsOfAll();
    for (const topic of topics) await listener.until((heard) => heard.topic === topic);
    await before.close();
    const from = listener.received.length;
    await start(port);
    // An earlier client reconnects and receives it as a new message.
    for (const topic of topics) await listener.until((heard) => heard.topic === topic && heard.payload !== "", from);
    const later = await listening(port, ["plug/state", ...topics]);
    for (const topic of topics) await later.until((heard) => heard.topic === topic && heard.retained);
    expect([...new Set(later.received.map(({ topic }) => topic))].sort()).toEqual(topics);
    expect(later.last("rigbridge/bridge/state")).toBe("online");
  });

  test.each([5, 4] as const)(
    "loses nothing when a client of MQTT %d is disconnected for a packet that is too large",
    async (protocolVersion) => {
      const port = await freePort();
      const bridge = await start(port);
      const listener = await listening(port);
      const uid = await uidOf(opened.steered);
      await listener.until(({ topic }) => topic === `rigbridge/miner/${uid}/state`);
      const rude = await connectAsync(`mqtt://127.0.0.1:${port}`, { protocolVersion, reconnectPeriod: 0 });
      cleanup.push(() => rude.endAsync(true));
      rude.on("error", () => undefined);
      const cut = new Promise<void>((resolve) => rude.once("close", () => resolve()));
      rude.publish(`rigbridge/miner/${uid}/set`, Buffer.alloc(1_048_576, "5"), { qos: 1 }, () => undefined);
      await within(cut, "the broker to cut off the client");
      const from = listener.received.length;
      const options = { responseTopic: "answers", correlation: "after" };
      await listener.publish(`rigbridge/miner/${uid}/frequency/set`, "500", options);
      expect(json(await listener.until(({ topic }) => topic === "answers", from))).toMatchObject({ status: "ok" });
      await listener.until(({ topic }) => topic === `rigbridge/miner/${uid}/state`, from);
      expect(bridge.connection.isConnected).toBe(true);
    },
  );

  test("answers a command that only the bridge finds too large with an error", async () => {
    const port = await freePort();
    await start(port);
    const listener = await listening(port);
    const uid = await uidOf(opened.steered);
    await listener.until(({ topic }) => topic === `rigbridge/miner/${uid}/state`);
    await listener.publish(`rigbridge/miner/${uid}/set`, Buffer.alloc(brokerLimits.packet - 1000, " "));
    const answer = await listener.until(({ topic }) => topic === `rigbridge/miner/${uid}/response`);
    expect(json(answer)).toMatchObject({ status: "error", code: "body.too-large" });
  });

  test("accepts itself with the password, refuses a wrong one, and logs the client", async () => {
    const port = await freePort();
    const { log, lines } = recordingLog();
    const login = { username: "home", password: "a-good-one" };
    await start(port, { broker: { host: "0.0.0.0", port }, ...login }, log);
    const listener = await listening(port, ["#"], login);
    await listener.until(({ topic, payload }) => topic === "rigbridge/bridge/state" && payload === "online");
    const wrong = { ...login, password: "a-bad-one", clientId: "guesser", reconnectPeriod: 0 };
    await expect(connectAsync(`mqtt://127.0.0.1:${port}`, wrong, false)).rejects.toMatchObject({ code: 4 });
    const isSaid = ({ msg }: LogLine): boolean => /^MQTT broker: "guesser": wrong username or password$/.test(msg);
    await until(() => lines.some(isSaid), "the log to name the refused client");
    expect(JSON.stringify(lines)).not.toMatch(/a-good-one|a-bad-one/);
  });

  test("makes another Rigbridge with the same client id wait, and is not disturbed", async () => {
    const port = await freePort();
    await start(port);
    const listener = await listening(port, ["rigbridge/bridge/#"]);
    await listener.until(({ topic, payload }) => topic === "rigbridge/bridge/state" && payload === "online");
    const second = await bridgeTo(opened.service, { url: `mqtt://127.0.0.1:${port}` });
    cleanup.push(() => second.close());
    await until(() => second.status.state === "waiting", "the second to wait");
    const states = listener.received.filter(({ topic }) => topic === "rigbridge/bridge/state");
    expect(states.map(({ payload }) => payload)).toEqual(["online"]);
  });
});
