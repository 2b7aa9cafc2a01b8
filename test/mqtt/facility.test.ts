import { afterEach, expect, test } from "@jest/globals";
import { startSensor, type VirtualSensor } from "../../src/simulator/index.ts";
import { ownHost } from "../own-host.ts";
import { type Bench, caller, closeBenches, openBench } from "../service/bench.ts";
import { until } from "../until.ts";
import { bridgeTo } from "./bridged.ts";
import { checkDevices, checkState } from "./home-assistant-checker.ts";
import { type Mosquitto, startMosquitto } from "./mosquitto.ts";
import { retainedAt, retainedAtLeast } from "./retained.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
  await closeBenches();
});

const config = "homeassistant/device/rigbridge_facility_hall/config";
const [state, availability] = ["rigbridge/facility/hall/state", "rigbridge/facility/hall/availability"];

/** A service with a sensor that it has read once. */
async function withSensor(): Promise<{ bench: Bench; sensor: VirtualSensor; mosquitto: Mosquitto }> {
  const mosquitto = await startMosquitto();
  cleanup.push(() => mosquitto.stop());
  const sensor = await startSensor(ownHost());
  cleanup.push(() => sensor.close());
  const bench = await openBench({ rigs: [] });
  const settings = { key: "hall", name: "Hall", kind: "sensor", driver: "http-json", place: ["Texas", "B1"] };
  const paths = { temperature: "sensors.0.temperature" };
  const value = [{ ...settings, url: sensor.url, paths, interval: 2 }];
  await bench.service.saveSettings({ section: "facility", value }, caller);
  await until(
    async () => (await bench.service.listFacility({}, caller))[0]?.state === "ok",
    "the service to read the sensor",
  );
  return { bench, sensor, mosquitto };
}

test("a facility device has topics, and is a device of Home Assistant with its readings", async () => {
  const { bench, mosquitto } = await withSensor();
  const bridge = await bridgeTo(bench.service, { url: mosquitto.url });
  cleanup.push(() => bridge.close());
  const all = await retainedAtLeast(mosquitto.url, [state, availability, config]);
  expect(all.get(availability)).toBe("online");
  const said = all.get(state) ?? "";
  expect(JSON.parse(said)).toEqual({
    name: "Hall",
    kind: "sensor",
    state: "ok",
    problem: null,
    place: ["Texas", "B1"],
    power: null,
    energy: null,
    voltage: null,
    current: null,
    temperature: 24.5,
    on: null,
  });
  const payload = all.get(config) ?? "";
  expect(checkDevices(new Map([[config, payload]]))).toEqual([]);
  expect(checkState(payload, said)).toEqual([]);
  const { device, components } = JSON.parse(payload);
  expect(device).toMatchObject({ name: "Hall", model: "Sensor", suggested_area: "B1" });
  expect(Object.keys(components).toSorted()).toEqual(["connectivity", "problem", "temperature"]);
  expect(components.temperature).toMatchObject({ unit_of_measurement: "°C", device_class: "temperature" });
});

test("a device that is gone from the settings is gone from the broker, also after a restart of the bridge", async () => {
  const { bench, mosquitto } = await withSensor();
  const first = await bridgeTo(bench.service, { url: mosquitto.url });
  await retainedAtLeast(mosquitto.url, [state, availability, config]);
  await first.close();
  await bench.service.saveSettings({ section: "facility", value: [] }, caller);
  const second = await bridgeTo(bench.service, { url: mosquitto.url });
  cleanup.push(() => second.close());
  await until(async () => {
    const left = await retainedAt(mosquitto.url);
    return [availability, config].every((topic) => !left.has(topic));
  }, "the broker to forget the device");
});
