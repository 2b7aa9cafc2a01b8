import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { RigbridgeError } from "../../src/contract/problems.ts";
import type { MinerGroup } from "../../src/contract/resources.ts";
import type { Bridge } from "../../src/mqtt/bridge.ts";
import { caller, kinds, type Opened } from "../contract/kinds.ts";
import { bridgeTo } from "./bridged.ts";
import { type Mosquitto, type Received, type Subscriber, startMosquitto, subscribeAt } from "./mosquitto.ts";
import { retainedAt, retainedAtLeast } from "./retained.ts";
import { startSlowBroker } from "./slow-broker.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

const json = ({ payload }: Received): Record<string, unknown> => JSON.parse(payload);
const at = (topic: string | RegExp) => (heard: Received) =>
  heard.payload !== "" && (typeof topic === "string" ? heard.topic === topic : topic.test(heard.topic));

const groupsIn = (groups: readonly MinerGroup[]): MinerGroup[] =>
  groups.flatMap((group) => [group, ...groupsIn(group.groupList ?? [])]);

async function listening(url: string, filters?: readonly string[]): Promise<Subscriber> {
  const listener = await subscribeAt(url, filters);
  cleanup.push(() => listener.close());
  return listener;
}

async function bridged(...args: Parameters<typeof bridgeTo>): Promise<Bridge> {
  const bridge = await bridgeTo(...args);
  cleanup.push(() => bridge.close());
  return bridge;
}

describe.each(kinds)("over $name", ({ open, isReference }) => {
  let mosquitto: Mosquitto;
  let opened: Opened;
  beforeAll(async () => {
    mosquitto = await startMosquitto();
    opened = await open();
  });
  afterAll(async () => {
    await opened.close();
    await mosquitto.stop();
  });

  test("publishes every miner and group, the farm, and information about the bridge", async () => {
    await bridged(opened.service, { url: mosquitto.url, base: "home/rigs" });
    const groupList = groupsIn((await opened.service.listMiners({}, caller)).groupList);
    const miners = groupList.flatMap(({ minerList }) => minerList);
    const topics = miners.flatMap(({ uid }) => [`home/rigs/miner/${uid}/state`, `home/rigs/miner/${uid}/availability`]);
    const groups = groupList.filter(({ id }) => id > 0).map(({ id }) => `home/rigs/group/${id}/state`);
    const others = ["bridge/state", "bridge/info", "summary", "notifications"].map((topic) => `home/rigs/${topic}`);
    const all = await retainedAtLeast(mosquitto.url, [...topics, ...groups, ...others]);
    expect(all.get("home/rigs/bridge/state")).toBe("online");
    const info = JSON.parse(all.get("home/rigs/bridge/info") ?? "");
    expect(info).toMatchObject({ version: "test", mqtt: "5", base: "home/rigs" });
    expect(info.operations.includes("getHistory")).toBe(!isReference);
    expect(JSON.parse(all.get("home/rigs/summary") ?? "")).toMatchObject({ miners: miners.length });
    expect(JSON.parse(all.get("home/rigs/notifications") ?? "")).toEqual({
      count: expect.any(Number),
      unacknowledged: expect.any(Number),
      open: expect.any(Number),
      alarms: expect.any(Number),
      critical: expect.any(Number),
    });
    for (const { uid, name, isOffline } of miners) {
      expect(JSON.parse(all.get(`home/rigs/miner/${uid}/state`) ?? "")).toMatchObject({ name });
      expect(all.get(`home/rigs/miner/${uid}/availability`)).toBe(isOffline ? "offline" : "online");
    }
  });

  test("a miner stops and starts on command, and its state follows", async () => {
    const { uid } = await opened.service.getMiner({ id: opened.steered }, caller);
    await bridged(opened.service, { url: mosquitto.url });
    const listener = await listening(mosquitto.url, ["rigbridge/#", "answers"]);
    await listener.until((heard) => at("rigbridge/bridge/state")(heard) && heard.payload === "online");
    await listener.until(at(`rigbridge/miner/${uid}/state`));
    const from = listener.received.length;
    await listener.publish(`rigbridge/miner/${uid}/mining/set`, "OFF", { responseTopic: "answers", correlation: "a" });
    const answer = await listener.until(at("answers"));
    expect(json(answer)).toMatchObject({ status: "ok" });
    expect(answer.correlation).toBe("a");
    opened.pass(3600);
    await listener.until((heard) => at(`rigbridge/miner/${uid}/state`)(heard) && json(heard).mining === "OFF", from);
    await listener.until(
      (heard) => at(`rigbridge/miner/${uid}/event`)(heard) && json(heard).event_type === "status",
      from,
    );
    await listener.publish(`rigbridge/miner/${uid}/action`, '{"action": "start", "transaction": 7}');
    const started = await listener.until(at(`rigbridge/miner/${uid}/response`));
    expect(json(started)).toMatchObject({ status: "ok", transaction: 7 });
    opened.pass(3600);
    const later = listener.received.length;
    await listener.until(
      (heard) => at(`rigbridge/miner/${uid}/state`)(heard) && json(heard).mining === "ON",
      Math.min(later, listener.received.indexOf(started)),
    );
  });

  test("requests are answered as the API answers", async () => {
    await bridged(opened.service, { url: mosquitto.url });
    const listener = await listening(mosquitto.url, ["rigbridge/bridge/#", "answers"]);
    await listener.until((heard) => at("rigbridge/bridge/state")(heard) && heard.payload === "online");
    const ask = async (operation: string, payload: string): Promise<Record<string, unknown>> => {
      const from = listener.received.length;
      await listener.publish(`rigbridge/bridge/request/${operation}`, payload);
      return json(await listener.until(at(`rigbridge/bridge/response/${operation}`), from));
    };
    const one = await ask("getMiner", `{"id": ${opened.steered}, "transaction": "t"}`);
    expect(one).toMatchObject({ status: "ok", transaction: "t", data: { id: opened.steered } });
    expect(await ask("getMiner", '{"id": "x"}')).toMatchObject({ status: "error", code: "input.invalid" });
    expect(await ask("getMiner", '{"id": 1, "name": "y"}')).toMatchObject({ errors: [{ path: "name" }] });
    expect(await ask("getMiner", "{}")).toMatchObject({ errors: [{ path: "id", message: "is required" }] });
    expect(await ask("getMiner", "no JSON {")).toMatchObject({ code: "input.invalid" });
    expect(await ask("getMiner", "[1]")).toMatchObject({ code: "input.invalid" });
    expect(await ask("getMiner", '{"id": 999999}')).toMatchObject({ code: "not.found" });
    expect(await ask("noSuchThing", "{}")).toMatchObject({ code: "not.found" });
    expect(await ask("watchEvents", "{}")).toMatchObject({ code: "not.found" });
    const history = await ask("getHistory", `{"id": ${opened.steered}, "step": 60}`);
    expect(history).toMatchObject(isReference ? { code: "service.unsupported" } : { status: "ok" });
    const saved = await ask("savePool", '{"url": "javascript:alert(1)"}');
    expect(saved).toMatchObject({ code: "input.invalid", errors: [{ path: "url" }] });
  });
});

