import type { SQLOutputValue, StatementSync } from "node:sqlite";
import { deferredDelete } from "./deferred-delete.ts";
import { isBusy } from "./failures.ts";
import {
  collecting,
  eachPacked,
  mean,
  merge,
  pack,
  type Sample,
  sampleSize,
  type TakeSample,
  takeSample,
} from "./packed-samples.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

/** Samples of 20 s are stored together, by miner (migrations.ts says why). */
const span = 20_000;
const hour = 3_600_000;
const day = 86_400_000;

/** An hour is packed this long after its end, for late samples. */
const graceMs = 120_000;
/** Miners per step of packing or folding: about 1,500 samples, some 10 ms. */
const minersPerStep = 4;
/** Samples per transaction: some 10 ms. */
const appendBatch = 5_000;
/** Samples kept in memory while the store cannot be written; the oldest are dropped. */
const unwrittenLimit = 100_000;

/** History: every sample of the last days, and hourly means before that. */
export interface Samples {
  /**
   * Synchronous. Samples that cannot be written are kept, up to a limit, for the next call; throws store.full unless
   * another program has the file locked for the moment.
   */
  append(rows: readonly Sample[]): void;
  /** Moves finished hours into packed rows, one step at a time; true while there is more to do. */
  pack(now: number): boolean;
  /**
   * One step of turning days older than `raw` days into hourly means, and of dropping means older than `hourly` days;
   * the newest `hourly` days on record are always kept.
   */
  prune(now: number, keep: { readonly raw: number; readonly hourly: number }): boolean;
  /** One miner's samples with `from` <= time < `to`, oldest first. */
  read(minerId: number, from: number, to: number): Sample[];
  /** The same as numbers, in no order. */
  each(minerId: number, from: number, to: number, take: TakeSample): void;
  /** An upper estimate of what `read` returns, without reading; unwritten samples are not counted. */
  count(minerId: number, from: number, to: number): number;
  forget(minerId: number): void;
  /** Deletes what could not be deleted before, and writes unwritten samples. Throws store.full. */
  flush(): void;
}

/**
 * The existing values of a table's first key column from $from to $to, by leaps through the index; the table is then
 * read by (value, miner), so it is never scanned.
 */
const leaps = (table: string, column: string): string => `(
  with recursive leap(value) as (
    select min(${column}) from ${table} where ${column} >= $from
    union all
    select (select min(${column}) from ${table} where ${column} > leap.value) from leap where leap.value < $to
  )
  select value from leap where value <= $to)`;

/** Named parameters, because Node 22.13 does not bind ?1 by position. */
const keys = (unit: number, miner: number, from: number, to: number) => ({
  from: Math.floor(from / unit),
  to: Math.floor(to / unit),
  miner,
});

/** Computed from the length, without reading the bytes. */
const packedSamples = `sum((length(samples) - 1) / ${sampleSize})`;

const miners = (table: string, column: string): string =>
  `select distinct miner_id from ${table} where ${column} = ? order by miner_id limit ${minersPerStep}`;

