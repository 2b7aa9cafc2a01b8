import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { momentNow, SendDeadline, sendingBefore } from "../../../src/async/send-deadline.ts";
import { noMessages } from "../../../src/contract/messages.ts";
import { MqttPlugSettings } from "../../../src/contract/plug-settings.ts";
import { openPlug } from "../../../src/link/plugs/open-plug.ts";
import type { Plug, PlugContext } from "../../../src/link/plugs/plug.ts";
import { stoppedClock } from "../../clock.ts";
import { problem } from "../../errors.ts";
import { messagesAt } from "../../mqtt/messages-at.ts";
import { type Mosquitto, type Subscriber, startMosquitto, subscribeAt } from "../../mqtt/mosquitto.ts";
import { until } from "../../until.ts";

const never = new AbortController().signal;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

let broker: Mosquitto;
let device: Subscriber;
beforeEach(async () => {
  broker = await startMosquitto();
  closing.push(() => broker.stop());
  device = await subscribeAt(broker.url, ["plug/set"]);
  closing.push(() => device.close());
});

const all = { set: "plug/set", state: "plug/state", power: "plug/power", energy: "plug/energy" };

async function opened(topics: Record<string, unknown> = all, payloads = {}, more: Partial<PlugContext> = {}) {
  const clock = stoppedClock();
  const { messages, close } = await messagesAt(broker.url, clock.now);
  const settings = MqttPlugSettings.parse({ type: "mqtt", topics, payloads });
  const plug = openPlug(settings, { messages, now: clock.now, ...more });
  closing.push(close, async () => plug.close());
  return { plug, clock };
}

/** Waits until what was said has arrived. */
async function reads(plug: Plug, wanted: object): Promise<void> {
  let difference: unknown;
  await until(
    async () => {
      try {
        expect(await plug.read(never)).toEqual(wanted);
        return true;
      } catch (error) {
        difference = error;
        return false;
      }
    },
    "the plug's messages to arrive",
    { details: () => difference },
  );
}

