import { type Database, plain, type Row, type SqlValue, type Statement } from "./database.ts";
import { deferredDelete } from "./deferred-delete.ts";
import { upsert } from "./upsert.ts";

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
  append(moment: FarmMoment): Promise<void>;
  /** Oldest first; no step without a sample. */
  read(query: FarmQuery): Promise<FarmStep[]>;
  /** The number of miners of each algorithm, summed over all samples; the most, then the highest hash rate, first. */
  algorithms(range: FarmRange): Promise<ReadonlyMap<string, number>>;
  /**
   * Turns the oldest hour of each group into means if it is older than `raw` days, and drops means older than `hourly`
   * days; the newest `hourly` days on record are always kept.
   */
  prune(now: number, keep: { readonly raw: number; readonly hourly: number }): Promise<void>;
  forget(groupId: number): Promise<void>;
  /** Deletes what could not be deleted before. Throws store.full. */
  flush(): Promise<void>;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const { raw, mean } = farmSpans;
const sampleColumns = {
  group_id: "integer",
  span: "integer",
  time: "integer",
  power: "real",
  mining: "real",
  total: "real",
  revenue: "real",
  cost: "real",
  profit: "real",
  currency: "text",
} as const;
const hashrateColumns = {
  group_id: "integer",
  span: "integer",
  time: "integer",
  algorithm: "text",
  hashrate: "real",
  miners: "real",
} as const;
export const farmSampleRows = upsert("farm_sample", sampleColumns, ["group_id", "span", "time"]);
export const farmHashrateRows = upsert("farm_hashrate", hashrateColumns, ["group_id", "span", "time", "algorithm"]);
const names = (columns: object): string => Object.keys(columns).join(", ");

/** Values: group, from, to. */
const inRange = "group_id = ? and time >= ? and time < ?";
const texts = {
  first: "select min(time) as first from farm_sample where group_id = ? and span = ?",
  fold: `insert into farm_sample (${names(sampleColumns)})
    select group_id, ${mean}, ?, avg(power), avg(mining), avg(total), avg(revenue), avg(cost), avg(profit), max(currency)
    from farm_sample where ${inRange} and span = ${raw}
      and currency = (select max(currency) from farm_sample where ${inRange} and span = ${raw})
    group by group_id ${farmSampleRows([]).upsert.onConflict}`,
  // An algorithm that was not mined for a part of the hour counts as 0 there.
  foldHashrates: `insert into farm_hashrate (${names(hashrateColumns)})
    select group_id, ${mean}, ?, algorithm, sum(hashrate) / ?, sum(miners) / ?
    from farm_hashrate where ${inRange} and span = ${raw} group by group_id, algorithm ${farmHashrateRows([]).upsert.onConflict}`,
  count: `select count(*) as samples from farm_sample where ${inRange} and span = ${raw}`,
  drop: `delete from farm_sample where ${inRange} and span = ?`,
  dropHashrates: `delete from farm_hashrate where ${inRange} and span = ?`,
  oldestKept: `select time from farm_sample where group_id = ? and span = ${mean} order by time desc limit 1 offset ?`,
  groups: "select distinct group_id from farm_sample",
};

