import { afterEach, describe, expect, test } from "@jest/globals";
import { MinerDetail } from "../../src/contract/resources.ts";
import { stoppedClock } from "../clock.ts";
import { caller } from "./bench.ts";
import { closeLoopBenches, openLoopBench } from "./loop-bench.ts";

afterEach(closeLoopBenches);

const hour = 3600;

/** A rig of cards that mines Alpha at one pool and Beta at another, beside one that mines Beta alone. */
async function openRigs() {
  const clock = stoppedClock(Date.parse("2026-11-22T00:00:00Z"));
  const bench = await openLoopBench({
    rigs: [
      { kind: "gminer", warm: true, dualAlgorithm: "kHeavyHash" },
      { kind: "trex", warm: true, algorithm: "kheavyhash", pools: [beta] },
    ],
    clock: clock.now,
    config: (addresses) => ({
      miners: addresses.map((address, index) => ({ address, name: `rig ${index}` })),
      coins: [
        { name: "Alpha", shortName: "ALP", algorithm: "etchash", profit: 1e-6 },
        { name: "Beta", shortName: "BET", algorithm: "kheavyhash", profit: 2e-8 },
      ],
      pools: [
        { name: "Alpha pool", url: "stratum+tcp://pool.example.com:3333", coin: "ALP" },
        { name: "Beta pool", url: beta.url, coin: "BET" },
      ],
      rates: { btc: 100_000 },
      electricity: { price: 0.2 },
    }),
  });
  await bench.turn();
  const [both, alone] = [MinerDetail.parse(await bench.miner(0)), MinerDetail.parse(await bench.miner(1))];
  return { bench, clock, both, alone };
}

const beta = { url: "stratum+tcp://second.example.org:5555", user: "acct2" };

/** What 1 H/s of each earns in a day. */
const worth = { alpha: (1e-6 / 1e6) * 100_000, beta: (2e-8 / 1e6) * 100_000 };

describe("a rig that mines two algorithms at once", () => {
  test("shows both, each with its pool and coin, and earns with both", async () => {
    const { both } = await openRigs();
    const { hashrate, dual, power } = both.readings;
    expect(dual).toMatchObject({ algorithm: "kHeavyHash", hashrate: expect.any(Number) });
    expect(both.coinInfo).toMatchObject({ displayName: "Alpha (ALP) + Beta (BET)", shortName: "ALP" });
    expect(both.coinInfo.algorithm).toBe("Etchash + kHeavyHash");
    expect(both.poolList.map(({ name, coinName }) => [name, coinName])).toEqual([
      ["Alpha pool", "Alpha (ALP)"],
      ["Beta pool", "Beta (BET)"],
    ]);
    expect(both.pool).toBe("pool.example.com");
    const revenue = (hashrate ?? 0) * worth.alpha + (dual?.hashrate ?? 0) * worth.beta;
    expect(both.money.revenuePerDay).toBeCloseTo(revenue, 6);
    const cost = ((power ?? 0) / 1000) * 24 * 0.2;
    expect(both.money.profitPerDay).toBeCloseTo(revenue - cost, 6);
    expect(both.coinInfo.revenuePerDayValue).toBeCloseTo(revenue, 6);
  });

  test("counts in the summary with each of its algorithms and coins, and its power once", async () => {
    const { bench, both, alone } = await openRigs();
    const summary = await bench.service.getSummary({}, caller);
    const names = (list: typeof summary.coinList) => list.map(({ name, activeCount }) => [name, activeCount]);
    expect(names(summary.algorithmList)).toEqual([
      ["Etchash", 1],
      ["kHeavyHash", 2],
    ]);
    expect(names(summary.coinList)).toEqual([
      ["Alpha (ALP)", 1],
      ["Beta (BET)", 2],
    ]);
    const betaRevenue = ((both.readings.dual?.hashrate ?? 0) + (alone.readings.hashrate ?? 0)) * worth.beta;
    expect(summary.coinList[1]?.money?.revenuePerDay).toBeCloseTo(betaRevenue, 6);
    expect(summary.money?.revenuePerDay).toBeCloseTo((both.readings.hashrate ?? 0) * worth.alpha + betaRevenue, 6);
    const costs = summary.coinList.map(({ money }) => money?.costPerDay ?? 0);
    expect(costs.reduce((sum, each) => sum + each, 0)).toBeCloseTo(summary.money?.costPerDay ?? 0, 6);
    expect(summary.gpuCount).toBe(12);
    expect(summary.runningCount).toBe(2);
  });

  test("is booked by coin and by algorithm", async () => {
    const { bench, clock, both } = await openRigs();
    for (let hours = 0; hours < 4; hours += 1) {
      clock.pass(hour);
      await bench.turn();
    }
    const { list } = await bench.service.getMoney({ of: "coin" }, caller);
    const first = list.find(({ name }) => name === "Alpha (ALP)");
    const second = list.find(({ name }) => name === "Beta (BET)");
    expect(first?.revenue).toBeCloseTo(((both.readings.hashrate ?? 0) * worth.alpha) / 6, 1);
    expect(second?.revenue).toBeGreaterThan(((both.readings.dual?.hashrate ?? 0) * worth.beta * 0.9) / 6);
    expect(first?.hours).toBe(4);
    const total = await bench.service.getMoney({ of: "miner" }, caller);
    const ofBoth = total.list.find(({ name }) => name === "rig 0");
    expect(ofBoth?.hours).toBe(4);
    const expected =
      ((both.readings.hashrate ?? 0) * worth.alpha + (both.readings.dual?.hashrate ?? 0) * worth.beta) / 6;
    expect((ofBoth?.revenue ?? 0) / expected).toBeCloseTo(1, 1);
  });
});

test("each card is an element of gpuList with every field of deviceInfo, and what we add", async () => {
  const { bench, both } = await openRigs();
  expect(both).toMatchObject({ hasGpu: true, hasAsic: false, hasCpu: false, asicList: [] });
  expect(both.gpuList).toHaveLength(6);
  const [card] = both.gpuList;
  expect(card?.deviceInfo).toEqual({
    deviceType: "GPU",
    gpuActivity: 0,
    intensity: "0",
    name: "NVIDIA GeForce RTX 3070",
    gpuClock: 1350,
    gpuMemoryClock: 7001,
    gpuVoltage: "0",
    gpuPowertune: 0,
    fanSpeed: 0,
    fanPercent: expect.any(Number),
    temperature: expect.any(Number),
    power: expect.any(Number),
    memoryTemperature: expect.any(Number),
    pciBusId: 1,
  });
  expect(card?.deviceInfo.temperature).toBeGreaterThan(30);
  expect(card?.speedInfo.hashrateValue).toBeGreaterThan(30e6);
  expect(card?.statusInfo.statusDisplay).toBe("Enabled");
  bench.farm.rigs[1]?.model.change((model) => model.boardsLost.add(3));
  await bench.turn();
  const { gpuList } = await bench.miner(1);
  expect(gpuList.map(({ statusInfo }) => statusInfo.statusDisplay)).toEqual([
    ...["Enabled", "Enabled", "Enabled"],
    ...["Dead", "Enabled", "Enabled"],
  ]);
});
