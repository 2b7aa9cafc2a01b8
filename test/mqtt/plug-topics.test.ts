import { afterEach, describe, expect, test } from "@jest/globals";
import { MqttPlugSettings } from "../../src/contract/plug-settings.ts";
import type { Caller } from "../../src/contract/service.ts";
import { BrokerMessages } from "../../src/mqtt/messages.ts";
import { problem, refusal } from "../errors.ts";
import { type Bench, caller, closeBenches, openBench } from "../service/bench.ts";
import { until } from "../until.ts";
import { bridgeTo, recordingLog } from "./bridged.ts";
import { startMosquitto, subscribeAt } from "./mosquitto.ts";
import { startOldBroker } from "./old-broker.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await closeBenches();
});

const saveUser = "rigbridge/bridge/request/saveUser";
const mallory = JSON.stringify({ id: 0, name: "mallory", key: "a-key-of-mallory-123", privilege: "administrator" });

const plugAt = (set: string, state = "plugs/garage") =>
  MqttPlugSettings.parse({
    type: "mqtt",
    topics: { set, state },
    payloads: { off: mallory },
    cutPower: true,
    delay: 0,
  });

/** A service and its bridge at a real broker, which speaks the one version or the other; anna administers one group. */
async function farm(version: 4 | 5, mqtt: Record<string, unknown> = {}) {
  const broker = await startMosquitto();
  closing.push(() => broker.stop());
  const old = version === 4 ? await startOldBroker(broker.port) : null;
  if (old !== null) closing.push(() => old.close());
  const url = old?.url ?? broker.url;
  const messages = new BrokerMessages(Date.now);
  const bench = await openBench({
    rigs: [{ kind: "cgminer", hardware: "sticks", warm: true }],
    config: { mqtt: { url, ...mqtt }, groups: [{ name: "Barn" }] },
    messages,
  });
  const { log, lines } = recordingLog();
  const bridge = await bridgeTo(bench.service, { url, ...mqtt }, { log });
  closing.push(() => bridge.close());
  messages.join(bridge.connection);
  const others = await subscribeAt(broker.url);
  closing.push(() => others.close());
  await others.until(({ topic }) => topic.endsWith("/summary"));
  expect(bridge.connection.version).toBe(version);
  const { id } = await bench.service.saveUser({ id: 0, name: "anna", privilege: "administrator", groups: [1] }, caller);
  const anna: Caller = { actor: "anna", userId: id };
  return { bench, bridge, others, anna, lines, broker };
}

const namesIn = async ({ service }: Bench) => (await service.listUsers({}, caller)).map(({ name }) => name);

describe("a plug that is declared over the API", () => {
  test.each([
    [saveUser, {}],
    ["rigbridge/miner/x/set", { plugTopics: ["#"] }],
    ["rigbridge", { plugTopics: ["+"] }],
    ["farm/one/group/1/action", { base: "farm/one", plugTopics: ["farm"] }],
    ["homeassistant/switch/x/config", { plugTopics: ["#"] }],
    ["ha/status", { homeAssistant: { prefix: "ha" }, plugTopics: ["ha/#"] }],
    ["zigbee2mqtt/door/set", {}],
    ["zigbee2mqtt/door/set", { plugTopics: ["zigbee2mqtt/plug/set", "cmnd/+/POWER"] }],
    ["zigbee2mqtt/plug/get", { plugTopics: ["zigbee2mqtt/+/set"] }],
    ["zigbee2mqtt2/plug", { plugTopics: ["zigbee2mqtt"] }],
  ])("is not switched at %s with %j, whatever the caller", async (set, mqtt) => {
    const { bench, anna } = await farm(5, mqtt);
    const { address } = bench.rig(0);
    for (const who of [caller, anna]) {
      const add = bench.service.addMiner({ address, group: "Barn", supply: plugAt(set) }, who);
      expect((await problem(add)).errors.map(({ path }) => path)).toEqual(["supply.topics.set"]);
    }
    const id = await bench.add(address, { group: "Barn" });
    expect(await refusal(bench.service.changeMiner({ id, supply: plugAt(set) }, anna))).toBe(
      "input.invalid supply.topics.set",
    );
  });

  test.each([
    ["zigbee2mqtt/plug/set", ["zigbee2mqtt/+/set"]],
    ["cmnd/plug/POWER", ["zigbee2mqtt/#", "cmnd"]],
    ["plugs/garage/set", ["plugs/garage/set"]],
  ])("is switched at %s where the file allows %j, and read anywhere", async (set, plugTopics) => {
    const { bench, anna, others } = await farm(5, { plugTopics });
    const state = "homeassistant/switch/plug/state";
    await others.publish(state, "ON", { retain: true });
    const supply = { ...plugAt(set, state), payloads: { on: "ON", off: "OFF" } };
    const { id } = await bench.service.addMiner({ address: bench.rig(0).address, group: "Barn", supply }, anna);
    await until(async () => (await bench.poll(id)).controls.some(({ key }) => key === "mining"), "the plug to be read");
    const stopping = bench.service.minerAction({ id, action: "stop" }, anna);
    expect((await others.until(({ topic }) => topic === set)).payload).toBe("OFF");
    await others.publish(state, "OFF", { retain: true });
    expect(await stopping).toMatchObject({ state: "done" });
  });
});

