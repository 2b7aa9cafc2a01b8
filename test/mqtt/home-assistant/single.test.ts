import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { MqttSettings } from "../../../src/config/mqtt.ts";
import { RigFaults } from "../../../src/farm/index.ts";
import type { Announcer } from "../../../src/mqtt/announcer.ts";
import { type AnnouncerOptions, announcer } from "../../../src/mqtt/home-assistant/announcer.ts";
import type { MinerWithUid } from "../../../src/mqtt/miner-state.ts";
import { type MqttConnection, openConnection } from "../../../src/mqtt/mqtt-connection.ts";
import { byTimer } from "../../../src/mqtt/read-retained.ts";
import { topicsOf } from "../../../src/mqtt/topics.ts";
import { specimens } from "../../docs/specimens.ts";
import { until } from "../../until.ts";
import { checkDevice } from "../home-assistant-checker.ts";
import { isRecord, type Json } from "../home-assistant-message.ts";
import { type Mosquitto, type Received, type Subscriber, startMosquitto, subscribeAt } from "../mosquitto.ts";
import { retainedAt } from "../retained.ts";
import { displayOf, type Families, openFamilies } from "./families.ts";

const faults = new RigFaults(pino({ level: "silent" }));
const mark = '{"migrate_discovery":true}';

let families: Families;
let miner: MinerWithUid;
let mosquitto: Mosquitto;
let listening: Subscriber;
let running: { readonly connection: MqttConnection; readonly announcer: Announcer }[];

beforeAll(async () => {
  families = await openFamilies(specimens.filter(({ rigs }) => rigs === "WhatsMiner with API v2"));
  const [first] = families.miners;
  if (first === undefined) throw new Error("there is no miner");
  miner = first;
});
afterAll(() => families.close());

beforeEach(async () => {
  mosquitto = await startMosquitto();
  listening = await subscribeAt(mosquitto.url);
  running = [];
});
afterEach(async () => {
  await stopAll();
  await listening.close();
  await mosquitto.stop();
});

/** The part of a bridge that announces, with one miner in no group. */
async function start(homeAssistant: object, told = miner, more: Partial<AnnouncerOptions> = {}): Promise<Announcer> {
  const settings = MqttSettings.parse({ url: mosquitto.url, homeAssistant });
  const connection = await openConnection({
    settings: { url: mosquitto.url, clientId: `bridge-${running.length}` },
    will: { topic: "rigbridge/bridge/state", payload: "offline" },
    log: pino({ level: "silent" }),
  });
  const started = announcer({
    connection,
    settings,
    topics: topicsOf(settings.base),
    version: "1.2.3",
    faults,
    canRestart: true,
    delays: { debounceMs: 20, recheckMs: 40, quietMs: 100, migrateMs: 100 },
    ...more,
  });
  connection.connected(() => started.reannounce());
  running.push({ connection, announcer: started });
  started.farm([told], null);
  started.miner(told, displayOf(told));
  return started;
}

async function stopAll(): Promise<void> {
  for (const each of running.splice(0)) {
    each.announcer.close();
    await each.connection.settled();
    await each.connection.close();
  }
}

const id = (): string => `rigbridge_miner_${miner.uid}`;
const deviceTopic = (): string => `homeassistant/device/${id()}/config`;
const powerTopic = (): string => `homeassistant/sensor/${id()}/power/config`;
const lastConfig = ({ topic, payload }: Received): boolean => topic === deviceTopic() && payload !== "";

/** The discovery messages of the miner that the broker retains, once there are as many. */
async function kept(wanted: (topics: readonly string[]) => boolean): Promise<Map<string, string>> {
  let all = new Map<string, string>();
  const isThere = async (): Promise<boolean> => {
    const own = new RegExp(`^homeassistant/.*/${id()}/`);
    all = new Map([...(await retainedAt(mosquitto.url))].filter(([topic]) => own.test(topic)));
    return wanted([...all.keys()]);
  };
  await until(isThere, "the discovery messages of the miner", { details: () => [...all.keys()].join("\n") });
  return all;
}

