import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { contradiction, earningOf, isFar } from "../../src/service/money/coin-worth.ts";
import type { Coin } from "../../src/service/money/coins.ts";
import { earningsOf, worthOf } from "../../src/service/money/earnings.ts";
import { bestOf } from "../../src/service/money/economics.ts";
import { MoneySum } from "../../src/service/money/money-total.ts";
import { Rates } from "../../src/service/money/rates.ts";

const none = { difficulty: null, networkHashrate: null, blockTime: null, reward: null, earning: null };
const coin = (worth: Partial<Coin>): Coin => ({
  shortName: "BTC",
  name: "Bitcoin",
  displayName: "Bitcoin (BTC)",
  algorithm: "sha256",
  coinClass: "PreDefined",
  profit: null,
  profitUsd: null,
  setBy: "market",
  ...worth,
});

describe("what 1 H/s earns in a day", () => {
  test("follows from the difficulty: 86400 × reward / (difficulty × hashes per difficulty)", () => {
    // 86400 × 3.125 / (1e14 × 2^32) = 270000 / 4.294967296e23 = 6.28643e-19
    const work = { ...none, difficulty: 1e14, reward: 3.125 };
    expect(earningOf(work, 2 ** 32)).toBeCloseTo(6.28643e-19, 24);
  });

  test("follows from the network's hash rate where it does not follow from the difficulty", () => {
    // 86400 s / 1 s × 50 coins / 1e17 H/s = 4.32e-11
    const work = { ...none, difficulty: 5, networkHashrate: 1e17, blockTime: 1, reward: 50, earning: 9 };
    expect(earningOf(work, null)).toBeCloseTo(4.32e-11, 20);
  });

  test("is else what the source computes, and null without anything", () => {
    expect(earningOf({ ...none, earning: 7 }, null)).toBe(7);
    expect(earningOf({ ...none, difficulty: 7 }, 1)).toBeNull();
    expect(earningOf({ ...none, difficulty: 0, reward: 1 }, 1)).toBeNull();
  });
});

test("figures that contradict one another by a fifth or more are told", () => {
  // 7.158e20 H/s × 600 s / (1e14 × 2^32) = 1.0000
  const work = { ...none, difficulty: 1e14, networkHashrate: 7.158_278_8e20, blockTime: 600 };
  expect(contradiction(work, 2 ** 32)).toBeNull();
  expect(contradiction({ ...work, networkHashrate: 8.5e20 }, 2 ** 32)).toBeNull();
  expect(contradiction({ ...work, networkHashrate: 8.6e20 }, 2 ** 32)).toContain("factor of 1.20");
  expect(contradiction({ ...work, networkHashrate: 7.2e17 }, 2 ** 32)).toContain("factor of 0.00101");
  expect(contradiction({ ...work, networkHashrate: null }, 2 ** 32)).toBeNull();
  expect([isFar(1, 2.4), isFar(1, 2.6), isFar(2.6, 1)]).toEqual([false, true, true]);
});

