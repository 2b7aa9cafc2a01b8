import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { pino } from "pino";
import { MqttSettings } from "../../../src/config/mqtt.ts";
import { type Bridge, startBridge } from "../../../src/mqtt/bridge.ts";
import { specimens } from "../../docs/specimens.ts";
import { until } from "../../until.ts";
import { checkDevices, checkState } from "../home-assistant-checker.ts";
import { type Mosquitto, type Subscriber, startMosquitto, subscribeAt } from "../mosquitto.ts";
import { type Families, openFamilies } from "./families.ts";

let families: Families;
let mosquitto: Mosquitto;
let listening: Subscriber;
let bridge: Bridge;

beforeAll(async () => {
  [families, mosquitto] = await Promise.all([openFamilies(), startMosquitto()]);
  listening = await subscribeAt(mosquitto.url);
  bridge = await startBridge({
    service: families.service,
    settings: { ...MqttSettings.parse({ url: mosquitto.url }), url: mosquitto.url },
    log: pino({ level: "silent" }),
    version: "1.2.3",
    unitsFile: null,
    currency: "SEK",
  });
});
afterAll(async () => {
  await bridge.close();
  await listening.close();
  await mosquitto.stop();
  await families.close();
});

test("a bridge announces every family, and publishes valid values at the announced topics", async () => {
  const configs = new Map<string, string>();
  const isComplete = (): boolean => {
    for (const { topic, payload } of listening.received)
      if (topic.endsWith("/config") && !configs.has(topic)) configs.set(topic, payload);
    // The farm, the bridge, two groups, and the miners.
    return configs.size >= specimens.length + 4;
  };
  await until(isComplete, "every family to be announced");
  expect(checkDevices(configs)).toEqual([]);
  for (const payload of configs.values()) {
    const { state_topic: state, availability, device, components } = JSON.parse(payload);
    for (const { platform, default_entity_id: id } of Object.values<Record<string, unknown>>(components))
      expect(id).toMatch(new RegExp(`^${platform}\\.[a-z0-9_]+$`));
    const said = await listening.until(({ topic }) => topic === state);
    expect([device.name, checkState(payload, said.payload)]).toEqual([device.name, []]);
    for (const { topic } of availability) {
      const word = await listening.until((heard) => heard.topic === topic && heard.payload === "online");
      expect(word.payload).toBe("online");
    }
  }
});

test("a control, a button and a thermostat reach the service through the announced topics", async () => {
  const miner = families.miners.find(({ name }) => name === "Rig 1");
  const { payload } = await listening.until(({ topic }) => topic.endsWith(`_miner_${miner?.uid}/config`));
  const { thermostat, locate } = JSON.parse(payload).components;
  const answered = (from: number) =>
    listening.until(({ topic }) => topic === `rigbridge/miner/${miner?.uid}/response`, from);
  const warmer = listening.received.length;
  const command = String(thermostat.temperature_command_template).replace("{{ value }}", "22.5");
  await listening.publish(thermostat.temperature_command_topic, command);
  expect(JSON.parse((await answered(warmer)).payload)).toMatchObject({ status: "ok" });
  const blinking = listening.received.length;
  await listening.publish(locate.command_topic, locate.payload_on);
  expect(JSON.parse((await answered(blinking)).payload)).toMatchObject({ status: "ok" });
  const state = await listening.until(
    (heard) => heard.topic === `rigbridge/miner/${miner?.uid}/state` && JSON.parse(heard.payload).locate === "ON",
  );
  expect(JSON.parse(state.payload)).toMatchObject({ room_target: 22.5, locate: "ON" });
});

test("a thermostat that is off has stopped its rig, and one that heats leaves the rig to the room", async () => {
  const miner = families.miners.find(({ name }) => name === "Rig 1");
  const { payload } = await listening.until(({ topic }) => topic.endsWith(`_miner_${miner?.uid}/config`));
  const { mode_command_topic: topic } = JSON.parse(payload).components.thermostat;
  const becomes = async (mode: string): Promise<Record<string, unknown>> => {
    const from = listening.received.length;
    await listening.publish(topic, mode);
    const state = await listening.until(
      (heard) =>
        heard.topic === `rigbridge/miner/${miner?.uid}/state` && JSON.parse(heard.payload).heating_mode === mode,
      from,
    );
    return JSON.parse(state.payload);
  };
  expect(await becomes("off")).toMatchObject({ mining: "OFF", heating_action: "off" });
  expect(await becomes("heat")).toMatchObject({ room_target: 22.5 });
  const from = listening.received.length;
  await listening.publish(topic, "cool");
  const refused = await listening.until(
    (heard) => heard.topic === `rigbridge/miner/${miner?.uid}/response` && JSON.parse(heard.payload).status === "error",
    from,
  );
  expect(JSON.parse(refused.payload)).toMatchObject({
    code: "input.invalid",
    error: expect.stringContaining("off or heat"),
  });
});
