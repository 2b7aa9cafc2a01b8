import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { startFarm, startTwin } from "../../src/simulator/index.ts";
import { type Received, startMosquitto, subscribeAt } from "../mqtt/mosquitto.ts";
import { retainedAt } from "../mqtt/retained.ts";
import { startSlowBroker } from "../mqtt/slow-broker.ts";
import { until } from "../until.ts";
import { command, rigbridge, running } from "./command.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

const isInfo = ({ topic, payload }: Received): boolean => topic === "rigbridge/bridge/info" && payload !== "";

async function place() {
  const mosquitto = await startMosquitto();
  cleanup.push(() => mosquitto.stop());
  const listener = await subscribeAt(mosquitto.url);
  cleanup.push(() => listener.close());
  const folder = mkdtempSync(join(tmpdir(), "rigbridge-mqtt-"));
  cleanup.push(() => rmSync(folder, { recursive: true }));
  return { url: mosquitto.url, port: mosquitto.port, listener, folder };
}

test("rigbridge mqtt bridges a foreign service to a broker, and publishes that it went offline", async () => {
  const { url, listener, folder } = await place();
  const twin = await startTwin({ miners: 3, key: "invented-key-of-a-test" });
  cleanup.push(() => twin.close());
  const args = ["mqtt", "--service", twin.url, "--broker", url, "--base", "mine", "--data", folder];
  const bridge = await running(args, /bridges/, { env: { RIGBRIDGE_KEY: "invented-key-of-a-test" } });
  await listener.until(({ topic }) => /^mine\/miner\/.+\/state$/.test(topic));
  const announced = await listener.until(({ topic }) => topic === "homeassistant/device/mine_farm/config");
  expect(JSON.parse(announced.payload).device.configuration_url).toBe(twin.url);
  bridge.signal("SIGTERM");
  await listener.until(({ topic, payload }) => topic === "mine/bridge/state" && payload === "offline");
  expect((await bridge.ended).code).toBe(0);
});

test("a second rigbridge mqtt waits with a sentence while another has the topics", async () => {
  const { url, listener, folder } = await place();
  const twin = await startTwin({ miners: 3, key: "invented-key-of-a-test" });
  cleanup.push(() => twin.close());
  const env = { RIGBRIDGE_KEY: "invented-key-of-a-test" };
  const args = (data: string) => ["mqtt", "--service", twin.url, "--broker", url, "--data", join(folder, data)];
  const first = await running(args("one"), /Connected/, { env });
  await listener.until(({ topic, payload }) => topic === "rigbridge/bridge/state" && payload === "online");
  const second = await running(args("two"), /publishes the same MQTT topics .* so this one waits/, { env });
  for (const each of [second, first]) {
    each.signal("SIGTERM");
    expect((await each.ended).code).toBe(0);
  }
});

test("rigbridge mqtt restarts its bridge on command", async () => {
  const { url, listener, folder } = await place();
  const args = ["mqtt", "--service", "http://127.0.0.1:1", "--broker", url, "--data", folder];
  const bridge = await running(args, /Connected/);
  const isOther = (run: string) => (heard: Received) => isInfo(heard) && JSON.parse(heard.payload).started !== run;
  const { started } = JSON.parse((await listener.until(isOther(""))).payload);
  await listener.publish("rigbridge/bridge/action", "restart");
  await listener.until(isOther(started));
  expect(bridge.said()).toMatch(/Restarting/);
  bridge.signal("SIGTERM");
  expect((await bridge.ended).code).toBe(0);
});