describe("revenue, cost, profit and break-even price", () => {
  test("of a worked example", () => {
    // 100 TH/s = 1e8 MH/s; × 5e-13 BTC = 0.00005 BTC a day; × 90,000 $ = 4.50 $. 3,000 W × 24 h = 72 kWh; × 0.05 $ =
    // 3.60 $. Profit 4.50 - 3.60 = 0.90 $ = 0.00001 BTC. Break-even 4.50 $ / 72 kWh = 0.0625 $.
    const earnings = earningsOf(
      { hashrate: 1e14, power: 3000, coin: coin({ profit: 5e-13 }) },
      { currency: "USD", btc: 90_000, electricity: 0.05 },
    );
    expect(earnings.revenuePerDay).toBeCloseTo(4.5, 10);
    expect(earnings.costPerDay).toBeCloseTo(3.6, 10);
    expect(earnings.profitPerDay).toBeCloseTo(0.9, 10);
    expect(earnings.revenueBtc).toBeCloseTo(0.000_05, 12);
    expect(earnings.profitBtc).toBeCloseTo(0.000_01, 12);
    expect(earnings.breakEvenPrice).toBeCloseTo(0.0625, 12);
  });

  test("at the break-even price the profit is 0, whatever the rig", () => {
    const amount = fc.double({ min: 1e-3, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(amount, amount, amount, (terahash, power, btc) => {
        const rig = { hashrate: terahash * 1e12, power, coin: coin({ profit: 5e-13 }) };
        const { breakEvenPrice, revenuePerDay } = earningsOf(rig, { currency: "USD", btc });
        const { profitPerDay } = earningsOf(rig, { currency: "USD", btc, electricity: breakEvenPrice });
        expect(Math.abs(profitPerDay ?? Number.NaN)).toBeLessThanOrEqual(1e-9 * (revenuePerDay ?? 0));
      }),
    );
  });

  test("a negative price of electricity is income, and an unknown one makes cost and profit unknown", () => {
    const rig = { hashrate: 1e14, power: 1000, coin: coin({ profit: 5e-13 }) };
    // 24 kWh × -0.10 $ = -2.40 $; 4.50 + 2.40 = 6.90 $
    const paid = earningsOf(rig, { currency: "USD", btc: 90_000, electricity: -0.1 });
    expect([paid.costPerDay, paid.profitPerDay]).toEqual([expect.closeTo(-2.4, 10), expect.closeTo(6.9, 10)]);
    const unknown = earningsOf(rig, { currency: "USD", btc: 90_000, electricity: null });
    expect([unknown.costPerDay, unknown.profitPerDay, unknown.electricityPrice]).toEqual([null, null, null]);
    expect(unknown.revenuePerDay).toBeCloseTo(4.5, 10);
  });

  test("of a coin priced in USD need the rate between USD and the display currency", () => {
    const dollars = coin({ profitUsd: 2 });
    expect(worthOf(dollars, { currency: "USD", btc: 100 })).toEqual({ money: 2, btc: 0.02 });
    expect(worthOf(dollars, { currency: "EUR", btc: 90, usd: 0.9 })).toEqual({ money: 1.8, btc: 0.02 });
    expect(worthOf(dollars, { currency: "EUR", btc: 100 })).toEqual({ money: null, btc: null });
  });

  test("of many rigs are the sums of what is known", () => {
    const rig = fc.record({
      hashrate: fc.option(fc.double({ min: 0, max: 1e15, noNaN: true })),
      power: fc.option(fc.double({ min: 0, max: 1e4, noNaN: true })),
      group: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(rig, { maxLength: 30 }), (rigs) => {
        const prices = { currency: "USD", btc: 90_000, electricity: 0.1 };
        const each = rigs.map((one) => earningsOf({ ...one, coin: coin({ profit: 5e-13 }) }, prices));
        const [farm, ofGroups] = [new MoneySum(), new MoneySum()];
        const groups = new Map<number, MoneySum>();
        for (const [index, earnings] of each.entries()) {
          const summed = { earnings, isExpected: true, isEstimated: false };
          farm.add(summed);
          const group = rigs[index]?.group ?? 0;
          const sum = groups.get(group) ?? new MoneySum();
          sum.add(summed);
          groups.set(group, sum);
        }
        for (const sum of groups.values()) ofGroups.addSum(sum);
        for (const key of ["revenuePerDay", "costPerDay", "profitPerDay"] as const) {
          const known = each.map((earnings) => earnings[key]).filter((value) => value !== null);
          const sum =
            known.length === 0
              ? null
              : expect.closeTo(
                  known.reduce((a, b) => a + b, 0),
                  6,
                );
          expect(farm.total("USD")[key]).toEqual(sum);
          expect(ofGroups.total("USD")[key]).toEqual(sum);
        }
        // The profit is that of the rigs with both figures, and so are the revenue and the cost beside it.
        const both = each.filter(({ revenuePerDay, costPerDay }) => revenuePerDay !== null && costPerDay !== null);
        for (const total of [farm.total("USD"), ofGroups.total("USD")]) {
          expect([total.minerCount, total.profitMinerCount]).toEqual([rigs.length, both.length]);
          expect(total.revenueMinerCount).toBe(rigs.filter(({ hashrate }) => hashrate !== null).length);
          expect(total.costMinerCount).toBe(rigs.filter(({ power }) => power !== null).length);
          const { profitPerDay, profitRevenuePerDay, profitCostPerDay } = total;
          expect(profitPerDay).toEqual(
            both.length === 0 ? null : expect.closeTo((profitRevenuePerDay ?? 0) - (profitCostPerDay ?? 0), 6),
          );
        }
      }),
    );
  });
});

describe("the best setting", () => {
  const rungs = [
    { watts: 0, draw: 0, hashrate: 0 },
    { watts: 2000, draw: 2000, hashrate: 80e12 },
    { watts: 3000, draw: 3000, hashrate: 100e12 },
  ];
  const best = (electricity: number, present: number | null = null) =>
    bestOf({ rungs, present, coin: undefined }, 5e-8, electricity);

  test.each([
    // 80e6 MH/s × 5e-8 = 4.00 and 100e6 × 5e-8 = 5.00 a day; 48 and 72 kWh.
    // At 0.02: 4.00 - 0.96 = 3.04 and 5.00 - 1.44 = 3.56.
    [0.02, 3000, 3.56],
    // At 0.05: 4.00 - 2.40 = 1.60 and 5.00 - 3.60 = 1.40.
    [0.05, 2000, 1.6],
    // At 0.10: 4.00 - 4.80 = -0.80 and 5.00 - 7.20 = -2.20, so stopped is better.
    [0.1, 0, 0],
    // At -0.10 more power is income: 5.00 + 7.20 = 12.20.
    [-0.1, 3000, 12.2],
  ])("at %d per kWh is %i W with a profit of %d", (electricity, watts, profit) => {
    expect(best(electricity)).toEqual({ watts, profitPerDay: expect.closeTo(profit, 9) });
  });

  test("stays where it is unless another is clearly better", () => {
    // At 0.04: 4.00 - 1.92 = 2.08 and 5.00 - 2.88 = 2.12: 0.04 is less than 2 % of 5.00.
    expect(best(0.04, 2000)?.watts).toBe(2000);
    expect(best(0.04)?.watts).toBe(3000);
    expect(best(0.03, 2000)?.watts).toBe(3000);
  });

  test("is none without a known setting, and never an unknown one", () => {
    expect(bestOf({ rungs: [], present: 2000, coin: undefined }, 5e-8, 0.1)).toBeNull();
    expect(bestOf({ rungs: rungs.slice(1, 2), present: 3000, coin: undefined }, 5e-8, 0.5)?.watts).toBe(2000);
  });
});

describe("exchange rates", () => {
  const market = (prices: Record<string, number>) =>
    new Map(Object.entries(prices).map(([code, value]) => [code, { value, at: 1, source: "double" }]));

  test("by hand come before those of the market", () => {
    const rates = new Rates({ display: { currency: "EUR" }, rates: { btc: 80_000, currencies: { USD: 0.9 } } });
    rates.setMarket(market({ EUR: 79_000, USD: 91_000, GBP: 70_000 }));
    expect(rates.btc?.value).toBe(80_000);
    expect(rates.of("USD")).toBe(0.9);
    // 80,000 EUR / 70,000 GBP
    expect(rates.of("GBP")).toBeCloseTo(8 / 7, 12);
    expect([rates.of("EUR"), rates.of("CHF")]).toEqual([1, null]);
  });

  test("of a currency that the market does not have follow from a rate by hand", () => {
    const rates = new Rates({ display: { currency: "SEK" }, rates: { currencies: { USD: 9.5 } } });
    expect(rates.btc).toBeUndefined();
    rates.setMarket(market({ USD: 90_000 }));
    expect(rates.btc?.value).toBe(855_000);
  });
});
