import { afterEach, expect, test } from "@jest/globals";
import type { MqttSettings } from "../../src/config/mqtt.ts";
import { type Bench, caller, closeBenches, openBench } from "../service/bench.ts";
import { whatsminer } from "../service/curtailment/curtailment-bench.ts";
import { until } from "../until.ts";
import { bridgeTo } from "./bridged.ts";
import { checkDevices, checkState } from "./home-assistant-checker.ts";
import { type Mosquitto, type Subscriber, startMosquitto, subscribeAt } from "./mosquitto.ts";
import { retainedAt, retainedAtLeast } from "./retained.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
  await closeBenches();
});

const state = "rigbridge/curtailment/state";
const response = "rigbridge/curtailment/response";
const config = "homeassistant/device/rigbridge_curtailment/config";

interface Bridged {
  readonly bench: Bench;
  readonly mosquitto: Mosquitto;
  readonly client: Subscriber;
}

/** Two rigs, a broker, and a bridge between them. */
async function bridged(settings: Partial<MqttSettings> = {}): Promise<Bridged> {
  const mosquitto = await startMosquitto();
  cleanup.push(() => mosquitto.stop());
  const bench = await openBench({
    rigs: [whatsminer, whatsminer],
    config: { power: { minOn: 0, minOff: 0 } },
  });
  for (const { address } of bench.farm.rigs)
    await bench.poll(await bench.add(address, { driver: "whatsminer", password: "admin" }));
  const client = await subscribeAt(mosquitto.url, [state, response]);
  cleanup.push(() => client.close());
  const bridge = await bridgeTo(bench.service, { ...settings, url: mosquitto.url });
  cleanup.push(() => bridge.close());
  await client.until(({ topic }) => topic === state);
  return { bench, mosquitto, client };
}

const active = ({ service }: Bench) => service.listCurtailments({ active: true, limit: 20 }, caller);

/** The response to a command. */
async function ask(client: Subscriber, topic: string, payload: object | string): Promise<Record<string, unknown>> {
  const from = client.received.length;
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  await client.publish(`rigbridge/curtailment/${topic}`, text, { qos: 1 });
  return JSON.parse((await client.until((each) => each.topic === response, from)).payload);
}

test("a curtailment is begun and ended by JSON, and mistakes are answered", async () => {
  const { bench, client } = await bridged({ curtailment: true });
  expect(JSON.parse(client.last(state) ?? "")).toMatchObject({ active: "OFF", shed_kw: 0, curtailments: [] });
  expect(await ask(client, "set", { target: { reduce: -1 }, plann: "x" })).toMatchObject({
    status: "error",
    error: "target.reduce: must be at least 1; payload: has unknown keys: plann",
  });
  expect(await ask(client, "set", { end: 7 })).toMatchObject({ status: "error", error: "There is no curtailment 7" });
  const wanted = { target: { reduce: 2_000 }, key: "grid-1", transaction: "8" };
  const { data, transaction } = await ask(client, "set", wanted);
  expect([transaction, data]).toMatchObject(["8", { id: 1, reason: "MQTT", target: { reduce: 2_000 } }]);
  const again = await ask(client, "set", { ...wanted, transaction: "9" });
  expect(again).toMatchObject({ data: { id: 1 } });
  await client.until(({ topic, payload }) => topic === state && payload.includes('"active":"ON"'));
  expect(await active(bench)).toMatchObject([{ id: 1, actor: "mqtt" }]);
  expect(await ask(client, "set", { end: 1 })).toMatchObject({ status: "ok", data: { id: 1 } });
  await client.until(
    ({ topic, payload }) => topic === state && payload.includes('"active":"OFF"'),
    client.received.length,
  );
});

test("Home Assistant sets a target in kW, which one curtailment follows, and sees what is given up", async () => {
  const { bench, mosquitto, client } = await bridged({ curtailment: true });
  const all = await retainedAtLeast(mosquitto.url, [state, config]);
  const payload = all.get(config) ?? "";
  expect(checkDevices(new Map([[config, payload]]))).toEqual([]);
  expect(checkState(payload, all.get(state) ?? "")).toEqual([]);
  const { components } = JSON.parse(payload);
  expect(components.target.command_topic).toBe("rigbridge/curtailment/target/set");
  const { available_kw } = JSON.parse(all.get(state) ?? "");
  expect(available_kw).toBeGreaterThan(5);

  expect(await ask(client, "target/set", "much")).toMatchObject({
    status: "error",
    error: expect.stringMatching(/^target: must be/),
  });
  expect(await ask(client, "target/set", "0")).toMatchObject({ status: "ok", data: {} });
  const [first, second] = await Promise.all([ask(client, "target/set", "1"), ask(client, "target/set", "2.5")]);
  expect([first.status, second.status]).toEqual(["ok", "ok"]);
  await until(async () => (await active(bench))[0]?.target.reduce === 2_500, "the second target");
  expect(await active(bench)).toMatchObject([{ id: 1, reason: "Target over MQTT" }]);
  await client.until(
    (each) =>
      each.topic === state && JSON.parse(each.payload).target_kw === 2.5 && JSON.parse(each.payload).shed_kw > 1,
  );
  await ask(client, "target/set", "0 kW");
  await until(async () => (await active(bench)).every(({ ended }) => ended !== null), "the end");
  await client.until((each) => JSON.parse(each.payload).target_kw === 0, client.received.length - 1);
});

test("without mqtt.curtailment the state is published, and nothing is accepted or announced", async () => {
  const { bench, mosquitto, client } = await bridged();
  await client.publish("rigbridge/curtailment/set", JSON.stringify({ target: { all: true } }), { qos: 1 });
  // An answered command comes after it.
  await client.publish("rigbridge/bridge/request/listRules", "{}", { qos: 1 });
  const answers = await subscribeAt(mosquitto.url, ["rigbridge/bridge/response/listRules"]);
  cleanup.push(() => answers.close());
  await answers.publish("rigbridge/bridge/request/listRules", "{}", { qos: 1 });
  await answers.until(() => true);
  expect(await active(bench)).toEqual([]);
  expect(JSON.parse(client.last(state) ?? "")).not.toHaveProperty("available_kw");
  expect((await retainedAt(mosquitto.url)).has(config)).toBe(false);
});