describe.each([4, 5] as const)("with MQTT %d", (version) => {
  test("a stored plug with a set topic of the bridge is read but not switched, and logged", async () => {
    const { bench, others } = await farm(version);
    const id = await bench.add(bench.rig(0).address, { group: "Barn" });
    // As POST /api/miners has taken it.
    await bench.store.miners.change(id, { supply: plugAt(saveUser) });
    await bench.restart({ mqtt: { url: "mqtt://127.0.0.1:1" }, groups: [{ name: "Barn" }] });
    await others.publish("plugs/garage", "ON", { retain: true });
    await until(async () => (await bench.poll(id)).readings.hashrate !== null, "the rig to be read");
    expect((await bench.get(id)).controls.some(({ key }) => key === "mining")).toBe(false);
    expect(await refusal(bench.act(id, { action: "stop" }))).toBe("control.absent");
    expect(await namesIn(bench)).toEqual(["anna"]);
  });

  test("no message of the service becomes a request to it, even with two subscriptions", async () => {
    const { bench, bridge, others, lines } = await farm(version);
    const heard: string[] = [];
    bridge.connection.subscribe([saveUser], ({ payload }) => heard.push(payload.toString()));
    for (const topic of [saveUser, "rigbridge/miner/x/set", "rigbridge/group/1/action", "rigbridge/miner/x/mode/set"])
      bridge.connection.publish({ topic, payload: mallory, qos: 1, retain: false });
    bridge.connection.publish({ topic: "plugs/last", payload: "1", qos: 1, retain: false });
    await others.until(({ topic }) => topic === "plugs/last");
    expect(others.received.some(({ payload }) => payload === mallory)).toBe(false);
    expect(lines.some(({ msg }) => msg.startsWith("A message is not published"))).toBe(true);
    // Messages of other clients still reach both.
    await others.publish(saveUser, JSON.stringify({ id: 0, name: "bert" }));
    await until(async () => (await namesIn(bench)).includes("bert"), "the request of another client to be done");
    expect(heard).toHaveLength(1);
    expect(await namesIn(bench)).not.toContain("mallory");
  });

  test("a plug that reads a topic of the bridge takes no messages from the bridge, nor its subscription when it ends", async () => {
    const { bench, bridge, broker, others } = await farm(version, { plugTopics: ["plugs/#"] });
    const supply = plugAt("plugs/garage/set", "homeassistant/status");
    const id = await bench.add(bench.rig(0).address, { supply });
    for (const gone of [false, true]) {
      if (gone) await bench.service.deleteMiner({ id }, caller);
      const from = others.received.length;
      await others.publish("homeassistant/status", "online");
      await others.until(({ topic }) => topic === "rigbridge/bridge/info", from);
    }
    expect(bridge.connection.isConnected).toBe(true);
    expect(broker.port).toBeGreaterThan(0);
  });
});
