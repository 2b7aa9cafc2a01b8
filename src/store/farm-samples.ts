import type { SQLOutputValue } from "node:sqlite";
import { deferredDelete } from "./deferred-delete.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

/** Sums over the miners of a group at a moment; null where nothing of it was known. */
export interface FarmSample {
  /** As in `GroupEnergies`; `allMiners` = all. */
  readonly groupId: number;
  /** Epoch ms. */
  readonly time: number;
  /** W. */
  readonly power: number | null;
  readonly mining: number;
  readonly total: number;
  /** Amounts per day; null if they were in another currency than the one asked for. */
  readonly revenue: number | null;
  readonly cost: number | null;
  readonly profit: number | null;
}

/** What the miners of a group hashed with one algorithm. */
export interface FarmHashrate {
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

/** s between two samples, and between their means after `raw` days. */
export const farmSpans = { raw: 60, mean: 3600 } as const;

/** The history of the farm and of each group: every sample of the last days, and hourly means before that. */
export interface FarmSamples {
  /** In one transaction. Throws store.full. */
  append(moment: FarmMoment): void;
  /** With `from` <= time < `to`, oldest first; `span`: s that a sample stands for. */
  read(groupId: number, from: number, to: number, currency: string): (FarmSample & { readonly span: number })[];
  readHashrates(groupId: number, from: number, to: number): FarmHashrate[];
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
  // Raw samples stand for an hour as long as there are any, so an hour is in only one of the two.
  const order = "order by time";
  const statements = {
    append: sqlite.prepare(`insert or replace into farm_sample values (?, ${raw}, ?, ?, ?, ?, ?, ?, ?, ?)`),
    appendHashrate: sqlite.prepare(`insert or replace into farm_hashrate values (?, ${raw}, ?, ?, ?, ?)`),
    read: sqlite.prepare(`select * from farm_sample where ${inRange} and span in (${raw}, ${mean}) ${order}`),
    readHashrates: sqlite.prepare(
      `select * from farm_hashrate where ${inRange} and span in (${raw}, ${mean}) ${order}`,
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
    // What was not mined for a part of the hour counts as 0 there.
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
    read: (group, from, to, currency) =>
      sqlite.read(() => statements.read.all({ group, from, to }).map((row) => sample(row, currency))),
    readHashrates: (group, from, to) =>
      sqlite.read(() => statements.readHashrates.all({ group, from, to }).map(hashrateRow)),
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

function sample(row: Record<string, SQLOutputValue>, currency: string): FarmSample & { readonly span: number } {
  const amount = (value: SQLOutputValue | undefined) => (row.currency === currency ? figure(value) : null);
  return {
    groupId: number(row.group_id),
    span: number(row.span),
    time: number(row.time),
    power: figure(row.power),
    mining: number(row.mining),
    total: number(row.total),
    revenue: amount(row.revenue),
    cost: amount(row.cost),
    profit: amount(row.profit),
  };
}

const hashrateRow = (row: Record<string, SQLOutputValue>): FarmHashrate => ({
  groupId: number(row.group_id),
  time: number(row.time),
  algorithm: String(row.algorithm),
  hashrate: number(row.hashrate),
  miners: number(row.miners),
});
