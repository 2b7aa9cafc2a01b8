import { hash } from "node:crypto";
import { isSummed } from "../../contract/known-of.ts";
import type { MetaData, Summary } from "../../contract/resources.ts";
import type { Caller, Encoded } from "../../contract/service.ts";
import { allMiners, type Store } from "../../store/index.ts";
import type { Format, HashUnit } from "../../units/format.ts";
import { version } from "../../version.ts";
import { enabled } from "../crud.ts";
import { daysPerMonth, type Prices } from "../money/earnings.ts";
import { MoneySum } from "../money/money-total.ts";
import { withInnerGroups } from "../nested-groups.ts";
import type { Access, AccessBook } from "../users/access.ts";
import type { MinerRegistry } from "./miner-registry.ts";
import { type PlaceSum, PlaceSums } from "./place-sums.ts";
import type { MinerFigures, MinerWork, ProfitLack } from "./present-miner.ts";

/** The farm's figures. A miner that cannot be reached or is in repair counts only in `total`. */
export interface Totals extends NoticeCounts {
  readonly running: number;
  readonly gpus: number;
  readonly pgas: number;
  readonly asics: number;
  /** Sum over the miners whose algorithm is measured in H/s. */
  readonly hashrate: number;
  readonly revenue: number;
  readonly coins: readonly Share[];
  readonly algorithms: readonly Share[];
  readonly money: MoneySum;
  /** By id: the miners directly in each group. */
  readonly groups: ReadonlyMap<number, MoneySum>;
  /** Those in repair that are directly in each group, by id. */
  readonly groupRepairs: ReadonlyMap<number, number>;
  /** By id: the miners directly in each place. */
  readonly places: ReadonlyMap<number, PlaceSum>;
}

/** Counts for the notices in a reply's metadata. */
export interface NoticeCounts {
  readonly total: number;
  readonly demos: number;
  /** Miners that the sums leave out. */
  readonly inRepair: number;
  /** Miners with unknown profit, by reason. */
  readonly lacks: Readonly<Record<ProfitLack, number>>;
  /** Whether the revenue of any miner is known: a farm without coin prices needs no warning per miner. */
  readonly earns: boolean;
  /** Miners whose login is missing or wrong, and the last of their messages. */
  readonly logins: number;
  readonly login: string | null;
}

export const noNotices: NoticeCounts = {
  total: 0,
  demos: 0,
  inRepair: 0,
  lacks: { revenue: 0, power: 0, price: 0 },
  earns: false,
  logins: 0,
  login: null,
};

/** Makes the metadata of replies. */
export const metaDataWith =
  (format: Format, now: () => number) =>
  (counts: NoticeCounts): MetaData => ({
    updated: format.localTime(now()),
    edition: "Rigbridge",
    version,
    ...noticesOf(counts),
  });

