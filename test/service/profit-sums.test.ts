import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { startHttpServer } from "../../src/http/index.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { onTestFinished } from "../finished.ts";
import { caller, closeBenches, openBench } from "./bench.ts";
import { closeLoopBenches, openLoopBench } from "./loop-bench.ts";

afterEach(closeLoopBenches);

const pools = [{ name: "Solo", url: "stratum+tcp://pool.example.com:3333", coin: "BTC" }];
/** It reports its power, the other does not. */
const known: RigSpec = { kind: "axeos", warm: true };
const silent: RigSpec = { kind: "cgminer", warm: true };

/** In Hall a rig whose power is known and two without, one more whose power is known outside; electricity has a price. */
async function openMixedFarm(poolsOfLast?: RigSpec["pools"]) {
  const clock = stoppedClock(Date.parse("2026-11-22T00:00:00Z"));
  const bench = await openLoopBench({
    rigs: [known, silent, silent, { ...known, ...(poolsOfLast && { pools: poolsOfLast }) }],
    clock: clock.now,
    config: (addresses) => ({
      miners: addresses.map((address, index) => ({
        address,
        name: `rig ${index}`,
        ...(index < 3 && { group: "Hall" }),
      })),
      pools,
      rates: { btc: 90_000 },
      groups: [{ name: "Hall", room: true }],
      electricity: { price: 0.3 },
      display: { timeZone: "UTC" },
    }),
  });
  await bench.service.saveCoin({ shortName: "BTC", profit: 5e-9 }, caller);
  await bench.turn();
  return { bench, clock };
}

test("the profit of a farm, a group, a coin and an algorithm is that of the rigs with both figures, and says of how many", async () => {
  const { bench } = await openMixedFarm();
  const summary = await bench.service.getSummary({}, caller);
  const miners = await Promise.all([0, 1, 2, 3].map((index) => bench.miner(index)));
  const sum = (indexes: readonly number[], key: "revenuePerDay" | "costPerDay" | "profitPerDay") =>
    expect.closeTo(
      indexes.reduce((all, index) => all + (miners[index]?.money[key] ?? Number.NaN), 0),
      9,
    );
  expect(miners.map(({ money }) => money.profitPerDay === null)).toEqual([false, true, true, false]);
  const farm = {
    minerCount: 4,
    revenueMinerCount: 4,
    costMinerCount: 2,
    profitMinerCount: 2,
    estimatedMinerCount: 0,
    revenuePerDay: sum([0, 1, 2, 3], "revenuePerDay"),
    costPerDay: sum([0, 3], "costPerDay"),
    profitPerDay: sum([0, 3], "profitPerDay"),
    profitRevenuePerDay: sum([0, 3], "revenuePerDay"),
    profitCostPerDay: sum([0, 3], "costPerDay"),
  };
  for (const money of [summary.money, summary.coinList[0]?.money, summary.algorithmList[0]?.money])
    expect(money).toMatchObject(farm);
  expect(summary.groupList?.[0]?.money).toMatchObject({
    minerCount: 3,
    profitMinerCount: 1,
    profitPerDay: sum([0], "profitPerDay"),
    profitRevenuePerDay: sum([0], "revenuePerDay"),
  });
  expect(summary.metaData.warningList).toEqual([expect.stringMatching(/^The profit of 2 miners is unknown: .*power/)]);
});

test("a rig whose coin has no worth is left out of the profit as well, and the warning says so", async () => {
  const { bench } = await openMixedFarm([{ url: "stratum+tcp://other.example.com:3333", user: "x" }]);
  await bench.restart({ electricity: {} });
  await bench.turn();
  const { money, metaData } = await bench.service.getSummary({}, caller);
  expect(money).toMatchObject({ minerCount: 4, costMinerCount: 4, revenueMinerCount: 3, profitMinerCount: 3 });
  expect(metaData.warningList).toEqual([expect.stringMatching(/^The profit of 1 miner is unknown: what they earn/)]);
});

