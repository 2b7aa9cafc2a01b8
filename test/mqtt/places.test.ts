import { afterEach, expect, test } from "@jest/globals";
import { MqttSettings } from "../../src/config/mqtt.ts";
import { retract } from "../../src/mqtt/retract.ts";
import { ownHost } from "../own-host.ts";
import { caller, closeBenches, openBench } from "../service/bench.ts";
import { until } from "../until.ts";
import { bridgeTo } from "./bridged.ts";
import { checkDevices, checkState } from "./home-assistant-checker.ts";
import { startMosquitto } from "./mosquitto.ts";
import { retainedAt, retainedAtLeast } from "./retained.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
  await closeBenches();
});

test("each place has a topic and each site is a device of Home Assistant, until they are removed, also while the bridge is off", async () => {
  const mosquitto = await startMosquitto();
  cleanup.push(() => mosquitto.stop());
  const host = ownHost();
  const bench = await openBench({ rigs: [{ kind: "axeos", host }] });
  const location = { site: "Texas", container: "B1", rack: null, slot: null };
  await bench.add(bench.rig(0).address, { location });
  await bench.service.addPlace({ kind: "site", name: "Ohio", parentId: null, order: 0 }, caller);
  const places = await bench.service.listPlaces({}, caller);
  const named = (name: string) => places.find((each) => each.name === name) ?? { id: 0, uid: "" };
  const topic = (name: string) => `rigbridge/place/${named(name).uid}/state`;
  const config = (name: string) => `homeassistant/device/rigbridge_site_${named(name).uid}/config`;
  const first = await bridgeTo(bench.service, { url: mosquitto.url });
  cleanup.push(() => first.close());
  const all = await retainedAtLeast(mosquitto.url, [
    ...["Ohio", "Texas", "B1"].map(topic),
    ...["Ohio", "Texas"].map(config),
  ]);
  expect(all.has(config("B1"))).toBe(false);
  const state = JSON.parse(all.get(topic("B1")) ?? "");
  expect(state).toMatchObject({ name: "B1", path: "Texas/B1", kind: "building", rigs: 1, mining: 1, alarms: 0 });
  expect([state.power > 0, state.hashrate_sha256 > 0]).toEqual([true, true]);
  const payload = all.get(config("Texas")) ?? "";
  expect(checkDevices(new Map([...all].filter(([each]) => /_(site|farm)/.test(each))))).toEqual([]);
  expect(checkState(payload, all.get(topic("Texas")) ?? "")).toEqual([]);
  const { device, components } = JSON.parse(payload);
  expect(device).toMatchObject({ name: "Texas", model: "Site", via_device: "rigbridge_farm" });
  expect(Object.keys(components).toSorted()).toEqual(["alarms", "mining", "power", "rigs"]);
  await bench.service.deletePlace({ id: named("B1").id }, caller);
  await first.close();
  await bench.service.deletePlace({ id: named("Ohio").id }, caller);
  const second = await bridgeTo(bench.service, { url: mosquitto.url });
  cleanup.push(() => second.close());
  await until(async () => {
    const left = await retainedAt(mosquitto.url);
    return [topic("B1"), topic("Ohio"), config("Ohio")].every((each) => !left.has(each));
  }, "the broker to forget the places");
  expect((await retainedAt(mosquitto.url)).has(config("Texas"))).toBe(true);
  await second.close();
  const settings = { ...MqttSettings.parse({ url: mosquitto.url }), url: mosquitto.url };
  await retract({ settings, dryRun: false, report: () => undefined });
  expect([...(await retainedAt(mosquitto.url)).keys()]).toEqual([]);
});
