import { expect, test } from "@jest/globals";
import type { Miner } from "../../../src/contract/resources.ts";
import { stoppedClock } from "../../clock.ts";
import { type Specimen, specimens } from "../../docs/specimens.ts";
import { onTestFinished } from "../../finished.ts";
import { until } from "../../until.ts";
import { bridgeTo } from "../bridged.ts";
import { checkState } from "../home-assistant-checker.ts";
import { startMosquitto, subscribeAt } from "../mosquitto.ts";
import { caller, type Families, openFamilies } from "./families.ts";

/** A bridge over virtual rigs, and a client that listens beside it. */
async function announced(families: readonly Specimen[]) {
  const clock = stoppedClock();
  const [farm, mosquitto] = await Promise.all([openFamilies(families, clock.now), startMosquitto()]);
  const listening = await subscribeAt(mosquitto.url);
  const bridge = await bridgeTo(farm.service, { url: mosquitto.url, interval: 1 });
  onTestFinished(async () => {
    await bridge.close();
    await listening.close();
    await mosquitto.stop();
    await farm.close();
  });
  const topicOf = ({ uid }: Pick<Miner, "uid">): string => `homeassistant/device/rigbridge_miner_${uid}/config`;
  const topics = farm.miners.map(topicOf);
  /** Has every device announced again, as when Home Assistant starts, and resolves with the messages. */
  const announcements = async (): Promise<Map<string, string>> => {
    const from = listening.received.length;
    await listening.publish("homeassistant/status", "online");
    const since = () => new Map(listening.received.slice(from).map(({ topic, payload }) => [topic, payload]));
    await until(() => topics.every((topic) => since().has(topic)), "every rig to be announced again");
    return new Map(topics.map((topic) => [topic, since().get(topic) ?? ""]));
  };
  return { clock, farm, listening, topicOf, announcements };
}

/** Reads all rigs while their draw goes up and down by a few percent, as it does with temperature and mains. */
async function fluctuate({
  clock,
  farm,
}: {
  readonly clock: ReturnType<typeof stoppedClock>;
  readonly farm: Families;
}) {
  const volts = farm.rigs.map(({ model }) => model.voltage);
  for (const share of [1, 1.005, 0.99, 1.01, 0.995, 1.008, 0.992, 1.01, 0.99, 1]) {
    for (const [index, { model }] of farm.rigs.entries())
      model.change((rig) => {
        rig.voltage = (volts[index] ?? 1) * share;
      });
    clock.pass(60);
    await farm.read();
  }
}

test("no discovery message changes while the draw of rigs of every family fluctuates, and each state is within", async () => {
  const bench = await announced(specimens);
  await until(
    () => bench.listening.received.some(({ topic }) => topic === "rigbridge/summary"),
    "the bridge to publish",
  );
  await fluctuate(bench);
  const first = await bench.announcements();
  const from = bench.listening.received.length;
  await fluctuate(bench);
  const second = await bench.announcements();
  for (const [topic, payload] of second) expect(JSON.parse(payload)).toEqual(JSON.parse(first.get(topic) ?? ""));
  for (const payload of second.values()) {
    const { state_topic: state } = JSON.parse(payload);
    const states = bench.listening.received.slice(from).filter(({ topic }) => topic === state);
    expect(states.length).toBeGreaterThan(0);
    for (const each of states) expect(checkState(payload, each.payload)).toEqual([]);
  }
});

const bitaxe = specimens.filter(({ driver }) => driver === "axeos").slice(0, 1);

test("a range is announced before a state beyond it, in whole steps, and does not become narrower again", async () => {
  const bench = await announced(bitaxe);
  const [miner] = bench.farm.miners;
  if (miner === undefined) throw new Error("there is no rig");
  const config = bench.topicOf(miner);
  const { components } = JSON.parse((await bench.announcements()).get(config) ?? "");
  expect(components.frequency).toMatchObject({ platform: "number", min: 400, max: 625 });
  const from = bench.listening.received.length;
  const overclock = async (megahertz: number) => {
    // On the rig's own page.
    await fetch(`http://${bench.farm.rigs[0]?.address}/api/system`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ frequency: megahertz }),
    });
    await bench.farm.service.pollMiner({ id: miner.id }, caller);
    const state = await bench.listening.until(
      ({ topic, payload }) => topic.endsWith(`${miner.uid}/state`) && JSON.parse(payload).frequency === megahertz,
      from,
    );
    return bench.listening.received.indexOf(state);
  };
  const beyond = await overclock(691);
  const wider = await bench.listening.until(({ topic }) => topic === config, from);
  expect(bench.listening.received.indexOf(wider)).toBeLessThan(beyond);
  expect(JSON.parse(wider.payload).components.frequency).toMatchObject({ min: 400, max: 700 });
  await overclock(500);
  const later = JSON.parse((await bench.announcements()).get(config) ?? "");
  expect(later.components.frequency).toMatchObject({ min: 400, max: 700 });
});

test("few powers are a select, and off and on alone are the switch", async () => {
  const q = specimens.filter(({ rigs }) => rigs === "Avalon Q");
  const bench = await announced([...bitaxe, ...q]);
  const [small, avalon] = bench.farm.miners;
  if (small === undefined || avalon === undefined) throw new Error("there are no two rigs");
  const messages = await bench.announcements();
  const components = (miner: Miner) => JSON.parse(messages.get(bench.topicOf(miner)) ?? "").components;
  expect(small.controls.find(({ key }) => key === "power_target")?.kind).toBe("choice");
  expect(components(small)).toMatchObject({ mining: { platform: "switch" } });
  expect(Object.keys(components(small)).filter((key) => key.startsWith("power_target"))).toEqual([]);
  const { power_target_choice: select } = components(avalon);
  expect(select).toMatchObject({ platform: "select", options: ["off", "eco", "standard", "super"] });
  expect(components(avalon).power_target).toBeUndefined();
  const from = bench.listening.received.length;
  await bench.listening.publish(select.command_topic, "eco");
  const answer = await bench.listening.until(({ topic }) => topic.endsWith(`${avalon.uid}/response`), from);
  expect(JSON.parse(answer.payload)).toMatchObject({ status: "ok" });
  const state = await bench.listening.until(
    ({ topic, payload }) =>
      topic === select.state_topic || (topic.endsWith(`${avalon.uid}/state`) && JSON.parse(payload).mode === "eco"),
    from,
  );
  expect(JSON.parse(state.payload)).toMatchObject({ mode: "eco", power_target_choice: "eco" });
});