describe("a plug over MQTT", () => {
  test("reports the state in its messages, as plain numbers and words", async () => {
    const { plug } = await opened();
    await device.publish(all.state, "ON", { retain: true });
    await device.publish(all.power, "73.5", { retain: true });
    await device.publish(all.energy, "1.25 kWh", { retain: true });
    await reads(plug, { on: true, power: 73.5, energy: 1250 });
    await device.publish(all.state, "off");
    await device.publish(all.power, "0 W");
    await reads(plug, { on: false, power: 0, energy: 1250 });
  });

  test("reports the state in its messages, as one JSON for all", async () => {
    const topic = "tele/plug";
    const { plug } = await opened({
      set: "plug/set",
      state: { topic, path: "POWER" },
      power: { topic, path: "ENERGY.Power" },
      energy: { topic, path: "ENERGY.Total.0", unit: "Wh" },
    });
    await device.publish(topic, '{"POWER":"ON","ENERGY":{"Power":12,"Total":[900]}}', { retain: true });
    await reads(plug, { on: true, power: 12, energy: 900 });
    await device.publish(topic, '{"Time":"now"}');
    await device.publish(topic, "{broken");
    await device.publish(topic, '{"POWER":false,"ENERGY":{"Power":-1e99}}');
    await reads(plug, { on: false, power: 12, energy: 900 });
  });

  test.each([
    ["1", true],
    ["true", true],
    ["On", true],
    [" on\n", true],
    ["0", false],
    ["FALSE", false],
    ["closed", true],
    ["open", false],
  ])("takes %j as its state", async (word, on) => {
    const { plug } = await opened({ set: "plug/set", state: "plug/state" }, { on: "closed", off: "open" });
    await device.publish(all.state, word, { retain: true });
    await reads(plug, { on, power: null, energy: null });
  });

  test("has no state before its first message, and ignores messages without a meaning", async () => {
    const { plug } = await opened();
    for (const odd of ["", "maybe", "2", "null", '{"on":true}', "constructor", "__proto__"])
      await device.publish(all.state, odd, { retain: true });
    const { code, message } = await problem(plug.read(never));
    expect([code, message]).toEqual(["rig.unreachable", "plug/state has not reported whether the plug is on"]);
  });

  test("has the state of a retained message at its first read", async () => {
    await device.publish(all.state, "ON", { retain: true });
    // The broker may be busy.
    const { plug } = await opened(all, {}, { retainedTimeoutMs: 3_600_000 });
    expect(await plug.read(never)).toMatchObject({ on: true });
  });

  test("cannot be read after ten minutes without a message", async () => {
    const { plug, clock } = await opened();
    await device.publish(all.state, "ON", { retain: true });
    await device.publish(all.power, "70", { retain: true });
    await reads(plug, { on: true, power: 70, energy: null });
    clock.pass(600);
    await expect(plug.read(never)).resolves.toMatchObject({ on: true, power: 70 });
    clock.pass(1);
    expect((await problem(plug.read(never))).message).toMatch(/silent for 10 minutes/);
    await device.publish(all.energy, "2");
    await reads(plug, { on: true, power: null, energy: 2000 });
  });

  test("counts as switched once it reports that itself", async () => {
    const { plug } = await opened();
    await device.publish(all.state, "ON", { retain: true });
    await reads(plug, { on: true, power: null, energy: null });
    let done = false;
    const switched = plug.switch(false, never).then(() => {
      done = true;
    });
    expect(await device.until(({ topic }) => topic === all.set)).toMatchObject({ payload: "OFF", retained: false });
    await device.publish(all.power, "70");
    await reads(plug, { on: true, power: 70, energy: null });
    expect(done).toBe(false);
    await device.publish(all.state, "OFF");
    await switched;
    await expect(plug.read(never)).resolves.toMatchObject({ on: false });
  });

  test("is switched with its own payloads", async () => {
    const { plug } = await opened(all, { on: '{"state":"on"}', off: "no" });
    void plug.switch(true, never).catch(() => undefined);
    expect((await device.until(({ topic }) => topic === all.set)).payload).toBe('{"state":"on"}');
  });

  test("fails a switch that it does not confirm", async () => {
    const { plug } = await opened();
    const giveUp = new AbortController();
    const failed = problem(plug.switch(true, giveUp.signal));
    await device.until(({ topic }) => topic === all.set);
    giveUp.abort();
    const { code, message } = await failed;
    expect([code, message]).toEqual([
      "rig.timeout",
      "The plug was switched on at plug/set, and plug/state did not confirm it in time",
    ]);
  });

  test("is not switched once its service may not act any more", async () => {
    const { plug } = await opened();
    const lease = new SendDeadline();
    const giveUp = new AbortController();
    const switchOn = () => problem(sendingBefore(lease, () => plug.switch(true, giveUp.signal)));
    expect((await switchOn()).code).toBe("service.no.active");
    lease.moveTo(momentNow(), 3_600_000);
    const switching = switchOn();
    await device.until(({ topic }) => topic === all.set);
    lease.end();
    giveUp.abort();
    const { code, message } = await switching;
    expect([code, message]).toEqual([
      "rig.unconfirmed",
      "The plug may not have been switched at plug/set, because this service no longer has the lease of its store",
    ]);
    expect(device.received.filter(({ topic }) => topic === all.set)).toHaveLength(1);
  });

  test("cannot be reached while there is no broker", async () => {
    const { plug } = await opened();
    await broker.kill();
    await until(
      async () => (await problem(plug.switch(true, AbortSignal.timeout(50)))).code === "rig.unreachable",
      "the plug to notice that the broker is gone",
    );
  });

  test("names what is missing without a broker", async () => {
    const supply = MqttPlugSettings.parse({ type: "mqtt", topics: all });
    const plug = openPlug(supply, { messages: noMessages, now: Date.now });
    const words = "a plug of the type mqtt needs the MQTT bridge: set mqtt in the configuration";
    expect((await problem(plug.read(never))).message).toBe(words);
    expect((await problem(plug.switch(true, never))).message).toBe(words);
  });
});
