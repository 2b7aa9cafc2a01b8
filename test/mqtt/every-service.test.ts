import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Bridge } from "../../src/mqtt/bridge.ts";
import { caller, kinds, type Opened } from "../contract/kinds.ts";
import { bridgeTo } from "./bridged.ts";
import { checkDevices, checkState } from "./home-assistant-checker.ts";
import { type Mosquitto, type Received, type Subscriber, startMosquitto, subscribeAt } from "./mosquitto.ts";

const at = (topic: string) => (heard: Received) => heard.topic === topic && heard.payload !== "";
const json = ({ payload }: Received): Record<string, unknown> => JSON.parse(payload);

describe.each(kinds)("Home Assistant with a bridge over $name", ({ open, isReference }) => {
  let mosquitto: Mosquitto;
  let opened: Opened;
  let bridge: Bridge;
  let listener: Subscriber;
  beforeAll(async () => {
    [mosquitto, opened] = await Promise.all([startMosquitto(), open()]);
    listener = await subscribeAt(mosquitto.url);
    bridge = await bridgeTo(opened.service, { url: mosquitto.url });
  });
  afterAll(async () => {
    await bridge.close();
    await listener.close();
    await opened.close();
    await mosquitto.stop();
  });

  const uidOf = async (id: number) => (await opened.service.getMiner({ id }, caller)).uid;
  const configOf = (uid: string | null) => listener.until(at(`homeassistant/device/rigbridge_miner_${uid}/config`));

  test("finds every miner and group and the farm in valid messages, with valid states", async () => {
    const { groupList } = await opened.service.listMiners({}, caller);
    const groups = groupList.flatMap((group) => [group, ...(group.groupList ?? [])]);
    const ids = [
      "farm",
      "bridge",
      ...groups.filter(({ id }) => id > 0).map(({ id }) => `group_${id}`),
      ...groups.flatMap(({ minerList }) => minerList.map(({ uid }) => `miner_${uid}`)),
    ];
    const topics = ids.map((id) => `homeassistant/device/rigbridge_${id}/config`);
    for (const topic of topics) await listener.until(at(topic));
    const all = listener.received.filter(({ topic }) => topic.startsWith("homeassistant/"));
    const configs = new Map(all.map(({ topic, payload }) => [topic, payload]));
    expect([...configs.keys()].sort()).toEqual(topics.sort());
    expect(checkDevices(configs)).toEqual([]);
    for (const payload of configs.values()) {
      const { state_topic: topic, availability, device } = JSON.parse(payload);
      const state = await listener.until(at(topic));
      expect([device.name, checkState(payload, state.payload)]).toEqual([device.name, []]);
      for (const each of availability) await listener.until(at(each.topic));
    }
  });

  test("stops and starts a miner with the announced switch, and sees the change", async () => {
    const uid = await uidOf(opened.steered);
    const { mining } = JSON.parse((await configOf(uid)).payload).components;
    for (const word of [mining.payload_off, mining.payload_on]) {
      const from = listener.received.length;
      await listener.publish(mining.command_topic, word);
      expect(json(await listener.until(at(`rigbridge/miner/${uid}/response`), from))).toMatchObject({ status: "ok" });
      opened.pass(3600);
      await listener.until((heard) => at(`rigbridge/miner/${uid}/state`)(heard) && json(heard).mining === word, from);
    }
  });

  test("selects another pool by an announced name, and sees the miner change to it", async () => {
    const uid = await uidOf(opened.pooled);
    const { pool } = JSON.parse((await configOf(uid)).payload).components;
    const state = await listener.until(at(`rigbridge/miner/${uid}/state`));
    const other = pool.options.find((name: string) => name !== json(state).pool_name);
    const from = listener.received.length;
    await listener.publish(pool.command_topic, other);
    expect(json(await listener.until(at(`rigbridge/miner/${uid}/response`), from))).toMatchObject({ status: "ok" });
    opened.pass(3600);
    await listener.until((heard) => at(`rigbridge/miner/${uid}/state`)(heard) && json(heard).pool_name === other, from);
  });

  test.each([
    ["power_limit/set", "900", "control.absent"],
    ["temperature/set", "20", "control.absent"],
    ["mining/set", "MAYBE", "input.invalid"],
    ["pool/set", "nowhere", "input.invalid"],
    ["action", '{"action": "set_power_limit", "watts": 900}', isReference ? "service.unsupported" : "control.absent"],
    ["action", '{"action": "apply_template", "template_id": 77}', "not.found"],
  ])("gets an error for %s %s", async (topic, payload, code) => {
    const uid = await uidOf(opened.steered);
    const options = { responseTopic: "answers", correlation: topic };
    const from = listener.received.length;
    await listener.publish(`rigbridge/miner/${uid}/${topic}`, payload, options);
    const answer = await listener.until(at("answers"), from);
    expect(answer.correlation).toBe(topic);
    expect(json(answer)).toMatchObject({ status: "error", code, error: expect.any(String) });
  });
});
