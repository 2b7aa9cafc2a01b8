import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import type { Miner } from "../../src/contract/resources.ts";
import type { MiningService } from "../../src/contract/service.ts";
import type { Bridge } from "../../src/mqtt/bridge.ts";
import { openStore, startService } from "../../src/service/index.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { until } from "../until.ts";
import { bridgeTo } from "./bridged.ts";
import { type Received, startMosquitto, subscribeAt } from "./mosquitto.ts";

const caller = { actor: "test" };
const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

const json = ({ payload }: Received): Record<string, unknown> => JSON.parse(payload);

test("a start says nothing of a rig before that is known, and nothing of what did not happen", async () => {
  const mosquitto = await startMosquitto();
  cleanup.push(() => mosquitto.stop());
  const rigs = Array.from({ length: 3 }, () => ({ kind: "axeos", warm: true }) as const);
  const farm = await startFarm({ rigs });
  cleanup.push(() => farm.close());
  const [quick, late, off] = farm.rigs;
  if (quick === undefined || late === undefined || off === undefined) throw new Error("three rigs");
  const folder = mkdtempSync(join(tmpdir(), "rigbridge-starting-"));
  cleanup.push(() => rmSync(folder, { recursive: true }));
  const config = Config.parse({
    poll: { interval: 3600 },
    groups: [{ name: "Hall" }],
    miners: [
      { name: "quick", address: quick.address, group: "Hall" },
      { name: "late", address: late.address, group: "Hall" },
      { name: "off", address: off.address },
    ],
  });

  interface Run {
    readonly service: MiningService;
    readonly bridge: Bridge;
    readonly ids: ReadonlyMap<string, number>;
    end(): Promise<void>;
  }
  async function run(): Promise<Run> {
    const store = await openStore({ file: join(folder, "rigbridge.db"), now: Date.now });
    const service = await startService({ config, store, log: pino({ level: "silent" }) });
    const unitsFile = join(folder, "units.json");
    const bridge = await bridgeTo(service, { url: mosquitto.url }, { unitsFile });
    let ending: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      await bridge.close();
      await service.close();
      await store.close();
    };
    const endOnce = (): Promise<void> => {
      ending ??= end();
      return ending;
    };
    cleanup.push(endOnce);
    const { groupList } = await service.listMiners({}, caller);
    const ids = new Map(groupList.flatMap(({ minerList }) => minerList.map(({ name, id }) => [name, id])));
    return { service, bridge, ids, end: endOnce };
  }
  const minerOf = ({ service, ids }: Run, name: string): Promise<Miner> =>
    service.getMiner({ id: ids.get(name) ?? 0 }, caller);
  const poll = async ({ service, ids }: Run, name: string, times = 1): Promise<void> => {
    for (let read = 0; read < times; read += 1) await service.pollMiner({ id: ids.get(name) ?? 0 }, caller);
  };
  const warnings = async ({ service }: Run): Promise<(string | null)[]> =>
    (await service.listNotifications({}, caller)).notificationList.map(
      ({ title, minerName }) => `${minerName} ${title}`,
    );

  const listener = await subscribeAt(mosquitto.url);
  cleanup.push(() => listener.close());
  const first = await run();
  for (const name of ["quick", "late", "off"]) await poll(first, name);
  off.powerOff();
  await poll(first, "off", 3);
  expect(await warnings(first)).toEqual(["off Disconnected"]);
  const uids = new Map<string, string | null>();
  for (const name of ["quick", "late", "off"]) uids.set(name, (await minerOf(first, name)).uid);
  const topicOf = (name: string, what: string): string => `rigbridge/miner/${uids.get(name)}/${what}`;
  await listener.until(({ topic, payload }) => topic === topicOf("off", "availability") && payload === "offline");
  await listener.until(
    (heard) =>
      heard.topic === "rigbridge/summary" && json(heard).miners_offline === 1 && json(heard).miners_mining === 2,
  );
  await listener.until(({ topic, payload }) => /group\/\d+\/state$/.test(topic) && JSON.parse(payload).mining === "ON");
  await first.end();
  await listener.until(({ topic, payload }) => topic === "rigbridge/bridge/state" && payload === "offline");

  // One answers at once, one only after a missed read, and one is off still.
  late.powerOff();
  const from = listener.received.length;
  const second = await run();
  await listener.until(
    ({ topic, payload }) => topic === topicOf("quick", "availability") && payload === "online",
    from,
  );
  await until(
    async () => (await minerOf(second, "late")).readings.notes.some((note) => !/read yet/.test(note)),
    "a miss",
  );
  expect(await minerOf(second, "late")).toMatchObject({ isOffline: false, statusInfo: { statusDisplay: "Starting" } });
  await late.powerOn();
  // In the same millisecond it hashes nothing yet, and would truly be starting.
  await until(() => {
    late.model.advance();
    return late.model.hashrate() > 1e6;
  }, "the rig to hash");
  await poll(second, "late");
  await listener.until(({ topic, payload }) => topic === topicOf("late", "availability") && payload === "online", from);
  await listener.until(({ topic }) => /group\/\d+\/state$/.test(topic), from);
  // The farm is known once the rig that is off has missed three reads.
  expect(listener.received.slice(from).filter(({ topic }) => topic === "rigbridge/summary")).toEqual([]);
  await poll(second, "off", 3);
  expect(await minerOf(second, "off")).toMatchObject({ isOffline: true, readings: { reason: { code: "network" } } });
  await listener.until(({ topic }) => topic === "rigbridge/summary", from);
  await listener.until(({ topic, payload }) => topic === topicOf("off", "availability") && payload === "offline", from);

  const heard = listener.received.slice(from);
  const said = (topic: RegExp) => heard.filter((each) => topic.test(each.topic) && each.payload !== "");
  expect(said(/\/event$/)).toEqual([]);
  const availability = (name: string) => heard.filter(({ topic }) => topic === topicOf(name, "availability"));
  for (const [name, word] of [
    ["quick", "online"],
    ["late", "online"],
    ["off", "offline"],
  ] as const)
    expect(availability(name).map(({ payload }) => payload)).toEqual([word]);
  for (const each of said(/(group\/\d+\/state|summary)$/)) expect(json(each)).toMatchObject({ mining: "ON" });
  for (const each of said(/summary$/)) expect(json(each)).toMatchObject({ miners: 3, miners_offline: 1 });
  for (const name of ["quick", "late"])
    for (const each of heard.filter(({ topic }) => topic === topicOf(name, "state")))
      expect(json(each).status).not.toMatch(/disconnected/);
  expect(said(/bridge\/state$/).map(({ payload }) => payload)).toEqual(["online"]);
  expect(heard.filter(({ payload }) => payload === "")).toEqual([]);
  // It was notified of in the first run.
  expect(await warnings(second)).toEqual(["off Disconnected"]);

  // What happens from now on is said.
  const later = listener.received.length;
  late.powerOff();
  await poll(second, "late", 3);
  const event = await listener.until(({ topic }) => topic === topicOf("late", "event"), later);
  expect(json(event)).toMatchObject({ event_type: "status", status: "disconnected", before: "mining" });
  expect(await warnings(second)).toEqual(["late Disconnected", "off Disconnected"]);
});
