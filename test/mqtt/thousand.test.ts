import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { HomeAssistantSettings } from "../../src/config/mqtt.ts";
import type { Bridge } from "../../src/mqtt/bridge.ts";
import { kinds, type Opened } from "../contract/kinds.ts";
import { bridgeTo, type LogLine, recordingLog } from "./bridged.ts";
import { checkDevice } from "./home-assistant-checker.ts";
import { type ManyMiners, manyMiners } from "./many-miners.ts";
import { type Mosquitto, type Received, type Subscriber, startMosquitto, subscribeAt } from "./mosquitto.ts";

const count = 1_000;

let opened: Opened;
let many: ManyMiners;
let mosquitto: Mosquitto;
let listener: Subscriber;
let bridge: Bridge;
let said: LogLine[];

beforeAll(async () => {
  const [own] = kinds;
  if (own === undefined) throw new Error("there is no kind");
  // By default it drops messages for a subscriber that is a thousand behind, as this process may be.
  const config = ["max_queued_messages 0"];
  [opened, mosquitto] = await Promise.all([own.open(), startMosquitto({ config })]);
  many = await manyMiners(opened.service, opened.steered, count);
  listener = await subscribeAt(mosquitto.url);
  const hearing = recordingLog();
  said = hearing.lines;
  const homeAssistant = HomeAssistantSettings.parse({ miners: true });
  bridge = await bridgeTo(many.service, { url: mosquitto.url, homeAssistant }, { log: hearing.log });
});
afterAll(async () => {
  await bridge.close();
  await listener.close();
  await mosquitto.stop();
  await opened.close();
});

const topics = {
  state: (uid: string) => `rigbridge/miner/${uid}/state`,
  availability: (uid: string) => `rigbridge/miner/${uid}/availability`,
  config: (uid: string) => `homeassistant/device/rigbridge_miner_${uid}/config`,
};

/** Resolves once each miner has a new message at this topic. */
async function allAt(topic: (uid: string) => string, from: number, is = (_: Received): boolean => true): Promise<void> {
  const missing = new Set(many.uids.map(topic));
  await listener.until((heard) => {
    if (heard.payload !== "" && missing.has(heard.topic) && is(heard)) missing.delete(heard.topic);
    return missing.size === 0;
  }, from);
}

test("a thousand miners are announced in valid messages", async () => {
  await Promise.all([allAt(topics.state, 0), allAt(topics.availability, 0), allAt(topics.config, 0)]);
  const configs = listener.received.filter(({ topic }) => topic.endsWith("/config"));
  expect(configs.flatMap(({ topic, payload }) => checkDevice(topic, payload))).toEqual([]);
  expect(new Set(configs.map(({ topic }) => topic)).size).toBe(configs.length);
});

test("a change in all of them is published for all of them", async () => {
  for (const power of [100, 200, 300]) {
    const from = listener.received.length;
    many.change(power);
    await allAt(topics.state, from, ({ payload }) => JSON.parse(payload).power === power);
  }
});

test("everything is published again when Home Assistant starts, and when the broker has lost it", async () => {
  for (const again of [
    () => listener.publish("homeassistant/status", "online"),
    async () => {
      await mosquitto.kill();
      await mosquitto.start();
    },
  ]) {
    const from = listener.received.length;
    await again();
    await Promise.all([allAt(topics.state, from), allAt(topics.availability, from), allAt(topics.config, from)]);
  }
  expect(said.filter(({ level }) => level > 40)).toEqual([]);
});
