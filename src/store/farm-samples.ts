import type { SQLOutputValue } from "node:sqlite";
import { deferredDelete } from "./deferred-delete.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

/** Sums over the miners of a group at a moment; null if no value is known. */
export interface FarmSample {
  /** As in `GroupEnergies`; `allMiners` = all. */
  readonly groupId: number;
  /** Epoch ms. */
  readonly time: number;
  /** W. */
  readonly power: number | null;
  readonly mining: number;
  readonly total: number;
  /** Amounts per day. */
  readonly revenue: number | null;
  readonly cost: number | null;
  readonly profit: number | null;
}

/** The hash rate of a group's miners with one algorithm. */
interface FarmHashrate {
  readonly groupId: number;
  readonly time: number;
  /** Id. */
  readonly algorithm: string;
  readonly hashrate: number;
  /** Miners that mined it. */
  readonly miners: number;
}

export interface FarmMoment {
  readonly currency: string;
  readonly samples: readonly FarmSample[];
  readonly hashrates: readonly FarmHashrate[];
}

/** Disjoint groups, and epoch ms with `from` <= time < `to`. */
interface FarmRange {
  readonly groups: readonly number[];
  readonly from: number;
  readonly to: number;
}

interface FarmQuery extends FarmRange {
  /** ms; 0 = every sample. */
  readonly step: number;
  /** Amounts in other currencies are unknown. */
  readonly currency: string;
  /** Of the hash rate; null if none is known. */
  readonly algorithm: string | null;
}

/** In the order of a history point. */
export const farmFigures = ["hashrate", "power", "mining", "total", "revenue", "cost", "profit"] as const;

/** Means of all groups together over a step; null if no value is known. */
export interface FarmStep extends Readonly<Record<(typeof farmFigures)[number], number | null>> {
  /** Epoch ms of its first sample, the end of its last one, and when the next one is missing. */
  readonly time: number;
  readonly ends: number;
  readonly missing: number;
}

/** s between two samples, and between their means after `raw` days. */
export const farmSpans = { raw: 60, mean: 3600 } as const;