function noticesOf({ total, demos, inRepair, lacks, earns, logins, login }: NoticeCounts) {
  const infoList: string[] = [];
  const warningList: string[] = [];
  if (demos > 0) {
    const until = demos === total ? "; they are removed when the first real miner is added" : "";
    infoList.push(`Includes ${counted(demos, "demo miner")}, virtual rigs to try things out${until}`);
  }
  if (inRepair > 0) infoList.push(`The sums leave out ${counted(inRepair, "miner")} in repair`);
  const unknownOf = (count: number, why: string) => {
    if (count > 0) warningList.push(`The profit of ${counted(count, "miner")} is unknown: ${why}`);
  };
  unknownOf(
    lacks.power,
    "electricity has a price, but their power is unknown. Declare a metering plug (supply) or powerNameplate, " +
      "or set poll.nameplates",
  );
  unknownOf(lacks.price, "the price of electricity is unknown now; see GET /api/prices");
  unknownOf(
    earns ? lacks.revenue : 0,
    "what they earn is not known. Define their pool with its coin; GET /api/market shows what coins are worth",
  );
  if (login !== null)
    warningList.push(
      logins === total && total === 1
        ? login
        : `The login of ${counted(logins, "miner")} is missing or wrong; see their notes`,
    );
  return { infoList, warningList };
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

interface Share {
  readonly name: string;
  readonly unit: HashUnit;
  active: number;
  hashrate: number;
  hashrateAverage: number;
  revenue: number;
  readonly money: MoneySum;
}

/** Totals per access, renewed after changes; for large fleets at most a few times a second. */
export function cachedTotals(registry: MinerRegistry): (access: Access) => Totals {
  const cache = new WeakMap<Access, { readonly totals: Totals; readonly version: number; readonly madeAt: number }>();
  return (access) => {
    const kept = cache.get(access);
    const isOld = kept === undefined || performance.now() - kept.madeAt > registry.fleet.size / 100;
    if (kept !== undefined && (kept.version === registry.display.jsonCache.version || !isOld)) return kept.totals;
    const ids = access.all ? undefined : Array.from(registry.entriesFor(access), ({ facts }) => facts.id);
    const totals = totalsOf(registry.display.jsonCache.figures(ids));
    cache.set(access, { totals, version: registry.display.jsonCache.version, madeAt: performance.now() });
    return totals;
  };
}

export function totalsOf(figures: Iterable<MinerFigures>): Totals {
  const coins = new Map<string, Share>();
  const algorithms = new Map<string, Share>();
  const sum = { total: 0, running: 0, gpus: 0, pgas: 0, asics: 0, hashrate: 0, revenue: 0, demos: 0, inRepair: 0 };
  const lacks = { revenue: 0, power: 0, price: 0 };
  const money = new MoneySum();
  const groups = new Map<number, MoneySum>();
  const groupRepairs = new Map<number, number>();
  const places = new PlaceSums();
  let logins = 0;
  let login: string | null = null;
  for (const each of figures) {
    sum.total += 1;
    sum.demos += each.demo ? 1 : 0;
    if (each.placeId !== null) places.add(each.placeId, each);
    if (each.inRepair) {
      sum.inRepair += 1;
      groupRepairs.set(each.groupId, (groupRepairs.get(each.groupId) ?? 0) + 1);
      continue;
    }
    sum.running += each.running ? 1 : 0;
    sum.gpus += each.gpus;
    sum.pgas += each.pgas;
    sum.asics += each.asics;
    sum.hashrate += each.unit === "H/s" ? each.hashrate : 0;
    sum.revenue += each.revenue;
    if (each.lacks !== null) lacks[each.lacks] += 1;
    const { earnings, isEstimated } = each;
    const summed = { earnings, isEstimated, isExpected: isSummed(each.status) };
    money.add(summed);
    sumOf(groups, each.groupId).add(summed);
    logins += each.login === null ? 0 : 1;
    login = each.login ?? login;
    if (!each.running) continue;
    for (const work of each.dual ?? [each]) {
      addShare(coins, work.coin, work, isEstimated);
      addShare(algorithms, work.algorithm, work, isEstimated);
    }
  }
  const shares = { coins: [...coins.values()], algorithms: [...algorithms.values()] };
  return {
    ...sum,
    lacks,
    earns: money.isEarning,
    logins,
    login,
    ...shares,
    money,
    groups,
    groupRepairs,
    places: places.byId,
  };
}

function sumOf(sums: Map<number, MoneySum>, groupId: number): MoneySum {
  const known = sums.get(groupId) ?? new MoneySum();
  sums.set(groupId, known);
  return known;
}

function addShare(shares: Map<string, Share>, name: string, each: MinerWork, isEstimated: boolean): void {
  if (name === "") return;
  let share = shares.get(name);
  if (share === undefined) {
    share = { name, unit: each.unit, active: 0, hashrate: 0, hashrateAverage: 0, revenue: 0, money: new MoneySum() };
    shares.set(name, share);
  }
  share.active += 1;
  share.hashrate += each.hashrate;
  share.hashrateAverage += each.hashrateAverage;
  share.revenue += each.revenue;
  share.money.add({ earnings: each.earnings, isExpected: true, isEstimated });
}

type ByGroup = Pick<Summary, "energy" | "groupList">;

/** The energy of all miners, and energy and money of each visible group. `energyOf`: Wh of a group. */
function byGroup(
  { all, seesGroup }: Access,
  groups: Store["groups"],
  energyOf: (groupId: number) => number | null,
  totals: Totals,
  currency: string,
): ByGroup {
  const whole = (id: number): number | null => {
    const energy = energyOf(id);
    return energy === null ? null : Math.floor(energy);
  };
  const seen = enabled(groups).filter(({ id }) => seesGroup(id));
  const ids = new Set(seen.map(({ id }) => id));
  // The energy of a group includes that of its subgroups.
  const outermost = seen.filter(({ parentId }) => !ids.has(parentId)).map(({ id }) => id);
  const known = [...(seesGroup(0) ? [0] : []), ...outermost].map(whole).filter((energy) => energy !== null);
  const visible = known.length === 0 ? null : known.reduce((sum, energy) => sum + energy);
  return {
    energy: all ? whole(allMiners) : visible,
    groupList: seen.map(({ id, name }) => {
      const money = new MoneySum();
      let inRepair = 0;
      for (const inner of withInnerGroups([id], seen)) {
        const sum = totals.groups.get(inner);
        if (sum !== undefined) money.addSum(sum);
        inRepair += totals.groupRepairs.get(inner) ?? 0;
      }
      return { id, name, energy: whole(id), money: money.total(currency), inRepair };
    }),
  };
}

function presentSummary(totals: Totals, groups: ByGroup, format: Format, prices: Prices, metaData: MetaData): Summary {
  const shown = ({ name, unit, active, hashrate, hashrateAverage, revenue, money }: Share) => ({
    name,
    activeCount: active,
    hashRate5s: format.hashrate(hashrate, unit),
    hashRateAvg: format.hashrate(hashrateAverage, unit),
    revenue: format.money(revenue),
    hashrateValue: hashrate,
    avgHashrateValue: hashrateAverage,
    unit,
    money: money.total(prices.currency),
  });
  return {
    runningCount: totals.running,
    totalCount: totals.total,
    gpuCount: totals.gpus,
    pgaCount: totals.pgas,
    asicCount: totals.asics,
    exchangeRate: format.money(prices.btc ?? 0),
    revenuePerDay: format.money(totals.revenue),
    revenuePerMonth: format.money(totals.revenue * daysPerMonth),
    coinList: totals.coins.map(shown),
    algorithmList: totals.algorithms.map(shown),
    ...groups,
    money: totals.money.total(prices.currency),
    inRepair: totals.inRepair,
    metaData,
  };
}

export interface SummaryContext {
  readonly accessBook: AccessBook;
  readonly totals: (access: Access) => Totals;
  readonly store: Pick<Store, "groups">;
  readonly records: { energyOfGroup(groupId: number): number | null };
  readonly format: Format;
  /** The prices of the farm as a whole. */
  readonly generalPrices: () => Prices;
  readonly metaData: (counts: NoticeCounts) => MetaData;
  readonly now: () => number;
}

/** The summary for a caller, as a value and as bytes; the bytes are rebuilt for new totals or a new second. */
export function summaries({
  accessBook,
  totals,
  store,
  records,
  format,
  generalPrices,
  metaData,
  now,
}: SummaryContext) {
  const made = new WeakMap<Totals, { readonly second: number; readonly encoded: Encoded }>();
  const present = (access: Access, sums: Totals): Summary => {
    const prices = generalPrices();
    const groups = byGroup(access, store.groups, records.energyOfGroup, sums, prices.currency);
    return presentSummary(sums, groups, format, prices, metaData(sums));
  };
  return {
    of: (caller: Caller): Summary => {
      const access = accessBook.of(caller);
      return present(access, totals(access));
    },
    encoded: (caller: Caller): Encoded => {
      const access = accessBook.of(caller);
      const sums = totals(access);
      const second = Math.floor(now() / 1000);
      const last = made.get(sums);
      if (last?.second === second) return last.encoded;
      const encoded = encode(present(access, sums));
      made.set(sums, { second, encoded });
      return encoded;
    },
  };
}

function encode({ metaData, ...figures }: Summary): Encoded {
  const json = JSON.stringify(figures);
  const bytes = Buffer.from(`${json.slice(0, -1)},"metaData":${JSON.stringify(metaData)}}`);
  return { etag: hash("sha1", json, "base64url"), length: bytes.length, chunks: [bytes] };
}