test("rigbridge mqtt names each option that is wrong", async () => {
  const { code, stderr } = await command(["mqtt", "--broker", "ftp://x", "--interval", "soon"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/--broker: must be like mqtt/);
  expect(stderr).toMatch(/--interval: /);
  expect((await command(["mqtt"])).stderr).toMatch(/--broker: is required/);
});

test("rigbridge serve bridges its miners to the broker of the configuration", async () => {
  const { url, listener, folder } = await place();
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
  cleanup.push(() => farm.close());
  const file = join(folder, "rigbridge.yaml");
  const miners = `miners:\n  - address: ${farm.rigs[0]?.address}\n`;
  writeFileSync(file, `http: { port: 0 }\nstore: { url: ${folder}/rigbridge.db }\nmqtt: { url: "${url}" }\n${miners}`);
  const service = await running(["serve", "--config", file], /Rigbridge/);
  await listener.until(({ topic }) => /^rigbridge\/miner\/.+\/state$/.test(topic));
  await listener.until(({ topic }) => /^homeassistant\/device\/rigbridge_miner_.+\/config$/.test(topic));
  const announced = await listener.until(({ topic }) => topic === "homeassistant/device/rigbridge_farm/config");
  const { configuration_url: link } = JSON.parse(announced.payload).device;
  expect((await fetch(`${link}/health`)).status).toBe(200);
  service.signal("SIGTERM");
  await listener.until(({ topic, payload }) => topic === "rigbridge/bridge/state" && payload === "offline");
  expect((await service.ended).code).toBe(0);
});

/** A service with a rig, at a broker; the process and its configuration. */
async function served() {
  const { url, listener, folder } = await place();
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
  cleanup.push(() => farm.close());
  const file = join(folder, "rigbridge.yaml");
  const configure = (more = ""): void =>
    writeFileSync(
      file,
      `http: { port: 0 }\nstore: { url: ${folder}/rigbridge.db }\nmqtt: { url: "${url}" }\n` +
        `miners:\n  - address: ${farm.rigs[0]?.address}\n${more}`,
    );
  configure();
  const service = await running(["serve", "--config", file], /Rigbridge/);
  await listener.until(({ topic }) => /^homeassistant\/device\/rigbridge_miner_.+\/config$/.test(topic));
  return { url, listener, file, configure, service };
}

test("a restart over MQTT closes everything and starts it again with the configuration read anew", async () => {
  const { listener, configure, service } = await served();
  const first = JSON.parse((await listener.until(isInfo)).payload);
  const ask = async (): Promise<Record<string, unknown>> => {
    const from = listener.received.length;
    await listener.publish("rigbridge/bridge/action", "restart");
    return JSON.parse((await listener.until(({ topic }) => topic === "rigbridge/bridge/response", from)).payload);
  };
  configure("    nmae: Heater\n");
  expect(await ask()).toMatchObject({ status: "error", code: "config.invalid" });
  configure("    name: Heater\n");
  const from = listener.received.length;
  expect(await ask()).toMatchObject({ status: "ok", data: { state: "sent" } });
  await listener.until((heard) => heard.topic === "rigbridge/bridge/state" && heard.payload === "offline", from);
  const again = await listener.until((heard) => isInfo(heard) && JSON.parse(heard.payload).started !== first.started);
  expect(JSON.parse(again.payload).version).toBe(first.version);
  await listener.until(
    ({ topic, payload }) => /^rigbridge\/miner\/.+\/state$/.test(topic) && JSON.parse(payload).name === "Heater",
    from,
  );
  service.signal("SIGTERM");
  expect((await service.ended).code).toBe(0);
});

test("rigbridge mqtt --retract lists and removes what a stopped Rigbridge has announced, and nothing else", async () => {
  const { url, listener, file, service } = await served();
  const foreign = {
    "homeassistant/device/other/config": '{"origin": {"name": "Zigbee2MQTT"}}',
    "homeassistant/sensor/other/power/config": '{"state_topic": "x"}',
    "rigbridge/miner/any/mining/set": "ON",
    "rigbridge/mine": "1",
  };
  for (const [topic, payload] of Object.entries(foreign)) await listener.publish(topic, payload, { retain: true });
  const retract = (...more: string[]) => command(["mqtt", "--retract", "--config", file, ...more]);
  const early = await retract();
  expect(early).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Rigbridge is running with the base rigbridge"),
  });
  service.signal("SIGTERM");
  await service.ended;
  const before = await retainedAt(url);
  const dry = await retract("--dry-run");
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("Nothing was removed") });
  const listed = [...dry.stdout.matchAll(/^ {2}(\S+)$/gm)].map(([, topic]) => topic);
  const own = [...before.keys()].filter((topic) => !Object.hasOwn(foreign, topic));
  expect(listed.toSorted()).toEqual(own.toSorted());
  expect(await retainedAt(url)).toEqual(before);
  const done = await retract();
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining(`Removed ${own.length} of ${own.length}`) });
  expect(Object.fromEntries(await retainedAt(url))).toEqual(foreign);
  const emptied = listener.received.flatMap(({ topic, payload }) => (payload === "" ? [topic] : []));
  expect(emptied.findLastIndex((topic) => topic.startsWith("homeassistant/"))).toBeLessThan(
    emptied.findIndex((topic) => topic.startsWith("rigbridge/")),
  );
  expect(await retract()).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("0 discovery messages and 0 topics"),
  });
});

test("rigbridge mqtt --retract works where the state of a killed Rigbridge is online, and for single messages", async () => {
  const { url } = await place();
  const listener = await subscribeAt(url);
  cleanup.push(() => listener.close());
  const config = { origin: { name: "Rigbridge" }, availability: [{ topic: "rigbridge/bridge/state" }], unique_id: "x" };
  const single = "homeassistant/sensor/rigbridge_miner_1/power/config";
  const marked = "homeassistant/device/rigbridge_miner_1/config";
  await listener.publish(single, JSON.stringify(config), { retain: true });
  await listener.publish(marked, '{"migrate_discovery":true}', { retain: true });
  await listener.publish("rigbridge/bridge/state", "online", { retain: true });
  expect(await rigbridge(["mqtt", "--retract", "--broker", url])).toMatchObject({ code: 0, stderr: "" });
  await until(async () => (await retainedAt(url)).size === 0, "everything to be removed");
});

test("rigbridge mqtt --retract waits for a broker that answers late", async () => {
  const { port, listener } = await place();
  await listener.publish("rigbridge/bridge/info", '{"name": "Rigbridge"}', { retain: true });
  const slow = await startSlowBroker(port, "rigbridge/bridge/info");
  cleanup.push(() => slow.close());
  const retracting = rigbridge(["mqtt", "--retract", "--broker", slow.url]);
  await slow.subscribed();
  // Longer than the messages of a quick broker are waited for.
  await setTimeout(2_000);
  slow.release();
  expect(await retracting).toMatchObject({ code: 0, stdout: expect.stringContaining("Removed 1 of 1") });
});

test("rigbridge mqtt --retract says why it cannot work", async () => {
  const { url, listener } = await place();
  const unreachable = await command(["mqtt", "--retract", "--broker", "mqtt://127.0.0.1:1"]);
  expect(unreachable).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("127.0.0.1:1") });
  // Another program with topics like these.
  await listener.publish("zigbee2mqtt/bridge/state", "online", { retain: true });
  await listener.publish("zigbee2mqtt/bridge/info", '{"version": "2"}', { retain: true });
  const other = await command(["mqtt", "--retract", "--broker", url, "--base", "zigbee2mqtt"]);
  expect(other).toMatchObject({ code: 0, stdout: expect.stringContaining("0 topics of Rigbridge") });
  expect((await retainedAt(url)).size).toBe(2);
  expect(await command(["mqtt", "--dry-run", "--broker", url])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--dry-run: is only for --retract"),
  });
});
