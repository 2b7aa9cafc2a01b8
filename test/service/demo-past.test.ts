import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { openDemo, type RunningService, startService } from "../../src/service/index.ts";
import { demoFarm, demoLogin, startFarm } from "../../src/simulator/index.ts";
import { openStore } from "../any-store.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { caller, configOf } from "./bench.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const dayMs = 86_400_000;

async function demo(hasPast: boolean): Promise<{ service: RunningService; stored: () => Promise<number> }> {
  const host = ownHost();
  const specs = demoFarm().map((spec) => ({ ...spec, host }));
  const farm = await startFarm({ rigs: specs });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const miners = farm.rigs.map(({ address, name }, index) => {
    const spec = specs[index];
    return { address, name, ...(spec === undefined ? {} : demoLogin(spec)) };
  });
  const log = pino({ level: "silent" });
  const demo = await openDemo({ config: configOf({ miners }), over: store, hasPast, now: Date.now });
  const service = await startService({ config: configOf(), store, log, demo });
  ends.push(async () => {
    await service.close();
    await store.close();
    await farm.close();
  });
  return { service, stored: () => store.samples.count(1_900_000_001, 0, Date.now()) };
}

const farmOf = (service: RunningService, days: number) =>
  service.getSummaryHistory({ from: Date.now() - days * dayMs }, caller);

test("a demo has a past of two weeks, of the rigs and of the farm, that is like its present and stored nowhere", async () => {
  const { service, stored } = await demo(true);
  await until(async () => (await farmOf(service, 15)).points.length > 100, "the past of the farm");
  const { points } = await farmOf(service, 15);
  const [first] = points;
  expect(Date.now() - (first?.[0] ?? 0)).toBeGreaterThan(13.5 * dayMs);
  const { groupList } = await service.listMiners({}, caller);
  const drawn = groupList.flatMap(({ minerList }) => minerList).map(({ readings }) => readings?.power ?? 0);
  const now = drawn.reduce((sum, watts) => sum + watts, 0);
  const past = points.flatMap(([, , power]) => (power === null ? [] : [power]));
  expect(Math.max(...past)).toBeLessThan(now * 1.1);
  expect(past.reduce((sum, watts) => sum + watts, 0) / past.length).toBeGreaterThan(now * 0.8);
  const from = Date.now() - 15 * dayMs;
  expect((await service.getHistory({ id: 1_900_000_001, from }, caller)).points.length).toBeGreaterThan(100);
  expect(await stored()).toBe(0);
});

test("without being asked for, a demo begins when it begins", async () => {
  const { service } = await demo(false);
  await service.settled();
  expect((await farmOf(service, 15)).points.filter(([time]) => Date.now() - time > dayMs)).toEqual([]);
});
