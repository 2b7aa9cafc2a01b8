import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { MqttPlugSettings } from "../../src/contract/plug-settings.ts";
import { startPlug } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { problem } from "../errors.ts";
import { caller, closeBenches, openBench } from "../service/bench.ts";
import { closeLoopBenches, openLoopBench } from "../service/loop-bench.ts";
import { until } from "../until.ts";
import { messagesAt } from "./messages-at.ts";
import { type Mosquitto, type Subscriber, startMosquitto, subscribeAt } from "./mosquitto.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await closeBenches();
  await closeLoopBenches();
  for (const close of closing.splice(0).reverse()) await close();
});

let broker: Mosquitto;
let sensor: Subscriber;
beforeEach(async () => {
  broker = await startMosquitto();
  closing.push(() => broker.stop());
  sensor = await subscribeAt(broker.url, ["plug/set"]);
  closing.push(() => sensor.close());
});

const mqtt = { broker: "embedded" };

/** A group with one rig that mines, and a loop over it. */
async function looped(loop: Record<string, unknown>) {
  const clock = stoppedClock();
  const { messages, close } = await messagesAt(broker.url, clock.now);
  closing.push(close);
  const bench = await openLoopBench({
    rigs: [{ kind: "axeos", warm: true }],
    clock: clock.now,
    messages,
    config: ([address]) => ({ mqtt, groups: [{ name: "den" }], miners: [{ address, group: "den" }], ...loop }),
  });
  /** Turns the loops until this is so. */
  const turnUntil = (is: () => boolean | Promise<boolean>, awaited: string): Promise<void> =>
    until(async () => {
      await bench.turn();
      return is();
    }, awaited);
  const room = async () => (await bench.miner(0)).heating?.room ?? null;
  return { bench, clock, turnUntil, room };
}

const den = { name: "Den", group: "den", target: 21, minOn: 0, minOff: 0 };
const heating = { heating: { ...den, roomTemperature: { topic: "zigbee/den", path: "temperature" } } };
const follow = { follow: { name: "Roof", group: "den", surplus: { topic: "meter" }, dwell: 0, minOn: 0, minOff: 0 } };

describe("a room with its temperature at a topic", () => {
  test("is heated by it", async () => {
    const { bench, turnUntil, room } = await looped(heating);
    await sensor.publish("zigbee/den", '{"temperature":22,"battery":90}', { retain: true });
    await turnUntil(() => bench.mining()[0] === false, "the rig to stop in a warm room");
    await sensor.publish("zigbee/den", '{"temperature":"20.1 °C"}');
    await turnUntil(() => bench.mining()[0] === true, "the rig to start in a cold room");
    expect(await room()).toBe(20.1);
  });

  test("takes a retained value as new, once", async () => {
    await sensor.publish("zigbee/den", '{"temperature":22}', { retain: true });
    const { bench, clock, turnUntil } = await looped(heating);
    await turnUntil(() => bench.mining()[0] === false, "the rig to stop in a warm room");
    clock.pass(901);
    await broker.kill();
    await broker.start();
    await sensor.publish("zigbee/den", '{"temperature":22}', { retain: true });
    await turnUntil(async () => (await bench.notifications()).length > 0, "the notification of the old temperature");
    expect(await bench.notifications()).toEqual([
      "Den: The room temperature is older than 15 minutes, so heating has stopped",
    ]);
  });

  test("keeps its last value when the payload is not a number, until that is old, and then reports the payload", async () => {
    const { bench, clock, turnUntil, room } = await looped(heating);
    await sensor.publish("zigbee/den", '{"temperature":20}', { retain: true });
    await turnUntil(async () => (await room()) === 20, "the room to have the published temperature");
    for (const odd of ["", "{", '{"temperature":null}', '{"temperature":90}', '{"humidity":40}', "x".repeat(300_000)])
      await sensor.publish("zigbee/den", odd);
    await sensor.publish("zigbee/den", '{"temperature":"unavailable"}');
    expect(await room()).toBe(20);
    clock.pass(901);
    await turnUntil(async () => (await bench.notifications()).length > 0, "the notification of the old temperature");
    expect(await room()).toBeNull();
    expect((await bench.notifications())[0]).toMatch(
      /older than 15 minutes, so heating has stopped; zigbee\/den answers with something other than a number$/,
    );
  });

  test("cannot be set over the API", async () => {
    const { bench } = await looped(heating);
    const { code } = await problem(bench.act(0, { action: "set_room_temperature", temperature: 20 }));
    expect(code).toBe("not.possible");
  });

  test("100 invalid messages a second change nothing", async () => {
    const { turnUntil, room } = await looped(heating);
    await Promise.all(Array.from({ length: 300 }, (_, n) => sensor.publish("zigbee/den", `${"{".repeat(n)}`)));
    await sensor.publish("zigbee/den", '{"temperature":19}');
    await turnUntil(async () => (await room()) === 19, "the room to have the published temperature");
  });
});

