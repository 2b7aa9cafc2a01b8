import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { minersIn } from "../../src/contract/miners-in.ts";
import { openDemo, type RunningService, startService } from "../../src/service/index.ts";
import { startFarm } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { until } from "../until.ts";
import { caller, configOf } from "./bench.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A demo of two rigs with groups, a pool, a rule and maintenance. */
async function started(): Promise<{ service: RunningService; store: Store; real: string }> {
  const host = "127.0.0.1";
  const farm = await startFarm({ rigs: [0, 1, 2].map(() => ({ kind: "axeos", host, warm: true })) });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const [first, second, real] = farm.rigs.map(({ address }) => address);
  const config = configOf({
    groups: [{ name: "Study" }, { name: "Attic" }],
    miners: [
      { address: first, name: "desk", group: "Study" },
      { address: second, name: "shelf", group: "Attic" },
    ],
    pools: [{ name: "Example", url: "stratum+tcp://pool.example.com:3333", worker: "demo", coin: "BTC" }],
    rules: [
      {
        key: "warm",
        name: "Warm",
        scope: { groups: ["Study"] },
        when: { all: [{ reading: "temperature", above: 1 }] },
        do: [{ notify: "all", text: "{{ miner.name }} is warm" }],
      },
    ],
    maintenance: [{ name: "New fan", groups: ["Attic"], until: new Date(Date.now() + 3_600_000).toISOString() }],
  });
  const demo = await openDemo({ config, profits: { BTC: 4e-13 }, over: store, hasPast: false, now: Date.now });
  const service = await startService({ config: configOf(), store, log: pino({ level: "silent" }), demo });
  ends.push(async () => {
    await service.close();
    await store.close();
    await farm.close();
  });
  for (const { id } of await rigsOf(service)) await service.pollMiner({ id }, caller);
  return { service, store, real: real ?? "" };
}

const rigsOf = async (service: RunningService) => minersIn((await service.listMiners({}, caller)).groupList);
const names = async (service: RunningService) => ({
  rigs: (await rigsOf(service)).map(({ name }) => name),
  groups: (await service.listGroups({}, caller)).map(({ name }) => name),
  pools: (await service.listPools({}, caller)).list.map(({ description }) => description),
  rules: (await service.listRules({}, caller)).rules.filter(({ enabled }) => enabled).map(({ name }) => name),
  maintenance: (await service.listMaintenance({}, caller)).map(({ name }) => name),
});

test("what a demo has is listed, can be changed, acts on its rigs, and is stored nowhere", async () => {
  const { service, store } = await started();
  expect(await names(service)).toEqual({
    rigs: ["desk", "shelf"],
    groups: ["Study", "Attic"],
    pools: ["Example"],
    rules: ["Warm"],
    maintenance: ["New fan"],
  });
  const alarms = async () =>
    (await service.listNotifications({}, caller)).notificationList.filter(({ source }) => source === "Rules");
  await until(async () => (await alarms()).length > 0, "the rule of the demo to fire");
  expect(await alarms()).toMatchObject([{ minerName: "desk", minerId: 1_900_000_001, message: "desk is warm" }]);

  await service.changeRule({ id: "warm", name: "Warmer" }, caller);
  const [study] = await service.listGroups({}, caller);
  await service.changeGroup({ id: study?.id ?? 0, name: "Office" }, caller);
  await service.minerAction({ id: 1_900_000_002, action: "stop" }, caller);
  expect(await names(service)).toMatchObject({ rules: ["Warmer"], groups: ["Office", "Attic"] });
  expect((await service.listCommands({}, caller)).commandList).toMatchObject([{ minerName: "shelf", action: "stop" }]);

  const stored = [store.groups, store.pools, store.rules, store.maintenance, store.miners, store.coins];
  expect(stored.map((rows) => rows.all())).toEqual(stored.map(() => []));
  expect([store.notifications.list(), await store.commands.list(), await store.runs.running()]).toEqual([[], [], []]);
});

test("with the first real rig the demo leaves, and what a user made stays", async () => {
  const { service, store, real } = await started();
  await service.addRule({ key: "mine", name: "Mine", do: [{ action: "restart" }], manual: true }, caller);
  await service.addMiner({ address: real, name: "real" }, caller);
  expect(await names(service)).toEqual({ rigs: ["real"], groups: [], pools: [], rules: ["Mine"], maintenance: [] });
  expect((await service.about(caller)).demo).toBe(false);
  expect(
    (await service.listNotifications({}, caller)).notificationList.filter(({ source }) => source === "Rules"),
  ).toEqual([]);
  expect(store.rules.all()).toMatchObject([{ name: "Mine" }]);
});
