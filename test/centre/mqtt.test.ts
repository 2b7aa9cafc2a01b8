import { afterEach, describe, expect, test } from "@jest/globals";
import { onTestFinished } from "../finished.ts";
import { bridgeTo } from "../mqtt/bridged.ts";
import { type Received, startMosquitto, subscribeAt } from "../mqtt/mosquitto.ts";
import { retainedAt } from "../mqtt/retained.ts";
import { closeBenches } from "../service/bench.ts";
import { startCentre } from "./centre-bench.ts";
import { startCabin } from "./front-bench.ts";

afterEach(closeBenches);

const json = ({ payload }: Received): Record<string, unknown> => JSON.parse(payload);

async function startBroker() {
  const mosquitto = await startMosquitto();
  onTestFinished(() => mosquitto.stop());
  const listener = await subscribeAt(mosquitto.url);
  onTestFinished(() => listener.close());
  return { url: mosquitto.url, listener };
}

describe("MQTT over a centre", () => {
  test("has the rigs of a site, carries out commands there, and shows them in Home Assistant in the rooms of the site", async () => {
    const { centre, cabin, uidOf, heater, garage, doneThere, heaterThere } = await startCabin();
    const { url, listener } = await startBroker();
    const bridge = await bridgeTo(centre, { url });
    onTestFinished(() => bridge.close());
    const uid = await uidOf(heater);
    const topic = `rigbridge/miner/${uid}`;
    const state = await listener.until((heard) => heard.topic === `${topic}/state`);
    expect(json(state)).toMatchObject({ name: "Heater", status: "mining", hashrate: expect.any(Number) });
    await listener.until((heard) => heard.topic === `${topic}/availability` && heard.payload === "online");
    const own = `rigbridge/miner/${await uidOf(garage)}/state`;
    expect(json(await listener.until((heard) => heard.topic === own))).toMatchObject({ name: "Garage" });
    const farm = await listener.until((heard) => heard.topic === "rigbridge/summary");
    expect(json(farm)).toMatchObject({ miners: 3, miners_mining: 3 });

    const found = await listener.until((heard) => heard.topic.endsWith(`_miner_${uid}/config`));
    expect(json(found).device).toMatchObject({
      name: "Heater",
      suggested_area: "Cabin / Attic",
      via_device: expect.stringMatching(/_group_1\d{10}$/),
    });
    const group = await listener.until(({ topic }) => topic.endsWith("_group_10000000000/config"));
    expect(json(group).device).toMatchObject({ name: "Cabin" });

    await listener.publish(`${topic}/mining/set`, "OFF", { responseTopic: "answers", correlation: "a" });
    expect(json(await listener.until((heard) => heard.topic === "answers"))).toEqual(
      expect.objectContaining({ status: "ok" }),
    );
    await listener.until((heard) => heard.topic === `${topic}/state` && json(heard).mining === "OFF");
    expect(await doneThere()).toEqual([`set ${heaterThere} done`]);
    expect(cabin.bench.rig(0).model.mining).toBe(false);
  });

  test("keeps the rigs of a lost site, unavailable, over a restart of the bridge and of the centre, and has them again with the site", async () => {
    const { centre, cabin, own, uidOf, heater, reaches, close } = await startCabin();
    const { url, listener } = await startBroker();
    const uid = await uidOf(heater);
    const availability = `rigbridge/miner/${uid}/availability`;
    const isNow = (word: string, from: number) =>
      listener.until((heard) => heard.topic === availability && heard.payload === word, from);
    const discovery = (heard: Received) => heard.topic.endsWith(`_miner_${uid}/config`);
    const first = await bridgeTo(centre, { url });
    onTestFinished(() => first.close());
    await isNow("online", 0);
    await listener.until(discovery);
    await cabin.cut();
    await reaches("Cabin", "unreachable");
    await isNow("offline", 0);
    await listener.until(
      (heard) =>
        heard.topic === "rigbridge/summary" && json(heard).miners_mining === 1 && json(heard).miners_offline === 2,
    );
    const before = (await retainedAt(url)).get(`rigbridge/miner/${uid}/state`);
    expect(JSON.parse(before ?? "")).toMatchObject({ name: "Heater" });

    const kept = async () => {
      const all = await retainedAt(url);
      const config = [...all.keys()].find((topic) => topic.endsWith(`_miner_${uid}/config`));
      return [all.get(`rigbridge/miner/${uid}/state`), all.get(availability), config === undefined];
    };
    // The last thing that a bridge does at its start is to clear what no longer exists.
    const swept = async (from: number): Promise<void> => {
      await listener.until((heard) => heard.topic === "rigbridge/miner/gone/state" && heard.payload === "", from);
    };
    await listener.publish("rigbridge/miner/gone/state", "{}", { retain: true });
    await first.close();
    const from = listener.received.length;
    const second = await bridgeTo(centre, { url });
    onTestFinished(() => second.close());
    await swept(from);
    expect(await kept()).toEqual([before, "offline", false]);
    await second.close();

    await close();
    const again = await startCentre([cabin], { own, waits: false });
    await again.reaches("Cabin", "unreachable");
    const third = await bridgeTo(again.centre, { url });
    onTestFinished(() => third.close());
    await listener.until((heard) => heard.topic === "rigbridge/bridge/state" && heard.payload === "online", from + 1);
    const at = listener.received.length;
    await cabin.join();
    await again.reaches("Cabin", "connected");
    await isNow("online", at);
    const removed = listener.received.slice(from).filter((heard) => discovery(heard) && heard.payload === "");
    expect(removed).toEqual([]);
  });
});