describe("a bridge", () => {
  let mosquitto: Mosquitto;
  let opened: Opened;
  beforeAll(async () => {
    const [own] = kinds;
    if (own === undefined) throw new Error("there is no kind");
    opened = await own.open();
  });
  afterAll(() => opened.close());

  async function fresh(): Promise<string> {
    mosquitto = await startMosquitto();
    const { stop } = mosquitto;
    cleanup.push(stop);
    return mosquitto.url;
  }

  const uids = async (): Promise<(string | null)[]> => {
    const { groupList } = await opened.service.listMiners({}, caller);
    return groupList.flatMap(({ minerList }) => minerList.map(({ uid }) => uid));
  };

  test("publishes everything again each of 20 times the broker is killed and loses all messages", async () => {
    const url = await fresh();
    await bridged(opened.service, { url });
    const wanted = [
      "rigbridge/bridge/state",
      "rigbridge/bridge/info",
      "rigbridge/summary",
      "rigbridge/notifications",
      "homeassistant/device/rigbridge_farm/config",
      ...(await uids()).flatMap((uid) => [
        `rigbridge/miner/${uid}/state`,
        `rigbridge/miner/${uid}/availability`,
        `homeassistant/device/rigbridge_miner_${uid}/config`,
      ]),
    ];
    const before = await retainedAtLeast(url, wanted);
    for (let round = 0; round < 20; round += 1) {
      await mosquitto.kill();
      await mosquitto.start();
      const after = await retainedAtLeast(url, wanted);
      expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
    }
  });

  test("is offline while its service cannot be reached, and online after that", async () => {
    const url = await fresh();
    let isAway = true;
    const listMiners: typeof opened.service.listMiners = async (...asked) => {
      if (isAway) throw new RigbridgeError("service.unreachable", "Nobody answers");
      return opened.service.listMiners(...asked);
    };
    const listener = await listening(url, ["rigbridge/bridge/state"]);
    await bridged({ ...opened.service, listMiners }, { url });
    await listener.until(({ payload }) => payload === "offline");
    isAway = false;
    await listener.until(({ payload }) => payload === "online");
  });

  test("publishes everything again when Home Assistant has started", async () => {
    const url = await fresh();
    await bridged(opened.service, { url });
    const [uid] = await uids();
    const listener = await listening(url);
    await listener.until(at(`homeassistant/device/rigbridge_miner_${uid}/config`));
    const from = listener.received.length;
    await listener.publish("homeassistant/status", "online");
    for (const topic of [`rigbridge/miner/${uid}/availability`, "rigbridge/bridge/state", "rigbridge/summary"])
      await listener.until(at(topic), from);
    await listener.until(at(`homeassistant/device/rigbridge_miner_${uid}/config`), from);
  });

  test("publishes its will when it is closed", async () => {
    const url = await fresh();
    const bridge = await bridged(opened.service, { url });
    const listener = await listening(url, ["rigbridge/bridge/state"]);
    await listener.until(({ payload }) => payload === "online");
    await bridge.close();
    await listener.until(({ payload }) => payload === "offline");
    await listener.publish("rigbridge/bridge/state", "end");
    await listener.until(({ payload }) => payload === "end");
    // Once, and not at the start: nothing was off then.
    expect(listener.received.map(({ payload }) => payload)).toEqual(["online", "offline", "end"]);
  });

  test("clears what an earlier run retained for miners and groups that no longer exist", async () => {
    const url = await fresh();
    const listener = await listening(url);
    for (const topic of ["miner/gone/state", "miner/gone/availability", "group/77/state", "miner/gone/other"])
      await listener.publish(`rigbridge/${topic}`, "{}", { retain: true });
    await bridged(opened.service, { url });
    for (const topic of ["miner/gone/state", "miner/gone/availability", "group/77/state"])
      await listener.until((heard) => heard.topic === `rigbridge/${topic}` && heard.payload === "");
    expect((await retainedAt(url)).has("rigbridge/miner/gone/other")).toBe(true);
  });

  test("clears it also where the broker answers late", async () => {
    const url = await fresh();
    const listener = await listening(url);
    const topic = "rigbridge/miner/gone/state";
    await listener.publish(topic, "{}", { retain: true });
    const slow = await startSlowBroker(mosquitto.port, "rigbridge/miner/+/state");
    cleanup.push(() => slow.close());
    await bridged(opened.service, { url: slow.url, homeAssistant: false });
    await slow.subscribed();
    // Longer than the messages of a quick broker are waited for.
    await setTimeout(3_500);
    slow.release();
    await listener.until((heard) => heard.topic === topic && heard.payload === "");
  });

  test("keeps the unit of each hash rate across a restart", async () => {
    const url = await fresh();
    const folder = mkdtempSync(join(tmpdir(), "rigbridge-units-"));
    cleanup.push(() => rmSync(folder, { recursive: true }));
    const unitsFile = join(folder, "units.json");
    const { writeFileSync, readFileSync } = await import("node:fs");
    const [uid = ""] = await uids();
    writeFileSync(unitsFile, JSON.stringify({ [uid ?? ""]: "MH/s", broken: "apples", other: 3 }));
    const bridge = await bridged(opened.service, { url }, { unitsFile });
    const listener = await listening(url);
    const state = json(await listener.until(at(`rigbridge/miner/${uid}/state`)));
    expect(state.hashrate_display).toBeCloseTo(Number(state.hashrate) / 1e6, -2);
    await bridge.close();
    expect(JSON.parse(readFileSync(unitsFile, "utf8"))).toMatchObject({ [uid ?? ""]: "MH/s", farm: "TH/s" });
  });

  test("publishes a new name at once, and clears the topics of a deleted miner", async () => {
    const url = await fresh();
    await bridged(opened.service, { url });
    const listener = await listening(url);
    const { startFarm } = await import("../../src/simulator/index.ts");
    const farm = await startFarm({ rigs: [{ kind: "axeos", mac: "02:51:00:00:00:77" }] });
    cleanup.push(() => farm.close());
    const { id } = await opened.service.addMiner({ address: farm.rigs[0]?.address ?? "" }, caller);
    await opened.service.pollMiner({ id }, caller);
    const { uid } = await opened.service.getMiner({ id }, caller);
    await listener.until(at(`rigbridge/miner/${uid}/state`));
    await listener.until(at(`homeassistant/device/rigbridge_miner_${uid}/config`));
    await opened.service.changeMiner({ id, name: "Heater + # /" }, caller);
    await listener.until((heard) => at(`rigbridge/miner/${uid}/state`)(heard) && json(heard).name === "Heater + # /");
    await opened.service.deleteMiner({ id }, caller);
    const config = `homeassistant/device/rigbridge_miner_${uid}/config`;
    for (const topic of [`rigbridge/miner/${uid}/state`, `rigbridge/miner/${uid}/availability`, config])
      await listener.until((heard) => heard.topic === topic && heard.payload === "");
    const from = listener.received.length;
    await listener.publish("homeassistant/status", "online");
    await listener.until(({ topic }) => topic === "homeassistant/device/rigbridge_farm/config", from);
    // The device goes before its topics, whose emptiness would be an error; and once.
    const emptied = listener.received.flatMap(({ topic, payload }) => (payload === "" ? [topic] : []));
    expect(emptied).toEqual([config, `rigbridge/miner/${uid}/state`, `rigbridge/miner/${uid}/availability`]);
  });
});