export const openSamples = (sqlite: SqliteConnection): Samples => {
  const prepare = (sql: string): StatementSync => sqlite.prepare(sql);
  const spans = `span in ${leaps("sample", "span")} and miner_id = $miner`;
  const hours = `hour in ${leaps("sample_hour", "hour")} and miner_id = $miner`;
  const days = `day in ${leaps("sample_day", "day")} and miner_id = $miner`;
  const statements = {
    append: prepare("insert or replace into sample values (?, ?, ?, ?, ?, ?, ?)"),
    recent: prepare(`select * from sample where ${spans} order by span, time`),
    countRecent: prepare(`select count(*) as samples from sample where ${spans}`),
    dropRecent: prepare(`delete from sample where ${spans}`),
    firstSpan: prepare("select min(span) as first from sample"),
    minersOfSpan: prepare(miners("sample", "span")),
    hours: prepare(`select hour as at, samples from sample_hour where ${hours} order by hour`),
    hourSizes: prepare(`select ${packedSamples} as samples from sample_hour where ${hours}`),
    saveHour: prepare("insert or replace into sample_hour values (?, ?, ?)"),
    dropHours: prepare(`delete from sample_hour where ${hours}`),
    firstHour: prepare("select min(hour) as first from sample_hour"),
    minersOfHour: prepare(miners("sample_hour", "hour")),
    days: prepare(`select day as at, samples from sample_day where ${days} order by day`),
    daySizes: prepare(`select ${packedSamples} as samples from sample_day where ${days}`),
    saveDay: prepare("insert or replace into sample_day values (?, ?, ?)"),
    dropDays: prepare(`delete from sample_day where ${days}`),
    firstDay: prepare("select min(day) as first from sample_day"),
    // By leaps, from the newest day back.
    daysOnRecord: prepare(
      `with recursive leap(value) as (
        select max(day) from sample_day
        union all
        select (select max(day) from sample_day where day < leap.value) from leap where leap.value is not null limit ?
      )
      select min(value) as first from leap`,
    ),
    dropDay: prepare(
      `delete from sample_day where day = $day and miner_id in
        (select miner_id from sample_day where day = $day order by miner_id limit 500)`,
    ),
  };

  let unwritten: readonly Sample[] = [];

  const recent = (minerId: number, from: number, to: number): Sample[] =>
    statements.recent.all(keys(span, minerId, from, to)).map(sample);

  const takePacked = (rows: StatementSync, unit: number, key: ReturnType<typeof keys>, take: TakeSample): void => {
    for (const row of rows.iterate(key))
      if (row.samples instanceof Uint8Array) eachPacked(row.samples, integer(row.at) * unit, take);
  };

  const packed = (rows: StatementSync, unit: number, minerId: number, from: number, to: number): Sample[] => {
    const samples: Sample[] = [];
    takePacked(rows, unit, keys(unit, minerId, from, to), collecting(samples, minerId));
    return samples;
  };

  const each = (minerId: number, from: number, to: number, take: TakeSample): void => {
    const inside: TakeSample = (time, hashrate, power, temperature, energy) => {
      if (time >= from && time < to) take(time, hashrate, power, temperature, energy);
    };
    sqlite.read(() => {
      takePacked(statements.days, day, keys(day, minerId, from, to), inside);
      takePacked(statements.hours, hour, keys(hour, minerId, from, to), inside);
      for (const row of [...recent(minerId, from, to), ...unwritten.filter((one) => one.minerId === minerId)])
        takeSample(row, inside);
    });
  };

  const packHour = (minerId: number, index: number): void => {
    const [from, to] = [index * hour, (index + 1) * hour - 1];
    const whole = merge(packed(statements.hours, hour, minerId, from, to), recent(minerId, from, to));
    statements.saveHour.run(index, minerId, pack(whole, from));
    statements.dropRecent.run(keys(span, minerId, from, to));
  };

  const foldDay = (minerId: number, index: number): void => {
    const [from, to] = [index * day, (index + 1) * day - 1];
    const byHour = Map.groupBy(packed(statements.hours, hour, minerId, from, to), ({ time }) =>
      Math.floor(time / hour),
    );
    const means = [...byHour].map(([at, samples]) => mean(samples, minerId, at * hour));
    const whole = merge(packed(statements.days, day, minerId, from, to), means);
    statements.saveDay.run(index, minerId, pack(whole, from));
    statements.dropHours.run(keys(hour, minerId, from, to));
  };

  /**
   * One step of dropping the first day, if it is before `before` and at least `kept` newer days are on record: a clock that
   * jumps ahead, or was once wrong, costs no history.
   */
  const dropDay = (before: number, kept: number): boolean => {
    const first = sqlite.read(() => statements.firstDay.get()?.first);
    if (typeof first !== "number" || first >= before) return false;
    const oldestKept = sqlite.read(() => statements.daysOnRecord.get(Math.ceil(kept))?.first);
    if (typeof oldestKept !== "number" || first >= oldestKept) return false;
    sqlite.write(() => statements.dropDay.run({ day: first }));
    return true;
  };

  const minersOf = (statement: StatementSync, first: number): number[] =>
    statement.all(first).map((row) => integer(row.miner_id));

  const insert = (rows: readonly Sample[]): void =>
    sqlite.write(() => {
      for (const { minerId, time, hashrate, power, temperature, energy } of rows.toSorted(
        (a, b) => a.minerId - b.minerId,
      ))
        statements.append.run(Math.floor(time / span), minerId, time, hashrate, power, temperature, energy);
    });

  const removal = deferredDelete(sqlite, (_run, minerId) => {
    for (const drop of [statements.dropRecent, statements.dropHours, statements.dropDays])
      drop.run(keys(1, minerId, 0, Number.MAX_SAFE_INTEGER));
  });

  const append = (rows: readonly Sample[]): void => {
    const batch = unwritten.length === 0 ? rows : [...unwritten, ...rows];
    let written = 0;
    try {
      for (; written < batch.length; written += appendBatch) insert(batch.slice(written, written + appendBatch));
    } catch (error) {
      if (!(error instanceof Error && isBusy(error.cause))) throw error;
    } finally {
      unwritten = batch.slice(Math.max(written, batch.length - unwrittenLimit));
    }
  };

  return {
    append,

    pack: (now) => {
      const first = sqlite.read(() => statements.firstSpan.get()?.first);
      if (typeof first !== "number") return false;
      const index = Math.floor((first * span) / hour);
      if ((index + 1) * hour + graceMs > now) return false;
      sqlite.write(() => {
        for (const minerId of minersOf(statements.minersOfSpan, first)) packHour(minerId, index);
      });
      return true;
    },

    prune: (now, { raw, hourly }) => {
      const first = sqlite.read(() => statements.firstHour.get()?.first);
      const index = typeof first === "number" ? Math.floor((first * hour) / day) : Number.POSITIVE_INFINITY;
      const fold = typeof first === "number" && (index + 1) * day <= now - raw * day;
      if (fold)
        sqlite.write(() => {
          for (const minerId of minersOf(statements.minersOfHour, first)) foldDay(minerId, index);
        });
      return dropDay(Math.floor((now - hourly * day) / day), hourly) || fold;
    },

    read: (minerId, from, to) => {
      const samples: Sample[] = [];
      each(minerId, from, to, collecting(samples, minerId));
      // A sample may arrive after its hour was packed.
      return samples.sort((a, b) => a.time - b.time);
    },

    each,

    count: (minerId, from, to) =>
      sqlite.read(
        () =>
          integer(statements.daySizes.get(keys(day, minerId, from, to))?.samples) +
          integer(statements.hourSizes.get(keys(hour, minerId, from, to))?.samples) +
          integer(statements.countRecent.get(keys(span, minerId, from, to))?.samples),
      ),

    forget: (minerId) => {
      unwritten = unwritten.filter((each) => each.minerId !== minerId);
      removal.forget(minerId);
    },

    flush: () => {
      removal.flush();
      append([]);
    },
  };
};

const integer = (value: SQLOutputValue | undefined): number => (typeof value === "number" ? value : 0);
const figure = (value: SQLOutputValue | undefined): number | null => (typeof value === "number" ? value : null);

const sample = (row: Record<string, SQLOutputValue>): Sample => ({
  minerId: integer(row.miner_id),
  time: integer(row.time),
  hashrate: figure(row.hashrate),
  power: figure(row.power),
  temperature: figure(row.temperature),
  energy: figure(row.energy),
});
