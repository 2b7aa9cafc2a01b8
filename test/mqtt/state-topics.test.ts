import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import type { Miner } from "../../src/contract/resources.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { openStore, startService } from "../../src/service/index.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { startAltered } from "./altered.ts";
import { bridgeTo, recordingLog } from "./bridged.ts";
import { type Mosquitto, type Received, type Subscriber, startMosquitto, subscribeAt } from "./mosquitto.ts";

const caller = { actor: "test" };
const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

let mosquitto: Mosquitto;
beforeEach(async () => {
  mosquitto = await startMosquitto();
  cleanup.push(() => mosquitto.stop());
});

async function listening(filters?: readonly string[]): Promise<Subscriber> {
  const listener = await subscribeAt(mosquitto.url, filters);
  cleanup.push(() => listener.close());
  return listener;
}

/** A service over rigs at these addresses, each read once. */
async function serving(
  addresses: readonly string[],
): Promise<{ readonly service: MiningService; readonly miners: readonly Miner[] }> {
  const store = await openStore({ file: ":memory:", now: Date.now });
  cleanup.push(() => store.close());
  const config = Config.parse({ poll: { interval: 3600 }, miners: addresses.map((address) => ({ address })) });
  const service = await startService({ config, store, log: pino({ level: "silent" }) });
  cleanup.push(() => service.close());
  const { groupList } = await service.listMiners({}, caller);
  const ids = groupList.flatMap(({ minerList }) => minerList.map(({ id }) => id));
  return { service, miners: await Promise.all(ids.map((id) => service.pollMiner({ id }, caller))) };
}

const json = ({ payload }: Received): Record<string, unknown> => JSON.parse(payload);

test("the state of a rig is published while hundreds of garbage messages arrive", async () => {
  const farm = await startFarm({
    rigs: [
      { kind: "axeos", warm: true },
      { kind: "axeos", warm: true },
    ],
  });
  cleanup.push(() => farm.close());
  // A subscriber of the garbage too would not get all other messages from the broker.
  const listener = await listening([
    "rigbridge/+/+/state",
    "rigbridge/miner/+/response",
    "rigbridge/bridge/response/+",
  ]);
  const vandal = await listening(["nothing"]);
  const { service, miners } = await serving(farm.rigs.map(({ address }) => address));
  const { log, lines } = recordingLog();
  const bridge = await bridgeTo(service, { url: mosquitto.url }, { log });
  cleanup.push(() => bridge.close());
  const states = miners.map(({ uid }) => `rigbridge/miner/${uid}/state`);
  for (const state of states) await listener.until(({ topic }) => topic === state);
  const from = listener.received.length;
  let garbage = 0;
  const frequencies = [400, 425, 450, 475, 500];
  for (const frequency of frequencies) {
    for (let count = 0; count < 200; count += 1) {
      const topics = ["set", "action", "frequency/set", "\u{1F980}/set"].map(
        (each) => `rigbridge/miner/${miners[count % 2]?.uid}/${each}`,
      );
      const topic = [...topics, "rigbridge/miner/nobody/set", "rigbridge/bridge/request/getMiner"][count % 6] ?? "";
      garbage += 1;
      void vandal.publish(topic, `garbage ${garbage}`);
    }
    // Not by the broker: what is looked at is what goes out.
    for (const { id } of miners)
      await service.minerAction({ id, action: "set", property: "frequency", value: String(frequency) }, caller);
    for (const state of states)
      await listener.until((heard) => heard.topic === state && json(heard).frequency === frequency, from);
  }
  for (const state of states) {
    const shown = listener.received
      .slice(from)
      .filter(({ topic }) => topic === state)
      .map((heard) => Number(json(heard).frequency));
    expect(shown.filter((each, at) => each !== shown[at - 1] && frequencies.includes(each))).toEqual(frequencies);
  }
  const answered = listener.received.slice(from).filter(({ topic }) => /\/response/.test(topic));
  expect(answered.length).toBeGreaterThan(0);
  expect(answered.length).toBeLessThan(garbage);
  expect(lines.filter(({ level }) => level >= 40).length).toBeLessThan(garbage);
  expect(farm.rigs.map(({ requests }) => requests.writes.length)).toEqual([frequencies.length, frequencies.length]);
});

