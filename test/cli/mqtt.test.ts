import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startFarm, startTwin } from "../../src/simulator/index.ts";
import { startMosquitto, subscribeAt } from "../mqtt/mosquitto.ts";
import { rigbridge, running } from "./command.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

async function place() {
  const mosquitto = await startMosquitto();
  cleanup.push(() => mosquitto.stop());
  const listener = await subscribeAt(mosquitto.url);
  cleanup.push(() => listener.close());
  const folder = mkdtempSync(join(tmpdir(), "rigbridge-mqtt-"));
  cleanup.push(() => rmSync(folder, { recursive: true }));
  return { url: mosquitto.url, listener, folder };
}

test("rigbridge mqtt bridges a foreign service to a broker, and publishes that it went offline", async () => {
  const { url, listener, folder } = await place();
  const twin = await startTwin({ miners: 3, key: "invented-key-of-a-test" });
  cleanup.push(() => twin.close());
  const args = ["mqtt", "--service", twin.url, "--broker", url, "--base", "mine", "--data", folder];
  const bridge = await running(args, /bridges/, { env: { RIGBRIDGE_KEY: "invented-key-of-a-test" } });
  await listener.until(({ topic }) => /^mine\/miner\/.+\/state$/.test(topic));
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

test("rigbridge mqtt names each option that is wrong", async () => {
  const { code, stderr } = await rigbridge(["mqtt", "--broker", "ftp://x", "--interval", "soon"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/--broker: must be like mqtt/);
  expect(stderr).toMatch(/--interval: /);
  expect((await rigbridge(["mqtt"])).stderr).toMatch(/--broker: is required/);
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
  service.signal("SIGTERM");
  await listener.until(({ topic, payload }) => topic === "rigbridge/bridge/state" && payload === "offline");
  expect((await service.ended).code).toBe(0);
});