describe("a surplus at a topic", () => {
  test("is followed", async () => {
    const { bench, clock, turnUntil } = await looped(follow);
    await sensor.publish("meter", "-500");
    await turnUntil(async () => {
      clock.pass(31);
      await sensor.publish("meter", "-500");
      return bench.mining()[0] === false;
    }, "the rig to stop without a surplus");
    await turnUntil(async () => {
      clock.pass(31);
      await sensor.publish("meter", "5000 W");
      return bench.mining()[0] === true;
    }, "the rig to start with a surplus");
  });

  test("is ignored if the broker has retained it", async () => {
    await sensor.publish("meter", "-500", { retain: true });
    const { bench, clock } = await looped(follow);
    for (let turns = 0; turns < 5; turns += 1) {
      clock.pass(31);
      await bench.turn();
    }
    expect(bench.mining()).toEqual([true]);
  });
});

describe("a rig behind a plug over MQTT", () => {
  const topics = { set: "plug/set", state: "plug/state", power: "plug/power" };
  const supply = MqttPlugSettings.parse({ type: "mqtt", topics, cutPower: true, delay: 0 });

  /** A rig whose plug speaks MQTT by the hands of the test. */
  async function plugged() {
    const { messages, close } = await messagesAt(broker.url);
    closing.push(close);
    const bench = await openBench({
      rigs: [{ kind: "cgminer", hardware: "sticks", warm: true }],
      config: { mqtt: { ...mqtt, plugTopics: ["plug/+"] } },
      messages,
    });
    const plug = await startPlug({ kind: "shelly2", rig: bench.rig(0) });
    closing.push(() => plug.close());
    const say = async () => {
      await sensor.publish(topics.state, plug.on ? "ON" : "OFF", { retain: true });
      await sensor.publish(topics.power, plug.on ? "41.5" : "0", { retain: true });
    };
    sensor.client.on("message", async (_, payload) => {
      await plug.press(payload.toString() === "ON");
      await say();
    });
    await say();
    const id = await bench.add(bench.rig(0).address, { supply });
    return { bench, plug, id };
  }

  test("shows the plug's measurements, and is stopped and started by it", async () => {
    const { bench, plug, id } = await plugged();
    await until(
      async () => (await bench.poll(id)).readings.power === 41.5,
      "the rig to show the power that its plug measures",
    );
    expect((await bench.get(id)).readings.powerSource).toBe("measured");
    expect(await bench.act(id, { action: "stop" })).toMatchObject({ state: "done" });
    expect([plug.on, bench.rig(0).powered]).toEqual([false, false]);
    expect((await bench.get(id)).statusInfo.statusDisplay).toBe("Stopped");
    expect(await bench.act(id, { action: "start" })).toMatchObject({ state: "done" });
    expect(plug.on).toBe(true);
  });

  test("stays off while its rig does not answer", async () => {
    const { bench, id } = await plugged();
    await bench.act(id, { action: "stop" });
    for (let reads = 0; reads < 12; reads += 1) await bench.poll(id);
    expect((await bench.get(id)).statusInfo.statusDisplay).toBe("Stopped");
    expect(await bench.notifications()).toEqual([]);
  });

  test("is refused without a bridge", async () => {
    const bench = await openBench({ rigs: [{ kind: "axeos" }] });
    const refused = await problem(bench.service.addMiner({ address: bench.rig(0).address, supply }, caller));
    expect([refused.code, refused.message]).toEqual([
      "input.invalid",
      "supply.type: needs the MQTT bridge: set mqtt in the configuration",
    ]);
  });
});
