import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { MqttSettings } from "../../src/config/mqtt.ts";
import { caller, kinds, type Opened } from "../contract/kinds.ts";
import { bridgeTo, recordingLog } from "./bridged.ts";
import { type Mosquitto, type Received, type Subscriber, startMosquitto, subscribeAt } from "./mosquitto.ts";

/** What a client with access to the broker can do through the bridge, and where the bridge responds with its own rights. */
let mosquitto: Mosquitto;
let opened: Opened;
beforeAll(async () => {
  const [own] = kinds;
  if (own === undefined) throw new Error("there is no kind");
  [mosquitto, opened] = await Promise.all([startMosquitto(), own.open()]);
});
afterAll(async () => {
  await opened.close();
  await mosquitto.stop();
});

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

const at =
  (topic: string) =>
  (heard: Received): boolean =>
    heard.topic === topic;

async function bridged(settings: Omit<Partial<MqttSettings>, "url">, { service } = opened) {
  const { log, lines } = recordingLog();
  const listener: Subscriber = await subscribeAt(mosquitto.url);
  cleanup.push(() => listener.close());
  const bridge = await bridgeTo(service, { url: mosquitto.url, ...settings }, { log });
  cleanup.push(() => bridge.close());
  const online = ({ topic, payload, retained }: Received) =>
    topic === "rigbridge/bridge/state" && payload === "online" && !retained;
  await listener.until(online);
  const warnings = () =>
    lines.filter(({ level, msg }) => level === 40 && msg.startsWith("The response topic of a command is not allowed"))
      .length;
  return { listener, warnings };
}

const list = "rigbridge/bridge/request/listGroups";
const usual = "rigbridge/bridge/response/listGroups";

describe("an answer", () => {
  test.each([
    ["rigbridge/answers/me", []],
    ["rigbridge/bridge/response/listGroups/me", []],
    ["answers", ["answers"]],
    ["answers/of/mine", ["answers"]],
    ["home/kitchen/answers", ["other", "home/+/answers"]],
    ["home/kitchen/answers/1", ["home/+/answers/#"]],
    ["answers/of/mine", ["answers/#"]],
  ])("goes to the response topic %s with mqtt.responseTopics %j", async (responseTopic, responseTopics) => {
    const { listener, warnings } = await bridged({ responseTopics });
    const from = listener.received.length;
    await listener.publish(list, "{}", { responseTopic, correlation: "mine" });
    expect(await listener.until(at(responseTopic), from)).toMatchObject({ correlation: "mine" });
    expect(warnings()).toBe(0);
  });

  test.each([
    ["zigbee2mqtt/frontdoor/set", []],
    ["zigbee2mqtt/frontdoor/set", ["zigbee2mqtt/frontdoors", "zigbee2mqtt/+/answers"]],
    ["homeassistant/device/other/config", ["answers"]],
    ["rigbridge", []],
    ["rigbridge/bridge/state", ["rigbridge"]],
    ["rigbridge/bridge/info", []],
    ["rigbridge/summary", []],
    ["rigbridge/notification", []],
    ["rigbridge/miner/025100000001/availability", []],
    ["rigbridge/miner/response/set", []],
    ["rigbridge/bridge/request/response", []],
    ["rigbridge/group/1/response/set", []],
    ["rigbridges/answers", []],
  ])("never goes to %s with mqtt.responseTopics %j, which is logged once", async (responseTopic, responseTopics) => {
    const { listener, warnings } = await bridged({ responseTopics });
    for (const mark of ["first", "second"]) {
      const from = listener.received.length;
      await listener.publish(list, JSON.stringify({ transaction: mark }), { responseTopic, correlation: "hidden" });
      const isAnswer = (heard: Received) => at(usual)(heard) && JSON.parse(heard.payload).transaction === mark;
      expect(await listener.until(isAnswer, from)).toMatchObject({ correlation: null });
    }
    const stray = listener.received.filter(
      ({ topic, payload }) => topic === responseTopic && (payload.includes("first") || payload.includes("second")),
    );
    expect(stray).toEqual([]);
    expect(warnings()).toBe(1);
  });
});

test("with mqtt.requests false no operation is offered or executed, but commands are", async () => {
  const { listener } = await bridged({ requests: false });
  const info = await listener.until(({ topic, retained }) => topic === "rigbridge/bridge/info" && !retained);
  expect(JSON.parse(info.payload)).toMatchObject({ operations: [] });
  const { groupList } = await opened.service.listMiners({}, caller);
  const { uid } = await opened.service.getMiner({ id: opened.steered }, caller);
  const from = listener.received.length;
  await listener.publish("rigbridge/bridge/request/addGroup", '{"name": "never"}');
  await listener.publish(`rigbridge/miner/${uid}/frequency/set`, "500");
  await listener.until(at(`rigbridge/miner/${uid}/response`), from);
  expect(listener.received.slice(from).some(({ topic }) => topic.startsWith("rigbridge/bridge/response"))).toBe(false);
  expect((await opened.service.listMiners({}, caller)).groupList).toHaveLength(groupList.length);
  expect((await opened.service.listGroups({}, caller)).map(({ name }) => name)).not.toContain("never");
});

test.each(kinds)("a pool of $name read over MQTT and sent back keeps its password", async ({ open }) => {
  const other = await open();
  cleanup.push(() => other.close());
  const { listener } = await bridged({}, other);
  const ask = async (operation: string, input: object) => {
    const from = listener.received.length;
    await listener.publish(`rigbridge/bridge/request/${operation}`, JSON.stringify(input));
    const { payload } = await listener.until(at(`rigbridge/bridge/response/${operation}`), from);
    return JSON.parse(payload);
  };
  const pool = { description: "West", url: "stratum+tcp://west.example:3333", plainWorkerPassword: "a-hidden-word" };
  const saved = await ask("savePool", pool);
  expect(saved).toMatchObject({ status: "ok", data: { description: "West", plainWorkerPassword: "" } });
  const { coinDisplayName: _, ...sentBack } = saved.data;
  expect(await ask("savePool", { ...sentBack, description: "Far West" })).toMatchObject({ status: "ok" });
  expect(await other.service.getPool({ id: saved.data.id }, caller)).toMatchObject({
    description: "Far West",
    plainWorkerPassword: "a-hidden-word",
  });
  const said = listener.received.filter(({ topic }) => !topic.includes("/request/"));
  expect(JSON.stringify(said)).not.toContain("a-hidden-word");
});

test.each(["#", "a/#/b", "a#", "+a", "$SYS/a", ""])("mqtt.responseTopics refuses %j", (filter) => {
  expect(MqttSettings.safeParse({ broker: "embedded", responseTopics: [filter] }).success).toBe(false);
});