export const openFarmSamples = async (database: Database): Promise<FarmSamples> => {
  // Raw samples represent an hour as long as they exist, so an hour is in only one of the two.
  const asked = `group_id in ${database.dialect.oneOfList} and span in (${raw}, ${mean}) and time >= ? and time < ?`;
  const amount = (name: string) => `sum(case when currency = ? then ${name} end) as ${name}`;
  // A farm that mines something else, or nothing, has a hash rate of 0; one that mines something unknown has none.
  const read = `with moment as (
      select time, max(span) * 1000 as ms, sum(power) as power, sum(mining) as mining, sum(total) as total,
        ${["revenue", "cost", "profit"].map(amount).join(", ")}
      from farm_sample where ${asked} group by time),
    rate as (
      select time, sum(hashrate) as hashrate from farm_hashrate where ${asked} and algorithm = ? group by time)
    select min(time) as time, max(time + ms) as ends, max(time + 2.5 * ms) as missing,
      avg(coalesce(hashrate, case when ? = 1 and mining > 0 then null else 0 end)) as hashrate,
      avg(power) as power, avg(mining) as mining, avg(total) as total,
      avg(revenue) as revenue, avg(cost) as cost, avg(profit) as profit
    from moment left join rate using (time)
    group by case when ? = 0 then time else cast(time / nullif(?, 0) as bigint) end order by 1`;
  const algorithms = `select algorithm, sum(miners) as miners from farm_hashrate where ${asked}
    group by algorithm order by 2 desc, sum(hashrate) desc`;
  const groups = new Set((await database.rows(plain(texts.groups))).map((row) => number(row.group_id)));

  const firstOf = async (group: number, span: number): Promise<number | null> => {
    const [row] = await database.rows(plain(texts.first, group, span));
    return figure(row?.first);
  };

  const dropping = (group: number, from: number, to: number, span: number): Statement[] => [
    plain(texts.drop, group, from, to, span),
    plain(texts.dropHashrates, group, from, to, span),
  ];

  const foldHour = async (group: number, from: number): Promise<void> => {
    const range = [group, from, from + hourMs] as const;
    const [counted] = await database.rows(plain(texts.count, ...range));
    const count = number(counted?.samples);
    await database.write([
      plain(texts.fold, from, ...range, ...range),
      plain(texts.foldHashrates, from, count, count, ...range),
      ...dropping(...range, raw),
    ]);
  };

  /** A clock that jumps ahead, or was once wrong, costs no history. */
  const dropMeans = async (group: number, before: number, hours: number): Promise<void> => {
    const first = await firstOf(group, mean);
    if (first === null || first >= before) return;
    const [oldest] = await database.rows(plain(texts.oldestKept, group, Math.max(0, hours - 1)));
    const kept = figure(oldest?.time);
    if (kept !== null) await database.write(dropping(group, 0, Math.min(before, kept), mean));
  };

  const removal = deferredDelete(database, (groupId) => [
    database.tables.deleteFrom("farm_sample").where("group_id", "=", groupId),
    database.tables.deleteFrom("farm_hashrate").where("group_id", "=", groupId),
  ]);

  return {
    append: async ({ currency, samples, hashrates }) => {
      await database.write([
        farmSampleRows(
          samples.map(({ groupId, time, power, mining, total, revenue, cost, profit }) => {
            return [groupId, raw, time, power, mining, total, revenue, cost, profit, currency];
          }),
        ),
        farmHashrateRows(
          hashrates.map(({ groupId, time, algorithm, hashrate, miners }) => {
            return [groupId, raw, time, algorithm, hashrate, miners];
          }),
        ),
      ]);
      for (const { groupId } of samples) groups.add(groupId);
    },
    read: async ({ groups: ids, from, to, step, currency, algorithm }) => {
      const range = [JSON.stringify(ids), from, to] as const;
      const isUnknown = algorithm === null ? 1 : 0;
      const values = [currency, currency, currency, ...range, ...range, algorithm, isUnknown, step, step];
      return (await database.rows(plain(read, ...values))).map(stepOf);
    },
    algorithms: async ({ groups: ids, from, to }) => {
      const rows = await database.rows(plain(algorithms, JSON.stringify(ids), from, to));
      return new Map(rows.map(({ algorithm, miners }) => [String(algorithm), number(miners)]));
    },
    prune: async (now, keep) => {
      for (const group of [...groups]) {
        const first = await firstOf(group, raw);
        const hour = first === null ? Number.POSITIVE_INFINITY : Math.floor(first / hourMs) * hourMs;
        if (hour + hourMs <= now - keep.raw * dayMs) await foldHour(group, hour);
        await dropMeans(group, now - keep.hourly * dayMs, Math.ceil(keep.hourly * 24));
      }
    },
    forget: (groupId) => {
      groups.delete(groupId);
      return removal.forget(groupId);
    },
    flush: () => removal.flush(),
  };
};

const number = (value: SqlValue | undefined): number => (typeof value === "number" ? value : 0);
const figure = (value: SqlValue | undefined): number | null => (typeof value === "number" ? value : null);

const stepOf = (row: Row): FarmStep => ({
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
