import { Mutex } from "../async/index.ts";
import { type Database, plain, type Row, type SqlValue, type Statement } from "./database.ts";
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
import { upsert } from "./upsert.ts";

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
   * Samples that cannot be written are kept, up to a limit, for the next call; throws store.full unless another program has
   * the file locked for the moment.
   */
  append(rows: readonly Sample[]): Promise<void>;
  /** Moves finished hours into packed rows, one step at a time; true while there is more to do. */
  pack(now: number): Promise<boolean>;
  /**
   * One step of turning days older than `raw` days into hourly means, and of dropping means older than `hourly` days;
   * the newest `hourly` days on record are always kept.
   */
  prune(now: number, keep: { readonly raw: number; readonly hourly: number }): Promise<boolean>;
  /** One miner's samples with `from` <= time < `to`, oldest first. */
  read(minerId: number, from: number, to: number): Promise<Sample[]>;
  /** The same as numbers, in no order. */
  each(minerId: number, from: number, to: number, take: TakeSample): Promise<void>;
  /** An upper estimate of what `read` returns, without reading; unwritten samples are not counted. */
  count(minerId: number, from: number, to: number): Promise<number>;
  forget(minerId: number): Promise<void>;
  /** Deletes what could not be deleted before, and writes unwritten samples. Throws store.full. */
  flush(): Promise<void>;
}

/**
 * The existing values of a table's first key column from one value to another, by leaps through the index; the table is then
 * read by (value, miner), so it is never scanned. Values: from, to, to.
 */
const leaps = (table: string, column: string): string => `(
  with recursive leap(value) as (
    select min(${column}) from ${table} where ${column} >= ?
    union all
    select (select min(${column}) from ${table} where ${column} > leap.value) from leap where leap.value < ?
  )
  select value from leap where value <= ?)`;

/** A table of samples: its first key column counts units of this many ms. */
interface Table {
  readonly unit: number;
  readonly read: string;
  readonly size: string;
  readonly drop: string;
  readonly first: string;
  /** Values: the first key. */
  readonly miners: string;
}

/** Computed from the length, without reading the bytes. */
const packedSize = `sum((length(samples) - 1) / ${sampleSize})`;

const tableOf = (name: string, column: string, unit: number): Table => {
  const range = `${column} in ${leaps(name, column)} and miner_id = ?`;
  const isPacked = name !== "sample";
  return {
    unit,
    read: isPacked
      ? `select ${column} as at, samples from ${name} where ${range} order by ${column}`
      : `select * from ${name} where ${range} order by ${column}, time`,
    size: `select ${isPacked ? packedSize : "count(*)"} as samples from ${name} where ${range}`,
    drop: `delete from ${name} where ${range}`,
    first: `select min(${column}) as first from ${name}`,
    miners: `select distinct miner_id from ${name} where ${column} = ? order by miner_id limit ${minersPerStep}`,
  };
};

const tables = {
  recent: tableOf("sample", "span", span),
  hours: tableOf("sample_hour", "hour", hour),
  days: tableOf("sample_day", "day", day),
};

export const recentRows = upsert(
  "sample",
  {
    span: "integer",
    miner_id: "integer",
    time: "integer",
    hashrate: "real",
    power: "real",
    temperature: "real",
    energy: "real",
  },
  ["span", "miner_id", "time"],
);
const hourRows = upsert("sample_hour", { hour: "integer", miner_id: "integer", samples: "blob" }, ["hour", "miner_id"]);
const dayRows = upsert("sample_day", { day: "integer", miner_id: "integer", samples: "blob" }, ["day", "miner_id"]);
const texts = {
  // By leaps, from the newest day back.
  daysOnRecord: `with recursive leap(value, place) as (
      select max(day), 1 from sample_day
      union all
      select (select max(day) from sample_day where day < leap.value), place + 1 from leap
        where leap.value is not null and place < ?
    )
    select min(value) as first from leap`,
  dropDay: `delete from sample_day where day = ? and miner_id in
    (select miner_id from sample_day where day = ? order by miner_id limit 500)`,
};

/** Values of a range of a miner. */
const range = (unit: number, minerId: number, from: number, to: number): readonly SqlValue[] => {
  const last = Math.floor(to / unit);
  return [Math.floor(from / unit), last, last, minerId];
};