const countOf = (topic: string, from: number): number =>
  listening.received.slice(from).filter((heard) => heard.topic === topic).length;

/** The event is announced last. */
const areSingle = (topics: readonly string[]): boolean =>
  topics.includes(`homeassistant/event/${id()}/event/config`) && !topics.includes(deviceTopic());
const isDevice = (topics: readonly string[]): boolean => topics.length === 1 && topics[0] === deviceTopic();

const jsonOf = (payload: string | undefined): Json => {
  const json: unknown = JSON.parse(payload ?? "");
  if (!isRecord(json)) throw new Error("not an object");
  return json;
};

/** The options of each entity by its unique id, with what its device shares. */
function entitiesIn(messages: ReadonlyMap<string, string>): Map<string, Json> {
  const entities = new Map<string, Json>();
  for (const [topic, payload] of messages) {
    const { components, ...shared } = jsonOf(payload);
    const platform = topic.split("/")[1] ?? "";
    const all = isRecord(components) ? Object.values(components).filter(isRecord) : [{ platform, ...shared }];
    for (const each of all) {
      const whole: Json = { ...shared, ...each };
      const { state_topic: _, ...stateless } = whole;
      const hasState = !["button", "climate"].includes(String(whole.platform));
      entities.set(String(whole.unique_id), hasState ? whole : stateless);
    }
  }
  return entities;
}

describe("with one message for each entity", () => {
  test("each is valid, and the same entity with the same unique id as in the device's message", async () => {
    await start({ prefix: "one" });
    const { payload } = await listening.until(({ topic }) => topic === `one/device/${id()}/config`);
    await start({ prefix: "homeassistant", components: "single" });
    const single = await kept(areSingle);
    expect(entitiesIn(single)).toEqual(entitiesIn(new Map([["one/device/x/config", payload]])));
    for (const [topic, message] of single) {
      const [, platform, device, key = "", last] = topic.split("/");
      expect([device, last]).toEqual([id(), "config"]);
      const { device: info, origin, availability, availability_mode, ...own } = jsonOf(message);
      const component = { [key]: { platform, ...own } };
      const whole = JSON.stringify({ device: info, origin, availability, availability_mode, components: component });
      expect([topic, checkDevice(deviceTopic(), whole)]).toEqual([topic, []]);
    }
  });

  test("an entity that has gone and a removed miner are emptied, and an unchanged one is not published again", async () => {
    const told = await start({ components: "single" });
    const before = await kept(areSingle);
    const topic = [...before.keys()].find((each) => each.endsWith("/power_limit/config")) ?? "";
    const from = listening.received.length;
    told.miner({ ...miner, readings: { ...miner.readings, power: 1 } }, displayOf(miner));
    const controls = miner.controls.filter(({ key }) => key !== "power_limit");
    const readings = { ...miner.readings, powerLimit: null };
    // Of another firmware, the rig has other controls.
    const identity = miner.identity === null ? null : { ...miner.identity, firmware: "another" };
    told.miner({ ...miner, controls, readings, identity }, displayOf(miner));
    await listening.until((heard) => heard.topic === topic && heard.payload === "", from);
    const counts = () => [...before.keys()].map((each) => countOf(each, from));
    await until(() => !counts().includes(0), "all entities to be published again");
    expect(new Set(counts())).toEqual(new Set([1]));
    told.minerRemoved(miner.uid);
    await kept((topics) => topics.length === 0);
  });
});