/** The history of the farm and of each group: every sample of the last days, and hourly means before that. */
export interface FarmSamples {
  /** In one transaction. Throws store.full. */
  append(moment: FarmMoment): void;
  /** Oldest first; no step without a sample. */
  read(query: FarmQuery): FarmStep[];
  /** The number of miners of each algorithm, summed over all samples; the most, then the highest hash rate, first. */
  algorithms(range: FarmRange): ReadonlyMap<string, number>;
  /**
   * Turns the oldest hour of each group into means if it is older than `raw` days, and drops means older than `hourly`
   * days; the newest `hourly` days on record are always kept.
   */
  prune(now: number, keep: { readonly raw: number; readonly hourly: number }): void;
  forget(groupId: number): void;
  /** Deletes what could not be deleted before. Throws store.full. */
  flush(): void;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export const openFarmSamples = (sqlite: SqliteConnection): FarmSamples => {
  const { raw, mean } = farmSpans;
  const inRange = "group_id = $group and time >= $from and time < $to";
  // Raw samples represent an hour as long as they exist, so an hour is in only one of the two.
  const asked =
    "group_id in (select value from json_each($groups)) " +
    `and span in (${raw}, ${mean}) and time >= $from and time < $to`;
  const amount = (name: string) => `sum(iif(currency = $currency, ${name}, null)) as ${name}`;
  const statements = {
    append: sqlite.prepare(`insert or replace into farm_sample values (?, ${raw}, ?, ?, ?, ?, ?, ?, ?, ?)`),
    appendHashrate: sqlite.prepare(`insert or replace into farm_hashrate values (?, ${raw}, ?, ?, ?, ?)`),
    // A farm that mines something else, or nothing, has a hash rate of 0; one that mines something unknown has none.
    read: sqlite.prepare(
      `with moment as (
         select time, max(span) * 1000 as ms, sum(power) as power, sum(mining) as mining, sum(total) as total,
           ${["revenue", "cost", "profit"].map(amount).join(", ")}
         from farm_sample where ${asked} group by time),
       rate as (
         select time, sum(hashrate) as hashrate from farm_hashrate where ${asked} and algorithm = $algorithm group by time)
       select min(time) as time, max(time + ms) as ends, max(time + 2.5 * ms) as missing,
         avg(coalesce(hashrate, iif($algorithm is null and mining > 0, null, 0))) as hashrate,
         avg(power) as power, avg(mining) as mining, avg(total) as total,
         avg(revenue) as revenue, avg(cost) as cost, avg(profit) as profit
       from moment left join rate using (time)
       group by iif($step = 0, time, cast(time / $step as integer)) order by 1`,
    ),
    algorithms: sqlite.prepare(
      `select algorithm, sum(miners) as miners from farm_hashrate where ${asked}
       group by algorithm order by miners desc, sum(hashrate) desc`,
    ),
    first: sqlite.prepare("select min(time) as first from farm_sample where group_id = $group and span = $span"),
    fold: sqlite.prepare(
      `insert or replace into farm_sample
       select group_id, ${mean}, $from, avg(power), avg(mining), avg(total), avg(revenue), avg(cost), avg(profit),
         max(currency)
       from farm_sample where ${inRange} and span = ${raw}
         and currency = (select max(currency) from farm_sample where ${inRange} and span = ${raw})
       group by group_id`,
    ),
    // An algorithm that was not mined for a part of the hour counts as 0 there.
    foldHashrates: sqlite.prepare(
      `insert or replace into farm_hashrate
       select group_id, ${mean}, $from, algorithm, sum(hashrate) / $count, sum(miners) / $count
       from farm_hashrate where ${inRange} and span = ${raw} group by group_id, algorithm`,
    ),
    count: sqlite.prepare(`select count(*) as samples from farm_sample where ${inRange} and span = ${raw}`),
    drop: sqlite.prepare(`delete from farm_sample where ${inRange} and span = $span`),
    dropHashrates: sqlite.prepare(`delete from farm_hashrate where ${inRange} and span = $span`),
    oldestKept: sqlite.prepare(
      `select time from farm_sample where group_id = $group and span = ${mean} order by time desc limit 1 offset $kept`,
    ),
    groups: sqlite.prepare("select distinct group_id from farm_sample"),
    forget: sqlite.prepare("delete from farm_sample where group_id = ?"),
    forgetHashrates: sqlite.prepare("delete from farm_hashrate where group_id = ?"),
  };
  const groups = new Set(sqlite.read(() => statements.groups.all().map((row) => number(row.group_id))));

  const firstOf = (group: number, span: number): number | null =>
    figure(sqlite.read(() => statements.first.get({ group, span })?.first));

  const foldHour = (group: number, from: number): void => {
    const range = { group, from, to: from + hourMs };
    const count = number(statements.count.get(range)?.samples);
    statements.fold.run(range);
    statements.foldHashrates.run({ ...range, count });
    statements.drop.run({ ...range, span: raw });
    statements.dropHashrates.run({ ...range, span: raw });
  };

  /** A clock that jumps ahead, or was once wrong, costs no history. */
  const dropMeans = (group: number, before: number, hours: number): void => {
    const first = firstOf(group, mean);
    if (first === null || first >= before) return;
    const kept = figure(sqlite.read(() => statements.oldestKept.get({ group, kept: Math.max(0, hours - 1) })?.time));
    if (kept === null) return;
    const range = { group, from: 0, to: Math.min(before, kept), span: mean };
    sqlite.write(() => {
      statements.drop.run(range);
      statements.dropHashrates.run(range);
    });
  };

  const removal = deferredDelete(sqlite, (_run, groupId) => {
    statements.forget.run(groupId);
    statements.forgetHashrates.run(groupId);
  });

  return {
    append: ({ currency, samples, hashrates }) => {
      sqlite.write(() => {
        for (const { groupId, time, power, mining, total, revenue, cost, profit } of samples)
          statements.append.run(groupId, time, power, mining, total, revenue, cost, profit, currency);
        for (const { groupId, time, algorithm, hashrate, miners } of hashrates)
          statements.appendHashrate.run(groupId, time, algorithm, hashrate, miners);
      });
      for (const { groupId } of samples) groups.add(groupId);
    },
    read: ({ groups: ids, ...query }) =>
      sqlite.read(() => statements.read.all({ ...query, groups: JSON.stringify(ids) }).map(stepOf)),
    algorithms: ({ groups: ids, from, to }) => {
      const rows = sqlite.read(() => statements.algorithms.all({ groups: JSON.stringify(ids), from, to }));
      return new Map(rows.map(({ algorithm, miners }) => [String(algorithm), number(miners)]));
    },
    prune: (now, keep) => {
      for (const group of groups) {
        const first = firstOf(group, raw);
        const hour = first === null ? Number.POSITIVE_INFINITY : Math.floor(first / hourMs) * hourMs;
        if (hour + hourMs <= now - keep.raw * dayMs) sqlite.write(() => foldHour(group, hour));
        dropMeans(group, now - keep.hourly * dayMs, Math.ceil(keep.hourly * 24));
      }
    },
    forget: (groupId) => {
      groups.delete(groupId);
      removal.forget(groupId);
    },
    flush: () => removal.flush(),
  };
};

const number = (value: SQLOutputValue | undefined): number => (typeof value === "number" ? value : 0);
const figure = (value: SQLOutputValue | undefined): number | null => (typeof value === "number" ? value : null);

const stepOf = (row: Record<string, SQLOutputValue>): FarmStep => ({
  time: number(row.time),
  ends: number(row.ends),
  missing: number(row.missing),
  hashrate: figure(row.hashrate),
  power: figure(row.power),
  mining: figure(row.mining),
  total: figure(row.total),
  revenue: figure(row.revenue),
  cost: figure(row.cost),
  profit: figure(row.profit),
});