test("a found block is published as an event once, and not retained", async () => {
  const farm = await startFarm({ rigs: [{ kind: "luxos", warm: true }] });
  cleanup.push(() => farm.close());
  const listener = await listening();
  const [rig] = farm.rigs;
  if (rig === undefined) throw new Error("there is no rig");
  const altered = await startAltered(rig);
  cleanup.push(() => altered.close());
  const { service, miners } = await serving([altered.address]);
  const [miner] = miners;
  if (miner === undefined) throw new Error("there is no miner");
  const bridge = await bridgeTo(service, { url: mosquitto.url });
  cleanup.push(() => bridge.close());
  const [event, state, config] = ["event", "state", "config"].map((each) =>
    each === "config"
      ? `homeassistant/device/rigbridge_miner_${miner.uid}/config`
      : `rigbridge/miner/${miner.uid}/${each}`,
  );
  await listener.until((heard) => heard.topic === state && json(heard).found_blocks === 0);
  const { components } = json(await listener.until(({ topic }) => topic === config));
  expect(components).toMatchObject({
    event: { state_topic: event, event_types: expect.arrayContaining(["block_found"]) },
  });
  altered.replace('"Found Blocks":0', '"Found Blocks":1');
  for (let reads = 0; reads < 3; reads += 1) await service.pollMiner({ id: miner.id }, caller);
  const isBlock = (heard: Received) => heard.topic === event && json(heard).event_type === "block_found";
  const told = await listener.until(isBlock);
  expect(json(told)).toEqual({
    event_type: "block_found",
    found_blocks: 1,
    before: 0,
    time: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  await listener.publish("end", "");
  await listener.until(({ topic }) => topic === "end");
  expect(listener.received.filter(isBlock)).toHaveLength(1);
  const later = await listening();
  await later.until(({ topic }) => topic === state);
  expect(later.last(event ?? "")).toBeUndefined();
});

test("the state has the reason why a rig does not hash, as a code, a sentence and a time", async () => {
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
  cleanup.push(() => farm.close());
  const listener = await listening();
  const { service, miners } = await serving(farm.rigs.map(({ address }) => address));
  const bridge = await bridgeTo(service, { url: mosquitto.url });
  cleanup.push(() => bridge.close());
  const { id, uid } = miners[0] ?? { id: 0, uid: null };
  const isState = (heard: Received, reason: string | null) =>
    heard.topic === `rigbridge/miner/${uid}/state` && json(heard).reason === reason;
  const hashing = json(await listener.until((heard) => isState(heard, null)));
  expect(hashing).toMatchObject({ reason_text: null, reason_since: null, has_problem: "OFF" });
  const config = await listener.until(({ topic }) => topic === `homeassistant/device/rigbridge_miner_${uid}/config`);
  expect(json(config).components).toMatchObject({
    reason: { device_class: "enum", options: expect.arrayContaining(["user", "hot", "pools"]) },
    reason_text: { platform: "sensor" },
  });
  await service.minerAction({ id, action: "stop" }, caller);
  const stopped = json(await listener.until((heard) => isState(heard, "user")));
  // A user wanted it, so there is no problem.
  expect(stopped).toMatchObject({ reason_text: "It is stopped", has_problem: "OFF" });
  expect(Date.parse(String(stopped.reason_since))).toBeGreaterThan(Date.now() - 60_000);
});

test("the state follows the announcement of a device that differs, for the entities that are new with it", async () => {
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
  cleanup.push(() => farm.close());
  const listener = await listening();
  const { service } = await serving([]);
  const { id } = await service.addMiner({ address: farm.rigs[0]?.address ?? "" }, caller);
  const { uid } = await service.pollMiner({ id }, caller);
  const bridge = await bridgeTo(service, { url: mosquitto.url, interval: 3600 });
  cleanup.push(() => bridge.close());
  const [state, config] = [`rigbridge/miner/${uid}/state`, `homeassistant/device/rigbridge_miner_${uid}/config`];
  // Looked for behind the announcement itself: both may have come at once.
  const saidAfter = async (announcement: (heard: Received) => boolean, topic: string) => {
    const from = listener.received.indexOf(await listener.until(announcement));
    return listener.until((heard) => heard.topic === topic, from);
  };
  await saidAfter(({ topic }) => topic === config, state);
  await saidAfter(({ topic }) => topic === "homeassistant/device/rigbridge_farm/config", "rigbridge/summary");
  await service.changeMiner({ id, name: "Cellar" }, caller);
  const renamed = ({ topic, payload }: Received) => topic === config && payload.includes('"Cellar"');
  expect(json(await saidAfter(renamed, state))).toMatchObject({ name: "Cellar" });
});