export const openSamples = (database: Database): Samples => {
  let unwritten: readonly Sample[] = [];
  /** Nothing comes between reading what is packed and writing it: no late sample, and no read, which would miss it. */
  const turns = new Mutex();

  const firstIn = async ({ first }: Table): Promise<number | null> => {
    const [row] = await database.rows(plain(first));
    return figure(row?.first);
  };

  const recent = async (minerId: number, from: number, to: number): Promise<Sample[]> => {
    const { read, unit } = tables.recent;
    return (await database.rows(plain(read, ...range(unit, minerId, from, to)))).map(sample);
  };

  const takePacked = async ({ read, unit }: Table, key: readonly SqlValue[], take: TakeSample): Promise<void> => {
    for (const row of await database.rows(plain(read, ...key)))
      if (row.samples instanceof Uint8Array) eachPacked(row.samples, integer(row.at) * unit, take);
  };

  const packed = async (table: Table, minerId: number, from: number, to: number): Promise<Sample[]> => {
    const samples: Sample[] = [];
    await takePacked(table, range(table.unit, minerId, from, to), collecting(samples, minerId));
    return samples;
  };

  const each = (minerId: number, from: number, to: number, take: TakeSample): Promise<void> =>
    turns.run(() => eachNow(minerId, from, to, take));

  const eachNow = async (minerId: number, from: number, to: number, take: TakeSample): Promise<void> => {
    const inside: TakeSample = (time, hashrate, power, temperature, energy) => {
      if (time >= from && time < to) take(time, hashrate, power, temperature, energy);
    };
    const waiting = unwritten.filter((one) => one.minerId === minerId);
    for (const table of [tables.days, tables.hours])
      await takePacked(table, range(table.unit, minerId, from, to), inside);
    for (const row of [...(await recent(minerId, from, to)), ...waiting]) takeSample(row, inside);
  };

  const packHour = async (minerId: number, index: number): Promise<Statement[]> => {
    const [from, to] = [index * hour, (index + 1) * hour - 1];
    const whole = merge(await packed(tables.hours, minerId, from, to), await recent(minerId, from, to));
    return [
      hourRows([[index, minerId, pack(whole, from)]]),
      plain(tables.recent.drop, ...range(span, minerId, from, to)),
    ];
  };

  const foldDay = async (minerId: number, index: number): Promise<Statement[]> => {
    const [from, to] = [index * day, (index + 1) * day - 1];
    const byHour = Map.groupBy(await packed(tables.hours, minerId, from, to), ({ time }) => Math.floor(time / hour));
    const means = [...byHour].map(([at, samples]) => mean(samples, minerId, at * hour));
    const whole = merge(await packed(tables.days, minerId, from, to), means);
    return [
      dayRows([[index, minerId, pack(whole, from)]]),
      plain(tables.hours.drop, ...range(hour, minerId, from, to)),
    ];
  };

  /** One step for the next few miners of the first key of a table, in one transaction. */
  const step = async (
    { miners }: Table,
    first: number,
    work: (minerId: number) => Promise<Statement[]>,
  ): Promise<void> => {
    const ids = (await database.rows(plain(miners, first))).map((row) => integer(row.miner_id));
    await database.write((await Promise.all(ids.map(work))).flat());
  };

  /**
   * One step of dropping the first day, if it is before `before` and at least `kept` newer days are on record: a clock that
   * jumps ahead, or was once wrong, costs no history.
   */
  const dropDay = async (before: number, kept: number): Promise<boolean> => {
    const first = await firstIn(tables.days);
    if (first === null || first >= before) return false;
    const [oldest] = await database.rows(plain(texts.daysOnRecord, Math.ceil(kept)));
    const oldestKept = figure(oldest?.first);
    if (oldestKept === null || first >= oldestKept) return false;
    await database.write([plain(texts.dropDay, first, first)]);
    return true;
  };

  const removal = deferredDelete(database, (minerId) =>
    Object.values(tables).map(({ drop }) => plain(drop, ...range(1, minerId, 0, Number.MAX_SAFE_INTEGER))),
  );

  const append = (rows: readonly Sample[]): Promise<void> =>
    turns.run(async () => {
      const batch = unwritten.length === 0 ? rows : [...unwritten, ...rows];
      unwritten = batch;
      let written = 0;
      try {
        for (; written < batch.length; written += appendBatch) {
          const portion = batch.slice(written, written + appendBatch);
          await database.write([recentRows(portion.sort((a, b) => a.minerId - b.minerId).map(toRow))]);
        }
      } catch (error) {
        if (!(error instanceof Error && isBusy(error.cause))) throw error;
      } finally {
        unwritten = batch.slice(Math.max(written, batch.length - unwrittenLimit));
      }
    });

  return {
    append,

    pack: (now) =>
      turns.run(async () => {
        const first = await firstIn(tables.recent);
        if (first === null) return false;
        const index = Math.floor((first * span) / hour);
        if ((index + 1) * hour + graceMs > now) return false;
        await step(tables.recent, first, (minerId) => packHour(minerId, index));
        return true;
      }),

    prune: (now, { raw, hourly }) =>
      turns.run(async () => {
        const first = await firstIn(tables.hours);
        const index = first === null ? Number.POSITIVE_INFINITY : Math.floor((first * hour) / day);
        const isFolded = first !== null && (index + 1) * day <= now - raw * day;
        if (isFolded) await step(tables.hours, first, (minerId) => foldDay(minerId, index));
        return (await dropDay(Math.floor((now - hourly * day) / day), hourly)) || isFolded;
      }),

    read: async (minerId, from, to) => {
      const samples: Sample[] = [];
      await each(minerId, from, to, collecting(samples, minerId));
      // A sample may arrive after its hour was packed.
      return samples.sort((a, b) => a.time - b.time);
    },

    each,

    count: (minerId, from, to) =>
      turns.run(async () => {
        let samples = 0;
        for (const { size, unit } of Object.values(tables)) {
          const [row] = await database.rows(plain(size, ...range(unit, minerId, from, to)));
          samples += integer(row?.samples);
        }
        return samples;
      }),

    forget: (minerId) =>
      turns.run(async () => {
        unwritten = unwritten.filter((each) => each.minerId !== minerId);
        await removal.forget(minerId);
      }),

    flush: async () => {
      await removal.flush();
      await append([]);
    },
  };
};

const integer = (value: SqlValue | undefined): number => (typeof value === "number" ? value : 0);
const figure = (value: SqlValue | undefined): number | null => (typeof value === "number" ? value : null);

const toRow = ({ minerId, time, hashrate, power, temperature, energy }: Sample): readonly SqlValue[] => [
  Math.floor(time / span),
  minerId,
  time,
  hashrate,
  power,
  temperature,
  energy,
];

const sample = (row: Row): Sample => ({
  minerId: integer(row.miner_id),
  time: integer(row.time),
  hashrate: figure(row.hashrate),
  power: figure(row.power),
  temperature: figure(row.temperature),
  energy: figure(row.energy),
});