describe("when the form changes", () => {
  test("from device to single, Home Assistant lets go of the entities before they are announced again", async () => {
    await start({});
    const { payload } = await listening.until(lastConfig);
    await stopAll();
    const from = listening.received.length;
    await start({ components: "single" });
    const single = await kept(areSingle);
    expect(entitiesIn(single)).toEqual(entitiesIn(new Map([[deviceTopic(), payload]])));
    const steps = listening.received
      .slice(from)
      .filter(({ topic, retained }) => !retained && [deviceTopic(), powerTopic()].includes(topic));
    expect(steps.map((step) => [step.topic, step.payload])).toEqual([
      [deviceTopic(), mark],
      [deviceTopic(), ""],
      [powerTopic(), single.get(powerTopic())],
    ]);
  });

  test("and back, also where the rig is off and another program has messages there", async () => {
    const foreign = `homeassistant/sensor/${id()}_of_others/power/config`;
    await listening.publish(foreign, '{"origin": {"name": "Zigbee2MQTT"}, "state_topic": "x"}', { retain: true });
    await start({ components: "single" });
    const before = entitiesIn(await kept(areSingle));
    await stopAll();
    const from = listening.received.length;
    const off = { ...miner, hasValidStatus: false, readings: { ...miner.readings, power: null, temperature: null } };
    await start({}, off);
    const after = await kept(isDevice);
    expect([...entitiesIn(after).keys()].sort()).toEqual([...before.keys()].sort());
    const steps = listening.received
      .slice(from)
      .filter(({ topic, retained }) => !retained && [deviceTopic(), powerTopic()].includes(topic));
    expect(steps.map((step) => [step.topic, step.payload])).toEqual([
      [powerTopic(), mark],
      [powerTopic(), ""],
      [deviceTopic(), after.get(deviceTopic())],
    ]);
    expect((await retainedAt(mosquitto.url)).has(foreign)).toBe(true);
  });

  test("all entities are found among thousands of messages of other programs", async () => {
    const others = Array.from({ length: 3000 }, (_, index) => `homeassistant/sensor/other_${index}/x/config`);
    await Promise.all(others.map((topic) => listening.publish(topic, '{"state_topic": "x"}', { retain: true })));
    await start({ components: "single" });
    await listening.until(({ topic }) => topic === `homeassistant/event/${id()}/event/config`);
    await stopAll();
    const own = listening.received.flatMap(({ topic }) => (topic.includes(`/${id()}/`) ? [topic] : []));
    expect(own.length).toBeGreaterThan(20);
    await start({});
    await until(() => own.every((topic) => listening.last(topic) === ""), "every single message to be emptied");
    await listening.until(lastConfig);
    expect(others.filter((topic) => listening.last(topic) === "")).toEqual([]);
  });

  test.each(["device", "single"])("a change to %s that a stop has cut off is finished later", async (components) => {
    await start({ components: components === "single" ? "device" : "single" });
    await kept(components === "single" ? isDevice : areSingle);
    await stopAll();
    // It stops before the entities are announced in the new form.
    await start({ components }, miner, { delays: { debounceMs: 20, recheckMs: 40, quietMs: 100, migrateMs: 1e8 } });
    await listening.until(({ payload, topic }) => payload === mark && topic.includes(id()));
    await stopAll();
    await start({ components });
    const all = await kept(components === "single" ? areSingle : isDevice);
    expect([...all.values()]).not.toContain(mark);
    expect(entitiesIn(all).has(`${id()}_power`)).toBe(true);
  });

  test("a change that a lost connection has cut off begins again", async () => {
    await start({});
    await listening.until(lastConfig);
    await stopAll();
    // The change does not end by itself, however long the mark takes to come back.
    let migrateMs = 1e8;
    const told = await start({ components: "single" }, miner, {
      delays: { debounceMs: 20, recheckMs: 40, quietMs: 100, migrateMs },
      schedule: (work, ms) => byTimer(work, ms === 1e8 ? migrateMs : ms),
    });
    const isMark = ({ topic, payload }: Received): boolean => topic === deviceTopic() && payload === mark;
    const first = await listening.until(isMark);
    migrateMs = 100;
    // As after a reconnect.
    told.reannounce();
    await listening.until(isMark, listening.received.indexOf(first) + 1);
    await kept(areSingle);
  });

  test("a miner that has been removed meanwhile is removed in its old form", async () => {
    await start({});
    await listening.until(lastConfig);
    await stopAll();
    const told = await start({ components: "single" });
    told.minerRemoved(miner.uid);
    told.farm([], null);
    await kept((topics) => topics.length === 0);
    expect(listening.received.some(({ topic, payload }) => topic === deviceTopic() && payload === mark)).toBe(false);
  });
});
