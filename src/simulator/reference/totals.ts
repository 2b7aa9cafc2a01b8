import type { HashUnit } from "../../units/format.ts";
import { algorithmOf, titleOf } from "./coins.ts";
import { groups, rules } from "./layout.ts";
import { figuresOf, presentMiner } from "./present-miner.ts";
import type { Site } from "./site.ts";
import type { TwinMiner } from "./twin-miner.ts";
import { seesGroup, type TwinUser } from "./users.ts";

export const metaData = ({ format, clock }: Site) => ({
  updated: format.localTime(clock()),
  edition: "Enterprise",
  version: "10.4.2",
  infoList: [],
  warningList: [],
});

/** GET /api/miners. */
export function presentMiners(site: Site, user: TwinUser) {
  const miners = site.minersFor(user);
  const hashrate = miners.reduce((sum, miner) => sum + figuresOf(miner, site).hashrate, 0);
  const inGroup = (id: number) =>
    miners.filter(({ groupId }) => groupId === id).map((miner) => presentMiner(miner, site));
  const ungrouped = seesGroup(user, 0) ? [{ id: 0, name: "Not in a group", minerList: inGroup(0) }] : [];
  return {
    totalHashrate5s: site.format.hashrate(hashrate),
    hasManualAction: true,
    canManualAction: true,
    hasPoolOperations: true,
    manualActionList: rules,
    groupList: [...groupsUnder(0, user, inGroup), ...ungrouped],
    metaData: metaData(site),
  };
}

interface PresentedGroup {
  readonly id: number;
  readonly name: string;
  readonly minerList: readonly ReturnType<typeof presentMiner>[];
  readonly groupList?: readonly PresentedGroup[];
}

function groupsUnder(
  parent: number,
  user: TwinUser,
  inGroup: (id: number) => PresentedGroup["minerList"],
): PresentedGroup[] {
  return groups
    .filter(({ id, parentId }) => parentId === parent && seesGroup(user, id))
    .map(({ id, name }) => {
      const nested = groupsUnder(id, user, inGroup);
      return { id, name, minerList: inGroup(id), ...(nested.length === 0 ? {} : { groupList: nested }) };
    });
}

interface Entry {
  readonly name: string;
  readonly unit: HashUnit;
  count: number;
  hashrate: number;
  average: number;
  revenue: number;
}

/** GET /api/summary, with the totals of reachable miners. */
export function presentSummary(site: Site, user: TwinUser) {
  const miners = site.minersFor(user);
  const devices = (type: string): number =>
    miners
      .filter(({ online, kind }) => online && kind.deviceType === type)
      .reduce((sum, { kind }) => sum + kind.hardware.boards, 0);
  const figures = miners.map((miner) => figuresOf(miner, site));
  const revenue = figures.reduce((sum, { earnings }) => sum + earnings.revenue, 0);
  const perMonth = figures.reduce((sum, { earnings }) => sum + earnings.revenuePerMonth, 0);
  const running = miners.filter(({ status }) => status === "Mining");
  return {
    runningCount: running.length,
    totalCount: miners.length,
    gpuCount: devices("GPU"),
    pgaCount: devices("PGA"),
    asicCount: devices("ASIC"),
    exchangeRate: site.format.money(site.coins.rate),
    revenuePerDay: site.format.money(revenue),
    revenuePerMonth: site.format.money(perMonth),
    coinList: entries(running, site, (miner) => {
      const { coin } = figuresOf(miner, site);
      return coin === undefined ? "" : titleOf(coin);
    }),
    algorithmList: entries(running, site, ({ algorithm }) => algorithmOf(algorithm)?.name ?? algorithm),
    metaData: metaData(site),
  };
}

/** Running miners by algorithm. */
function entries(running: readonly TwinMiner[], site: Site, nameOf: (miner: TwinMiner) => string) {
  const byName = new Map<string, Entry>();
  for (const miner of running) {
    const name = nameOf(miner);
    const { hashrate, average, unit, earnings } = figuresOf(miner, site);
    const entry = byName.get(name) ?? { name, unit, count: 0, hashrate: 0, average: 0, revenue: 0 };
    entry.count += 1;
    entry.hashrate += hashrate;
    entry.average += average;
    entry.revenue += earnings.revenue;
    byName.set(name, entry);
  }
  return [...byName.values()]
    .filter(({ name }) => name !== "")
    .map(({ name, unit, count, hashrate, average, revenue }) => ({
      name,
      activeCount: count,
      hashRate5s: site.format.hashrate(hashrate, unit),
      hashRateAvg: site.format.hashrate(average, unit),
      revenue: site.format.money(revenue),
    }));
}
