import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { startFarm } from "../../src/simulator/index.ts";
import { running } from "../cli/command.ts";
import { type Received, startMosquitto, subscribeAt } from "./mosquitto.ts";
import { retainedAt } from "./retained.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

const at = (topic: string, payload?: string) => (heard: Received) =>
  heard.topic === topic && (payload === undefined || heard.payload === payload);

test("a killed service and all of its devices are offline at once, and online after a restart", async () => {
  const mosquitto = await startMosquitto();
  cleanup.push(() => mosquitto.stop());
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
  cleanup.push(() => farm.close());
  const folder = mkdtempSync(join(tmpdir(), "rigbridge-killed-"));
  cleanup.push(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rigbridge.yaml");
  const miners = `miners:\n  - address: ${farm.rigs[0]?.address}\n`;
  const http = "http: { port: 0 }\n";
  writeFileSync(file, `${http}store: { url: ${folder}/rigbridge.db }\nmqtt: { url: "${mosquitto.url}" }\n${miners}`);
  const listener = await subscribeAt(mosquitto.url);
  cleanup.push(() => listener.close());
  const start = async () => {
    const started = await running(["serve", "--config", file], /Rigbridge/);
    cleanup.push(() => started.signal("SIGKILL"));
    return started;
  };

  const first = await start();
  const config = /^homeassistant\/device\/rigbridge_miner_.+\/config$/;
  const { payload } = await listener.until(({ topic }) => config.test(topic));
  const { availability } = JSON.parse(payload);
  await listener.until(at("rigbridge/bridge/state", "online"));
  const [bridge, miner] = availability.map(({ topic }: { topic: string }) => topic);
  expect(bridge).toBe("rigbridge/bridge/state");
  await listener.until(at(miner, "online"));
  const killed = listener.received.length;
  first.signal("SIGKILL");
  await listener.until(at(bridge, "offline"), killed);
  // For clients that subscribe meanwhile too.
  expect((await retainedAt(mosquitto.url)).get(bridge)).toBe("offline");
  await first.ended;

  const again = listener.received.length;
  const second = await start();
  await listener.until(at(bridge, "online"), again);
  expect((await retainedAt(mosquitto.url)).get(bridge)).toBe("online");
  expect(listener.received.slice(again).filter(({ topic, payload }) => config.test(topic) && payload === "")).toEqual(
    [],
  );
  const stopped = listener.received.length;
  second.signal("SIGTERM");
  expect((await second.ended).code).toBe(0);
  await listener.publish("end", "");
  await listener.until(({ topic }) => topic === "end");
  // Once: the broker does not publish the will as well.
  expect(listener.received.slice(stopped).filter(at(bridge, "offline"))).toHaveLength(1);
});
