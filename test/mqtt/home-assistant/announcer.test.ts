import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { MqttSettings } from "../../../src/config/mqtt.ts";
import type { Control } from "../../../src/contract/readings.ts";
import type { Group } from "../../../src/contract/resources.ts";
import { RigFaults } from "../../../src/farm/index.ts";
import type { Announcer } from "../../../src/mqtt/announcer.ts";
import { type AnnouncerOptions, announcer } from "../../../src/mqtt/home-assistant/announcer.ts";
import type { MinerWithUid } from "../../../src/mqtt/miner-state.ts";
import { type MqttConnection, openConnection } from "../../../src/mqtt/mqtt-connection.ts";
import type { Publication } from "../../../src/mqtt/mqtt-link.ts";
import { topicsOf } from "../../../src/mqtt/topics.ts";
import { specimens } from "../../docs/specimens.ts";
import { until } from "../../until.ts";
import { checkDevices } from "../home-assistant-checker.ts";
import { type Mosquitto, type Subscriber, startMosquitto, subscribeAt } from "../mosquitto.ts";
import { startSlowBroker } from "../slow-broker.ts";
import { displayOf, type Families, openFamilies } from "./families.ts";

const faults = new RigFaults(pino({ level: "silent" }));

let families: Families;
let first: MinerWithUid;
let second: MinerWithUid;
let mosquitto: Mosquitto;
let listening: Subscriber;
let running: { readonly connection: MqttConnection; readonly announcer: Announcer }[];
const warnings: string[] = [];

beforeAll(async () => {
  families = await openFamilies(specimens.filter(({ rigs }) => ["WhatsMiner with API v2", "LuxOS"].includes(rigs)));
  [first, second] = [minerAt(0), minerAt(1)];
});
afterAll(() => families.close());

beforeEach(async () => {
  mosquitto = await startMosquitto();
  listening = await subscribeAt(mosquitto.url);
  running = [];
  warnings.length = 0;
});
afterEach(async () => {
  for (const each of running) await stop(each);
  await listening.close();
  await mosquitto.stop();
});

function minerAt(index: number): MinerWithUid {
  const miner = families.miners[index];
  if (miner === undefined) throw new Error(`there is no miner ${index}`);
  return miner;
}

const delays = { debounceMs: 20, recheckMs: 40, quietMs: 100, migrateMs: 100 };

/** The part of a bridge needed here: a connection, and an announcer that is called at each connect. */
async function start(
  homeAssistant: object = {},
  more: Partial<AnnouncerOptions> = {},
  url = mosquitto.url,
): Promise<Announcer> {
  const settings = MqttSettings.parse({ url, homeAssistant });
  const connection = await openConnection({
    settings: { url, clientId: `bridge-${running.length}` },
    will: { topic: "rigbridge/bridge/state", payload: "offline" },
    log: pino({ level: "silent" }),
  });
  const started = announcer({
    connection,
    settings,
    topics: topicsOf(settings.base),
    version: "1.2.3",
    faults,
    warn: (message) => warnings.push(message),
    delays,
    ...more,
  });
  connection.connected(() => started.reannounce());
  running.push({ connection, announcer: started });
  return started;
}

async function stop({ connection, announcer: started }: (typeof running)[number]): Promise<void> {
  started.close();
  await connection.settled();
  await connection.close();
}

const hall: Group = { id: 1, name: "Hall A", parentId: 0 };
const rack: Group = { id: 2, name: "Rack 1", parentId: 1 };

/** Tells it of two groups, one in the other, with a miner in each. */
function tell(to: Announcer, miners: readonly MinerWithUid[] = families.miners, groups = [rack, hall]): void {
  const display = displayOf(first);
  for (const group of groups)
    to.group(
      group,
      miners.filter(({ groupId }) => group.id === hall.id || groupId === group.id),
      display,
    );
  for (const miner of miners) to.miner(miner, displayOf(miner));
  to.farm(miners, display);
}

