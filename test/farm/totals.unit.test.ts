import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Miner, type MinerStatus, minerStatuses } from "../../src/contract/resources.ts";
import { totalsOf } from "../../src/farm/index.ts";
import { miner, readings } from "../homebridge/miners.ts";

const mining = (algorithm: string | null, hashrate: number | null): Miner =>
  miner({ readings: readings({ algorithm, hashrate }) });

describe("the hash rate of several miners", () => {
  test("of one algorithm is their sum, whether or not each names it", () => {
    expect(totalsOf([mining("sha256", 1e12), mining("sha256", 2e12)], null).hashrate).toBe(3e12);
    expect(totalsOf([mining("sha256", 1e12), mining(null, null)], null).hashrate).toBe(1e12);
    expect(totalsOf([mining(null, 5)], null).hashrate).toBe(5);
  });

  test("of several algorithms is no sum", () => {
    expect(totalsOf([mining("sha256", 1e12), mining("randomx", 5e3)], null).hashrate).toBeNull();
    expect(totalsOf([mining("sha256", 1e12), mining("randomx", null)], null).hashrate).toBeNull();
  });

  test("of none is unknown", () => {
    expect(totalsOf([], null).hashrate).toBeNull();
  });
});

const figure = fc.option(fc.integer({ min: -50, max: 50 }));

test("the profit is that of the miners whose profit is known, and the others are counted", () => {
  const some = fc.array(fc.record({ status: fc.constantFrom(...minerStatuses), profit: figure, revenue: figure }));
  fc.assert(
    fc.property(some, (each) => {
      const miners = each.map(({ status, profit, revenue }) => withMoney(status, profit, revenue));
      const { profit, revenue, miners_without_profit: without } = totalsOf(miners, null);
      const sum = (values: (number | null)[]) => {
        const known = values.filter((value) => value !== null);
        return known.length === 0 ? null : known.reduce((all, value) => all + value, 0);
      };
      expect([profit, revenue]).toEqual([sum(each.map((one) => one.profit)), sum(each.map((one) => one.revenue))]);
      const lacking = each.filter((one) => one.profit === null && ["Mining", "Idle", "Stopped"].includes(one.status));
      expect(without).toBe(lacking.length);
    }),
  );
});

function withMoney(status: MinerStatus, profitPerDay: number | null, revenuePerDay: number | null): Miner {
  const { statusInfo, money } = miner();
  return miner({
    statusInfo: { ...statusInfo, statusDisplay: status },
    money: { ...money, profitPerDay, revenuePerDay },
  });
}

test("a miner in repair counts as one of all, and is part of no sum", () => {
  const repair = { note: "fans", since: "2026-03-02T08:00:00Z" };
  const totals = totalsOf([mining("sha256", 1e12), { ...mining("sha256", 5e12), repair }], null);
  expect(totals).toMatchObject({ miners: 2, miners_in_repair: 1, hashrate: 1e12 });
});
