import type { z } from "zod";
import type { MoneyTotal, Summary, SummaryEntry } from "../contract/resources.ts";
import { numberAt } from "../contract/site-numbers.ts";
import { daysPerMonth } from "../service/money/earnings.ts";
import type { Format, HashUnit } from "../units/format.ts";
import type { Site } from "./site.ts";
import { groupNameAt } from "./translate.ts";

type Entry = z.infer<typeof SummaryEntry>;

/** The sums of one site. */
interface Part {
  readonly site: Pick<Site, "id" | "name">;
  readonly summary: Summary;
}

/**
 * The sums of several sites; the first is the centre itself, whose currency and format they have. Money in other currencies
 * is left out, and said.
 */
export function mergedSummary(
  parts: readonly Part[],
  format: Format,
  currency: string,
  missing: readonly string[],
): Summary {
  const [own] = parts;
  if (own === undefined) throw new Error("The centre itself is always a part");
  const all = parts.map(({ summary }) => summary);
  const total = (of: (summary: Summary) => number): number => all.reduce((sum, each) => sum + of(each), 0);
  const money = moneySum(
    all.map((each) => each.money),
    currency,
  );
  const energies = all.map(({ energy }) => energy).filter((energy) => energy != null);
  const foreign = parts.filter(({ summary }) => summary.money !== undefined && summary.money.currency !== currency);
  return {
    runningCount: total(({ runningCount }) => runningCount),
    totalCount: total(({ totalCount }) => totalCount),
    gpuCount: total(({ gpuCount }) => gpuCount),
    pgaCount: total(({ pgaCount }) => pgaCount),
    asicCount: total(({ asicCount }) => asicCount),
    exchangeRate: own.summary.exchangeRate,
    revenuePerDay: format.money(money.revenuePerDay ?? 0),
    revenuePerMonth: format.money((money.revenuePerDay ?? 0) * daysPerMonth),
    coinList: mergedEntries(
      all.map(({ coinList }) => coinList),
      format,
      currency,
    ),
    algorithmList: mergedEntries(
      all.map(({ algorithmList }) => algorithmList),
      format,
      currency,
    ),
    energy: energies.length === 0 ? null : energies.reduce((sum, each) => sum + each, 0),
    groupList: parts.flatMap(({ site, summary }) => [
      ...(site.id === 0 ? [] : [siteGroup(site, summary)]),
      ...(summary.groupList ?? []).map((group) => ({
        ...group,
        id: numberAt(site.id, group.id),
        name: site.id === 0 ? group.name : groupNameAt(site, group.name),
      })),
    ]),
    money,
    inRepair: total(({ inRepair = 0 }) => inRepair),
    metaData: {
      ...own.summary.metaData,
      infoList: parts.flatMap(({ site, summary }) => said(site, summary.metaData.infoList)),
      warningList: [
        ...missing,
        ...foreign.map(
          ({ site, summary }) =>
            `The sums of money leave out ${site.name}, which counts in ${summary.money?.currency ?? "another currency"}`,
        ),
        ...parts.flatMap(({ site, summary }) => said(site, summary.metaData.warningList)),
      ],
    },
  };
}

const said = ({ id, name }: Pick<Site, "id" | "name">, sentences: readonly string[]): string[] =>
  id === 0 ? [...sentences] : sentences.map((each) => `${name}: ${each}`);

const siteGroup = ({ id, name }: Pick<Site, "id" | "name">, { energy = null, money, inRepair }: Summary) => ({
  id: numberAt(id, 0),
  name,
  energy,
  money,
  inRepair,
});

/** Entries of coins or algorithms by name, as the sites list them. */
function mergedEntries(lists: readonly (readonly Entry[])[], format: Format, currency: string): Entry[] {
  const byName = Map.groupBy(lists.flat(), ({ name }) => name);
  return Array.from(byName, ([name, entries]) => {
    const sum = (of: (entry: Entry) => number | undefined): number | null =>
      entries.every((entry) => of(entry) !== undefined)
        ? entries.reduce((all, entry) => all + (of(entry) ?? 0), 0)
        : null;
    const [hashrate, average] = [
      sum(({ hashrateValue }) => hashrateValue),
      sum(({ avgHashrateValue }) => avgHashrateValue),
    ];
    const [first] = entries;
    const unit = hashUnits.find((each) => each === first?.unit) ?? "H/s";
    const money = moneySum(
      entries.map((entry) => entry.money),
      currency,
    );
    return {
      name,
      activeCount: entries.reduce((all, { activeCount }) => all + activeCount, 0),
      // One site of another product gives no numbers: its text stands if it is the only one.
      hashRate5s: hashrate === null ? textOf(entries, ({ hashRate5s }) => hashRate5s) : format.hashrate(hashrate, unit),
      hashRateAvg:
        average === null ? textOf(entries, ({ hashRateAvg }) => hashRateAvg) : format.hashrate(average, unit),
      revenue: format.money(money.revenuePerDay ?? 0),
      ...(hashrate === null || average === null ? {} : { hashrateValue: hashrate, avgHashrateValue: average, unit }),
      money,
    };
  });
}

const textOf = (entries: readonly Entry[], of: (entry: Entry) => string): string =>
  [...new Set(entries.map(of))].join(" + ");

const hashUnits: readonly HashUnit[] = ["H/s", "Sol/s", "G/s"];

const counts = [
  ...(["minerCount", "revenueMinerCount", "costMinerCount", "profitMinerCount", "estimatedMinerCount"] as const),
] as const;
const amounts = [
  ...(["revenuePerDay", "costPerDay", "profitPerDay", "revenueBtcPerDay", "profitBtcPerDay"] as const),
  ...(["profitRevenuePerDay", "profitCostPerDay"] as const),
] as const;

/** The sum of what is known in one currency; miners whose money is in another count as unknown. */
export function moneySum(all: readonly (MoneyTotal | undefined)[], currency: string): MoneyTotal {
  const sum: MoneyTotal = {
    revenuePerDay: null,
    costPerDay: null,
    profitPerDay: null,
    revenueBtcPerDay: null,
    profitBtcPerDay: null,
    currency,
    minerCount: 0,
    revenueMinerCount: 0,
    costMinerCount: 0,
    profitMinerCount: 0,
    profitRevenuePerDay: null,
    profitCostPerDay: null,
    estimatedMinerCount: 0,
  };
  for (const each of all) {
    if (each === undefined) continue;
    if (each.currency !== currency) {
      sum.minerCount += each.minerCount;
      continue;
    }
    for (const name of counts) sum[name] += each[name];
    for (const name of amounts) {
      const amount = each[name];
      if (amount !== null) sum[name] = (sum[name] ?? 0) + amount;
    }
  }
  return sum;
}
