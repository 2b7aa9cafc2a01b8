import { expect, test } from "@jest/globals";
import { merged, type Part } from "../../src/centre/merge.ts";
import { mergedSummary, moneySum } from "../../src/centre/summary.ts";
import type { MoneyTotal, Summary } from "../../src/contract/resources.ts";
import { formatFor } from "../../src/units/format.ts";

const format = formatFor({ locale: "en-US", currency: "USD", timeZone: "UTC" });
const context = { format, currency: "USD", missing: ["Without Cabin and its 3 miners: it is away"] };
const here = { id: 0, name: "" };
const barn = { id: 1, name: "Barn" };
const part = (site: Part["site"], reply: unknown, locale = "en-US"): Part => ({ site, locale, reply });

const money = (currency: string, revenuePerDay: number | null, costPerDay: number | null): MoneyTotal => ({
  revenuePerDay,
  costPerDay,
  profitPerDay: null,
  revenueBtcPerDay: null,
  profitBtcPerDay: null,
  currency,
  minerCount: 2,
  revenueMinerCount: revenuePerDay === null ? 0 : 2,
  costMinerCount: costPerDay === null ? 0 : 2,
  profitMinerCount: 0,
  profitRevenuePerDay: null,
  profitCostPerDay: null,
  estimatedMinerCount: 0,
});

test("money is added in one currency; what is unknown stays unknown", () => {
  const sum = moneySum([money("USD", 3, null), money("USD", 4, null), money("EUR", 5, 1), undefined], "USD");
  expect(sum).toMatchObject({ revenuePerDay: 7, costPerDay: null, minerCount: 6, revenueMinerCount: 4 });
});

const summary = (currency: string, text: string, value: number | undefined): Summary => {
  const numbers = value === undefined ? {} : { hashrateValue: value, avgHashrateValue: value, unit: "H/s" };
  const entry = { name: "Bitcoin", activeCount: 1, hashRate5s: text, hashRateAvg: text, revenue: "$1.00", ...numbers };
  return {
    runningCount: 1,
    totalCount: 2,
    gpuCount: 0,
    pgaCount: 0,
    asicCount: 1,
    exchangeRate: "$0.00",
    revenuePerDay: "$3.00",
    revenuePerMonth: "$90.90",
    coinList: [{ ...entry, money: money(currency, 3, 1) }],
    algorithmList: [],
    energy: 5,
    groupList: [{ id: 4, name: "Attic", energy: 5 }],
    money: money(currency, 3, 1),
    inRepair: 0,
    metaData: { updated: "now", edition: "Rigbridge", version: "1", infoList: [], warningList: ["hot"] },
  };
};

test("sums of sites are added, their groups are named with the site, and what is left out is said", () => {
  const parts = [
    { site: here, summary: summary("USD", "1 TH/s", 1e12) },
    { site: barn, summary: summary("EUR", "2 TH/s", 2e12) },
  ];
  const sum = mergedSummary(parts, format, "USD", ["1 of 2 sites"]);
  expect(sum).toMatchObject({ totalCount: 4, runningCount: 2, energy: 10, revenuePerDay: "$3.00" });
  expect(sum.coinList).toMatchObject([{ activeCount: 2, hashRate5s: "3.00 TH/s", revenue: "$3.00" }]);
  expect(sum.groupList?.map(({ id, name }) => [id, name])).toEqual([
    [4, "Attic"],
    [10_000_000_000, "Barn"],
    [10_000_000_004, "Barn / Attic"],
  ]);
  const { warningList } = sum.metaData;
  expect(warningList).toEqual([
    "1 of 2 sites",
    "The sums of money leave out Barn, which counts in EUR",
    "hot",
    "Barn: hot",
  ]);
  // A server that gives no numbers keeps its text.
  const foreign = mergedSummary(
    [...parts, { site: { id: 2, name: "Old" }, summary: summary("USD", "5 TH/s", undefined) }],
    format,
    "USD",
    [],
  );
  expect(foreign.coinList[0]).toMatchObject({ hashRate5s: "1 TH/s + 2 TH/s + 5 TH/s" });
});

const row = (period: string, revenue: number | null) => ({
  period,
  hours: 2,
  energy: 1,
  cost: null,
  revenue,
  profit: null,
  profitHours: 0,
  revenueBtc: null,
  profitBtc: null,
  incomplete: revenue === null,
});

test("a money report adds the days of sites in its own currency, and names the others", () => {
  const report = (currency: string, revenue: number | null) => ({
    by: "day",
    of: "coin",
    currency,
    list: [{ ...row("2026-11-01", revenue), id: null, name: "Bitcoin" }],
    totalList: [row("2026-11-01", revenue)],
  });
  const parts = [
    part(here, report("USD", 1)),
    part(barn, report("USD", null)),
    part({ id: 2, name: "Old" }, report("SEK", 9)),
  ] as const;
  expect(merged("getMoney", [parts[0], parts[1], parts[2]], context)).toMatchObject({
    currency: "USD",
    list: [{ name: "Bitcoin", revenue: 1, hours: 4, energy: 2, cost: null, incomplete: true }],
    totalList: [{ revenue: 1, hours: 4 }],
    missing: [...context.missing, "Old counts in SEK"],
  });
});

test("histories are added step by step; another step, algorithm or currency is left out", () => {
  const history = (step: number, algorithm: string, currency: string) => ({
    step,
    algorithm,
    algorithms: [algorithm],
    currency,
    points: [[1000, 5, 10, 1, 2, 3, null, null]],
  });
  const all = [
    part(here, history(60, "sha256", "USD")),
    part(barn, history(60, "scrypt", "EUR")),
    part({ id: 2, name: "Old" }, history(300, "sha256", "USD")),
  ] as const;
  expect(merged("getSummaryHistory", [all[0], all[1], all[2]], { ...context, missing: [] })).toEqual({
    ...history(60, "sha256", "USD"),
    algorithms: ["sha256", "scrypt"],
    points: [[1000, 5, 20, 2, 4, 3, null, null]],
    missing: ["Old has other steps"],
  });
});

test("lists are put together newest first, and counted", () => {
  const list = (id: number, timeUtc: string) => ({
    notificationList: [{ id, timeUtc }],
    notificationCount: 1,
    unacknowledgedNotificationCount: 1,
  });
  const parts = [part(here, list(1, "2026-01-01")), part(barn, list(10_000_000_001, "2026-01-02"))] as const;
  expect(merged("listNotifications", [parts[0], parts[1]], context)).toEqual({
    notificationList: [
      { id: 10_000_000_001, timeUtc: "2026-01-02" },
      { id: 1, timeUtc: "2026-01-01" },
    ],
    notificationCount: 2,
    unacknowledgedNotificationCount: 2,
  });
});