test("a report's profit is of the hours with both figures, as rows, totals, table and in a room", async () => {
  const { bench, clock } = await openMixedFarm();
  for (let hour = 0; hour < 5; hour += 1) {
    clock.pass(3600);
    await bench.turn();
  }
  const { list, totalList } = await bench.service.getMoney({ of: "miner" }, caller);
  const own = (index: number) => list.find(({ id }) => id === bench.ids[index]);
  expect(own(1)).toMatchObject({ hours: 5, profitHours: 0, profit: null, cost: null, incomplete: true });
  expect(own(0)).toMatchObject({ hours: 5, profitHours: 5, incomplete: false });
  expect(own(0)?.profit).toBeCloseTo((own(0)?.revenue ?? 0) - (own(0)?.cost ?? Number.NaN), 12);
  const profit = (own(0)?.profit ?? Number.NaN) + (own(3)?.profit ?? Number.NaN);
  const [farm] = totalList;
  expect(farm).toMatchObject({ hours: 20, profitHours: 10, profit: expect.closeTo(profit, 9), incomplete: true });
  // All revenue less the known cost would be more.
  expect((farm?.revenue ?? 0) - (farm?.cost ?? 0)).toBeGreaterThan(profit + 1e-6);
  for (const sum of ["coin", "algorithm"] as const)
    expect((await bench.service.getMoney({ of: sum }, caller)).list).toMatchObject([
      { hours: 20, profitHours: 10, profit: expect.closeTo(profit, 9) },
    ]);
  const groups = (await bench.service.getMoney({ of: "group", by: "month" }, caller)).list;
  expect(groups.find(({ name }) => name === "Hall")).toMatchObject({
    hours: 15,
    profitHours: 5,
    profit: expect.closeTo(own(0)?.profit ?? Number.NaN, 9),
  });
  const [room] = await bench.service.listRooms({}, caller);
  expect(room?.today).toMatchObject({ profit: expect.closeTo(own(0)?.profit ?? Number.NaN, 9), incomplete: true });

  const settings = { host: "127.0.0.1", port: 0, origins: [], hosts: [], trustedProxies: [], open: false };
  const server = await startHttpServer({
    service: bench.service,
    log: pino({ level: "silent" }),
    version: "test",
    settings: { ...settings, keylessRead: false, mcp: false, announce: false },
  });
  onTestFinished(() => server.close());
  const response = await fetch(`http://${server.address.host}:${server.address.port}/api/money?of=group&format=csv`);
  const [header = "", ...lines] = (await response.text()).split("\r\n");
  const column = (name: string) => lines.map((line) => line.split(",")[header.split(",").indexOf(name)]);
  const hall = column("name").indexOf("Hall");
  expect([column("hours")[hall], column("profitHours")[hall]]).toEqual(["15", "5"]);
  expect(Number(column("profit")[hall])).toBeCloseTo(own(0)?.profit ?? Number.NaN, 9);
});

test("with nameplates, a rig without a power reading counts with that of its model, marked and counted as an estimate", async () => {
  onTestFinished(closeBenches);
  const options = { pools, rates: { btc: 90_000 }, electricity: { price: 0.3 } };
  const rigs: RigSpec[] = [{ kind: "antminer", warm: true }, { kind: "cgminer", warm: true }, known];
  const bench = await openBench({ rigs, config: options });
  await bench.service.saveCoin({ shortName: "BTC", profit: 5e-10 }, caller);
  const ids: number[] = [];
  for (const index of rigs.keys()) ids.push(await bench.add(bench.rig(index).address));
  const [stock = 0, unknownModel = 0, measured = 0] = ids;
  const powers = async () => {
    const miners = await Promise.all(ids.map((id) => bench.get(id)));
    return miners.map(({ readings: { power, powerSource } }) => [power, powerSource]);
  };
  const before = await bench.service.getSummary({}, caller);
  expect((await powers()).slice(0, 2)).toEqual(Array(2).fill([null, null]));
  expect(before.money).toMatchObject({ minerCount: 3, profitMinerCount: 1, estimatedMinerCount: 0 });

  await bench.restart({ ...options, poll: { interval: 3600, timeout: 30, nameplates: true } });
  for (const id of ids) await bench.poll(id);
  const { money } = await bench.service.getSummary({}, caller);
  expect(await powers()).toEqual([
    [3250, "nameplate"],
    [null, null],
    [expect.any(Number), "reported"],
  ]);
  expect(money).toMatchObject({ minerCount: 3, profitMinerCount: 2, estimatedMinerCount: 1 });
  expect((await bench.get(stock)).money.costPerDay).toBeCloseTo(3.25 * 24 * 0.3, 9);
  expect((await bench.get(stock)).coinInfo).toMatchObject({ powerUsageValue: 3250, isActualPowerUsage: false });
  expect((await bench.get(unknownModel)).money.costPerDay).toBeNull();
  expect((await bench.get(measured)).coinInfo.isActualPowerUsage).toBe(true);
});