const topicOf = (id: string): string => `homeassistant/device/rigbridge_${id}/config`;
const topicOfMiner = ({ uid }: MinerWithUid): string => topicOf(`miner_${uid}`);
const said = (topic: string, from = 0) =>
  listening.until((heard) => heard.topic === topic && heard.payload !== "", from);
const emptied = (topic: string) => listening.until((heard) => heard.topic === topic && heard.payload === "");
/** Without the bridge's own, as in what the broker keeps. */
const isConfig = (topic: string): boolean => topic.endsWith("/config") && !topic.endsWith("/rigbridge_bridge/config");
const configs = () => listening.received.filter(({ topic }) => isConfig(topic));

/** What a broker keeps of ours, once everything that was published is there. */
async function kept(): Promise<Map<string, string>> {
  for (const { connection } of running) await connection.settled();
  const late = await subscribeAt(mosquitto.url, ["homeassistant/#", "end"]);
  await late.publish("end", "");
  await late.until(({ topic }) => topic === "end");
  await late.close();
  return new Map(late.received.flatMap(({ topic, payload }) => (isConfig(topic) ? [[topic, payload]] : [])));
}

describe("on an empty broker", () => {
  test("the farm is announced first, then groups and their miners, in valid messages", async () => {
    tell(await start());
    await said(topicOfMiner(second));
    const messages = new Map(configs().map(({ topic, payload }) => [topic, payload]));
    expect([...messages.keys()]).toEqual([
      topicOf("farm"),
      topicOf("group_1"),
      topicOf("group_2"),
      topicOfMiner(first),
      topicOfMiner(second),
    ]);
    expect(checkDevices(messages)).toEqual([]);
    expect(JSON.parse(messages.get(topicOfMiner(second)) ?? "").device).toMatchObject({
      via_device: "rigbridge_group_2",
    });
    for (const payload of messages.values()) expect(payload).not.toContain("suggested_area");
    expect([...(await kept()).keys()].sort()).toEqual([...messages.keys()].sort());
  });

  test("an unchanged device is not published again, and frequent changes are published once", async () => {
    const told = await start();
    tell(told);
    await said(topicOfMiner(second));
    const before = configs().length;
    tell(told);
    told.miner({ ...first, readings: { ...first.readings, power: 1 } }, displayOf(first));
    for (const name of ["a", "b", "c"]) told.miner({ ...second, name }, displayOf(second));
    await said(topicOfMiner(second), listening.received.length);
    expect(
      configs()
        .slice(before)
        .map(({ topic, payload }) => [topic, JSON.parse(payload).device.name]),
    ).toEqual([[topicOfMiner(second), "c"]]);
  });

  test("a renamed miner keeps all its ids", async () => {
    const told = await start();
    tell(told);
    const { payload } = await said(topicOfMiner(first));
    told.miner({ ...first, name: "Heater" }, displayOf(first));
    const renamed = await said(topicOfMiner(first), listening.received.length);
    const [before, after] = [JSON.parse(payload), JSON.parse(renamed.payload)];
    expect(after.device.name).toBe("Heater");
    const ids = ({ components }: { components: Record<string, { unique_id: string }> }) =>
      Object.entries(components).map(([id, { unique_id: unique }]) => [id, unique]);
    expect(ids(after)).toEqual(ids(before));
    expect(after.components.power.default_entity_id).toBe("sensor.heater_power");
    expect(configs().filter(({ payload: each }) => each === "")).toEqual([]);
  });

  test("miners of one name have entities of different ids, and the one that was added first keeps the name", async () => {
    const told = await start();
    const twins = [second, first].map((miner) => ({ ...miner, name: "Hall A" }));
    tell(told, twins);
    const idIn = (payload: string): unknown => JSON.parse(payload).components.power.default_entity_id;
    expect(idIn((await said(topicOfMiner(first))).payload)).toBe("sensor.hall_a_power");
    expect(idIn((await said(topicOfMiner(second))).payload)).toBe(`sensor.hall_a_${second.uid}_power`);
    expect(idIn((await said(topicOf("group_1"))).payload)).toBe("sensor.hall_a_1_power");
    const messages = new Map(configs().map(({ topic, payload }) => [topic, payload]));
    expect(checkDevices(messages)).toEqual([]);
  });

  test("the area of a miner is the innermost of its groups that is a room", async () => {
    const told = await start();
    tell(told, families.miners, [rack, { ...hall, room: true }]);
    const areaOf = (payload: string): unknown => JSON.parse(payload).device.suggested_area;
    for (const miner of [first, second]) expect(areaOf((await said(topicOfMiner(miner))).payload)).toBe("Hall A");
    told.group({ ...rack, room: true }, [second], displayOf(second));
    expect(areaOf((await said(topicOfMiner(second), listening.received.length)).payload)).toBe("Rack 1");
  });

  test("the farm has a name, a link, a switch for all miners and the number of open notifications", async () => {
    tell(await start({ farmName: "Källare" }, { page: "http://192.168.1.2:17790" }));
    const { device, components } = JSON.parse((await said(topicOf("farm"))).payload);
    expect(device).toMatchObject({ name: "Källare", configuration_url: "http://192.168.1.2:17790" });
    expect(components.mining).toMatchObject({
      platform: "switch",
      name: null,
      default_entity_id: "switch.kallare",
      command_topic: "rigbridge/farm/mining/set",
    });
    expect(components.notifications).toMatchObject({
      platform: "sensor",
      state_topic: "rigbridge/notifications",
      value_template: "{{ value_json.unacknowledged }}",
    });
    for (const { icon, device_class: of } of Object.values<Record<string, unknown>>(components))
      expect(icon ?? of).toEqual(expect.any(String));
  });

  /** The components without what their ids take from the name of the device. */
  const ownOf = (payload: string): unknown => {
    const components: Record<string, object> = JSON.parse(payload).components;
    return Object.fromEntries(
      Object.entries(components).map(([id, component]) => [id, { ...component, default_entity_id: null }]),
    );
  };

  test("removed miners and groups are cleared, others are not", async () => {
    const told = await start();
    tell(told);
    await said(topicOfMiner(second));
    told.minerRemoved(second.uid);
    told.groupRemoved(rack.id);
    await emptied(topicOfMiner(second));
    await emptied(topicOf("group_2"));
    expect([...(await kept()).keys()].sort()).toEqual(
      [topicOf("farm"), topicOf("group_1"), topicOfMiner(first)].sort(),
    );
  });

  test("a control that the rig does not offer now stays, and is removed by name once its firmware is another", async () => {
    const told = await start();
    tell(told);
    const { payload: whole } = await said(topicOfMiner(first));
    const controls = first.controls.filter(({ key }) => key !== "throttle");
    told.miner({ ...first, controls, name: "Asleep" }, displayOf(first));
    const { payload: asleep } = await said(topicOfMiner(first), listening.received.length);
    expect(ownOf(asleep)).toEqual(ownOf(whole));
    if (first.identity === null) throw new Error("the rig was not identified");
    const without = { ...first, controls, identity: { ...first.identity, firmware: "another" } };
    told.miner({ ...without, name: "Flashed" }, displayOf(first));
    const { payload } = await said(topicOfMiner(first), listening.received.length);
    expect(JSON.parse(payload).components.throttle).toEqual({ platform: "number" });
    expect(checkDevices(new Map([[topicOfMiner(first), payload.replace(/"via_device":"[^"]*",/, "")]]))).toEqual([]);
    told.miner(first, displayOf(first));
    const again = await said(topicOfMiner(first), listening.received.length);
    expect(JSON.parse(again.payload).components.throttle).toMatchObject({ platform: "number", min: 1 });
  });

  test("a rig that offers neither modes nor pools now keeps both, and gets no sensors for them besides", async () => {
    const told = await start();
    const options = ["low", "high"];
    const mode: Control = {
      key: "mode",
      kind: "choice",
      unit: null,
      min: null,
      max: null,
      step: null,
      options,
      value: "low",
      lasting: true,
      restartsMining: true,
      seconds: 5,
    };
    const [pool] = first.poolList;
    if (pool === undefined) throw new Error("the rig has no pool");
    const poolList = ["North", "South"].map((name) => ({ ...pool, name, canPrioritize: true }));
    const awake = { ...first, controls: [...first.controls.filter(({ key }) => key !== "mode"), mode], poolList };
    tell(told, [awake, second]);
    const { payload } = await said(topicOfMiner(first));
    expect(JSON.parse(payload).components.mode).toMatchObject({ platform: "select", options });
    expect(JSON.parse(payload).components.pool).toMatchObject({ platform: "select" });
    const readings = { ...first.readings, mode: "sleep" };
    const controls = first.controls.filter(({ key }) => key !== "mode");
    const fixed = poolList.map((each) => ({ ...each, canPrioritize: false }));
    const restricted = { poolList: fixed, canPoolSwitch: false };
    told.miner({ ...first, ...restricted, controls, readings, name: "Asleep" }, displayOf(first));
    const asleep = await said(topicOfMiner(first), listening.received.length);
    expect(ownOf(asleep.payload)).toEqual(ownOf(payload));
  });

  test("everything is published again when Home Assistant has started, and when the broker has lost everything", async () => {
    const told = await start();
    tell(told);
    await said(topicOfMiner(second));
    const all = await kept();
    told.reannounce();
    const from = listening.received.length;
    await said(topicOfMiner(second), from);
    expect(
      configs()
        .slice(-all.size)
        .map(({ topic }) => topic),
    ).toEqual(
      configs()
        .slice(0, all.size)
        .map(({ topic }) => topic),
    );
    await mosquitto.kill();
    await mosquitto.start();
    await said(topicOfMiner(second), listening.received.length);
    expect(await kept()).toEqual(all);
  });
});

test("a miner removed while a persistent broker is away is cleared later", async () => {
  const said_: Publication[] = [];
  let isThere = true;
  let answered = (): void => {};
  const connection: AnnouncerOptions["connection"] = {
    get isConnected() {
      return isThere;
    },
    settled: async () => undefined,
    publish: (publication) => {
      if (isThere) said_.push(publication);
    },
    subscribe: (_filters, _handle, options) => {
      answered = options?.answered ?? answered;
    },
    unsubscribe: () => {},
  };
  const told = announcer({
    connection,
    topics: topicsOf("rigbridge"),
    version: "1.2.3",
    faults,
    settings: MqttSettings.parse({ url: mosquitto.url }),
    // Nothing is waited for.
    schedule: (work) => {
      setImmediate(work);
      return () => {};
    },
  });
  const connect = async (): Promise<void> => {
    answered();
    told.reannounce();
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  };
  tell(told);
  await connect();
  isThere = false;
  told.minerRemoved(second.uid);
  isThere = true;
  await connect();
  expect(said_.findLast(({ topic }) => topic === topicOfMiner(second))).toMatchObject({
    payload: "",
    retain: true,
    qos: 1,
  });
  expect(said_.findLast(({ topic }) => topic === topicOfMiner(first))?.payload).not.toBe("");
  // Home Assistant reports an error for each further time.
  const removals = (): number =>
    said_.filter(({ topic, payload }) => topic === topicOfMiner(second) && payload === "").length;
  await connect();
  expect(removals()).toBe(1);
});

describe("which devices there are", () => {
  const many = (count: number): MinerWithUid[] =>
    Array.from({ length: count }, (_, index) => ({ ...first, uid: `rig-${index}`, macAddress: "" }));

  test("up to 100 miners have devices of their own, beyond that only groups, unless asked", async () => {
    tell(await start(), many(101));
    await said(topicOf("group_2"));
    expect([...(await kept()).keys()].sort()).toEqual([topicOf("farm"), topicOf("group_1"), topicOf("group_2")]);
    expect(warnings).toEqual([expect.stringContaining("homeAssistant.miners to true")]);
    tell(await start({ miners: true }), many(101));
    await said(topicOf("miner_rig-100"));
  });

  test("the 101st miner takes none of the others away, also over a restart, and is announced once there is room", async () => {
    const told = await start();
    tell(told, many(100));
    await said(topicOf("miner_rig-99"));
    tell(told, many(101));
    await until(() => warnings.length > 0, "the warning that there are too many");
    told.farm(many(101), displayOf(first));
    told.miner({ ...first, uid: "rig-0", macAddress: "", name: "Renamed" }, displayOf(first));
    await listening.until(({ topic, payload }) => topic === topicOf("miner_rig-0") && payload.includes('"Renamed"'));
    for (const each of running.splice(0)) await stop(each);
    const again = await start();
    tell(again, many(101));
    await listening.until(
      ({ topic, payload }) => topic === topicOf("miner_rig-0") && payload.includes('"name":"Rig 1"'),
    );
    const all = await kept();
    expect([all.has(topicOf("miner_rig-99")), all.has(topicOf("miner_rig-100"))]).toEqual([true, false]);
    expect(configs().filter(({ payload }) => payload === "")).toEqual([]);
    again.minerRemoved("rig-5");
    tell(
      again,
      many(101).filter(({ uid }) => uid !== "rig-5"),
    );
    await said(topicOf("miner_rig-100"));
  });

  test("miners that were not identified yet count, and nothing is removed before they are", async () => {
    for (const uid of ["old", "older"])
      await listening.publish(
        topicOf(`miner_${uid}`),
        JSON.stringify({
          origin: { name: "Rigbridge" },
          availability: [{ topic: "rigbridge/bridge/state" }],
          components: { status: { platform: "sensor", unique_id: uid } },
        }),
        { retain: true },
      );
    const told = await start();
    const group = (miners: readonly MinerWithUid[]) => told.group(hall, miners, displayOf(first));
    group([first]);
    told.miner(first, displayOf(first));
    told.farm([first], displayOf(first), 100);
    await said(topicOf("group_1"));
    expect((await kept()).has(topicOfMiner(first))).toBe(false);
    told.farm([first], displayOf(first), 1);
    await said(topicOfMiner(first));
    expect((await kept()).has(topicOf("miner_old"))).toBe(true);
    told.farm([first], displayOf(first), 0);
    await emptied(topicOf("miner_old"));
    await emptied(topicOf("miner_older"));
  });

  test("only miners of the named groups and their subgroups", async () => {
    const told = await start({ groups: ["Rack 1"] });
    tell(told);
    await said(topicOfMiner(second));
    const all = await kept();
    expect([...all.keys()].sort()).toEqual([topicOf("farm"), topicOf("group_2"), topicOfMiner(second)].sort());
    expect(JSON.parse(all.get(topicOf("group_2")) ?? "").device.via_device).toBe("rigbridge_farm");
    told.miner({ ...second, groupId: hall.id }, displayOf(second));
    await emptied(topicOfMiner(second));
  });

  test("with a custom prefix", async () => {
    tell(await start({ prefix: "home/ha" }));
    await said(`home/ha/device/rigbridge_miner_${second.uid}/config`);
    expect(configs().every(({ topic }) => topic.startsWith("home/ha/device/"))).toBe(true);
  });
});

describe("on a broker with the retained messages of an earlier run", () => {
  const foreign = {
    "homeassistant/device/other/config": JSON.stringify({
      origin: { name: "Zigbee2MQTT" },
      availability: [{ topic: "rigbridge/bridge/state" }],
      components: { a: { platform: "sensor" } },
    }),
    "homeassistant/device/rigbridge_miner_x/config": JSON.stringify({
      origin: { name: "Rigbridge" },
      availability: [{ topic: "elsewhere/bridge/state" }],
      components: { a: { platform: "sensor" } },
    }),
    "homeassistant/device/broken/config": "{",
    "homeassistant/sensor/rigbridge_miner_y/config": JSON.stringify({ origin: { name: "Rigbridge" } }),
  };

  async function earlierRun(homeAssistant: object = {}): Promise<void> {
    tell(await start(homeAssistant));
    await said(topicOfMiner(second));
    for (const each of running.splice(0)) await stop(each);
  }

  test("devices that no longer exist are removed, and nothing of other programs", async () => {
    for (const [topic, payload] of Object.entries(foreign)) await listening.publish(topic, payload, { retain: true });
    await earlierRun();
    const told = await start();
    tell(told, [first], [hall]);
    await emptied(topicOfMiner(second));
    await emptied(topicOf("group_2"));
    const all = await kept();
    for (const [topic, payload] of Object.entries(foreign)) expect(all.get(topic)).toBe(payload);
    expect(all.has(topicOfMiner(first))).toBe(true);
    expect(all.size).toBe(Object.keys(foreign).length + 3);
  });

  test("a broker that answers late has devices removed that no longer exist", async () => {
    await earlierRun();
    const slow = await startSlowBroker(mosquitto.port, "homeassistant/device/+/config");
    tell(await start({}, {}, slow.url), [first], [hall]);
    await slow.subscribed();
    await setTimeout(4 * delays.quietMs);
    slow.release();
    await emptied(topicOfMiner(second));
    await emptied(topicOf("group_2"));
    for (const each of running.splice(0)) await stop(each);
    await slow.close();
  });

  test("nothing is removed before the miners are known", async () => {
    await earlierRun();
    const timers: { work: () => void; ms: number }[] = [];
    const told = await start(
      {},
      {
        schedule: (work, ms) => {
          const timer = { work, ms };
          timers.push(timer);
          return () => timers.splice(timers.indexOf(timer), 1);
        },
      },
    );
    told.miner(first, displayOf(first));
    const before = configs().length;
    // The broker answers in order, so by then it has sent what it retains.
    const answered = Promise.withResolvers<void>();
    running.at(-1)?.connection.subscribe(["end"], () => undefined, { answered: answered.resolve });
    await answered.promise;
    while (timers.length > 0) timers.shift()?.work();
    expect(timers).toEqual([]);
    for (const { connection } of running) await connection.settled();
    await listening.publish("end", "");
    await listening.until(({ topic }) => topic === "end");
    expect(configs().length).toBe(before);
  });

  test("an unchanged device is not published again, and a rig that is off keeps its pools", async () => {
    const pool = (name: string) => ({ ...listedPool(), name, canPrioritize: true });
    const pooled = { ...first, poolList: [pool("North"), pool("South")] };
    tell(await start(), [pooled, second]);
    const { payload } = await said(topicOfMiner(second));
    const { payload: earlier } = await said(topicOfMiner(first));
    for (const each of running.splice(0)) await stop(each);
    const before = configs().length;
    const told = await start();
    const off = { ...pooled, poolList: [], pool: "", hasValidStatus: false, canPoolSwitch: false };
    tell(told, [{ ...off, name: "Off" }, second]);
    const now = await said(topicOfMiner(first), listening.received.length);
    expect(JSON.parse(now.payload).components.pool.options).toEqual(JSON.parse(earlier).components.pool.options);
    expect(Object.keys(JSON.parse(now.payload).components)).toEqual(Object.keys(JSON.parse(earlier).components));
    expect((await kept()).get(topicOfMiner(second))).toBe(payload);
    expect(
      configs()
        .slice(before)
        .map(({ topic }) => topic),
    ).toEqual([topicOfMiner(first)]);
  });

  const listedPool = () => {
    const [pool] = first.poolList;
    if (pool === undefined) throw new Error("the rig has no pool");
    return pool;
  };
});
