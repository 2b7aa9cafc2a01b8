import { randomUUID } from "node:crypto";
import { type Database, plain, type Row, type SqlValue, type Statement } from "./database.ts";
import { moneyBatch } from "./kept-values.ts";
import { MayBeStored } from "./postgres-failures.ts";
import { upsert } from "./upsert.ts";

/** Earnings and costs of a miner on a local date while it was in one group and mined one coin. */
export interface MoneyKey {
  /** "2026-11-22". */
  readonly date: string;
  readonly minerId: number;
  readonly groupId: number;
  /** Short name; "" if unknown. */
  readonly coin: string;
  /** Id; "" if unknown. */
  readonly algorithm: string;
  /** Currency of the amounts. */
  readonly currency: string;
}

/** Sums; null if no value is known. */
export interface MoneySums {
  /** s between reads. */
  readonly seconds: number;
  /** Wh. */
  readonly energy: number | null;
  readonly cost: number | null;
  readonly costBtc: number | null;
  readonly revenue: number | null;
  readonly revenueBtc: number | null;
  /** Revenue less cost over the times when both were known: the sums above may cover different times and miners. */
  readonly profit: number | null;
  readonly profitBtc: number | null;
  /** The part of `seconds` that the profit covers. */
  readonly compared: number;
  /** Seconds with unknown cost or revenue, including times between reads that only a meter recorded. */
  readonly uncosted: number;
  readonly unearned: number;
}

/** The subjects of a report's rows, with the key column of each. */
export const moneySubjects = { miner: "miner_id", group: "group_id", coin: "coin", algorithm: "algorithm" } as const;
export type MoneySubject = keyof typeof moneySubjects;

export interface MoneyQuery {
  /** Local dates, both included. */
  readonly from: string;
  readonly to: string;
  /** Characters of a date that identify a period: 10 = day, 7 = month. */
  readonly letters: 7 | 10;
  readonly of: MoneySubject;
  /** Amounts in other currencies are left out; energy and BTC are not. */
  readonly currency: string;
}

export interface MoneyRow extends MoneySums {
  readonly period: string;
  readonly groupId: number;
  readonly subject: string | number;
}

export interface MoneyDays {
  /**
   * Adds to what is stored, in one transaction. Throws store.full; after `MayBeStored` the batch is left to `settle`, which
   * is called before anything else is added. Until then sums may lack it.
   */
  add(batch: Iterable<readonly [MoneyKey, MoneySums]>): Promise<void>;
  /** Adds the batch that may be stored, unless it is: nothing is ever added twice. */
  settle(): Promise<void>;
  /** By period, group and subject. */
  sums(query: MoneyQuery): Promise<MoneyRow[]>;
  /** Of these miners together on one date; null without any. */
  ofMiners(date: string, minerIds: Iterable<number>, currency: string): Promise<MoneySums | null>;
  /** The first and the last date with rows; null without any. */
  dates(): Promise<{ readonly first: string; readonly last: string } | null>;
  /** The cost of each miner's energy so far, by id. */
  costs(currency: string): Promise<Map<number, number>>;
  /** Drops the energy cost of a miner; its days stay in the sums. Throws store.full. */
  forget(minerId: number): Promise<void>;
  /** Drops days before this date. */
  prune(date: string): Promise<void>;
}

const sumColumns = {
  seconds: "real",
  energy: "real",
  cost: "real",
  cost_btc: "real",
  revenue: "real",
  revenue_btc: "real",
  profit: "real",
  profit_btc: "real",
  compared: "real",
  uncosted: "real",
  unearned: "real",
} as const;
const dayRows = upsert(
  "money_day",
  {
    ...({ day: "text", miner_id: "integer", group_id: "integer", coin: "text", algorithm: "text" } as const),
    currency: "text",
    ...sumColumns,
  },
  ["day", "miner_id", "group_id", "coin", "algorithm", "currency"],
  // An unknown amount changes nothing; a known one makes an unknown sum known.
  (each) => `coalesce(money_day.${each} + excluded.${each}, money_day.${each}, excluded.${each})`,
);
const totalRows = upsert(
  "money_total",
  { miner_id: "integer", currency: "text", cost: "real" },
  ["miner_id", "currency"],
  () => "money_total.cost + excluded.cost",
);

/** Columns whose sums are those in one currency: each has a value in the statement. */
const inCurrency = ["cost", "revenue", "profit", "compared"] as const;
const sums = Object.keys(sumColumns)
  .map((each) =>
    inCurrency.some((name) => name === each)
      ? `sum(case when currency = ? then ${each} end) as ${each}`
      : `sum(${each}) as ${each}`,
  )
  .join(", ");
const currencies = (currency: string): string[] => inCurrency.map(() => currency);

const queryFor = (of: MoneySubject): string =>
  `select substr(day, 1, ?) as period, group_id, ${moneySubjects[of]} as subject, ${sums}
   from money_day where day between ? and ?
   group by 1, group_id, ${moneySubjects[of]} order by 1, ${moneySubjects[of]}, group_id`;

/** The batch that was added last is stored with it, so that one whose confirmation was lost is not added again. */
const nowLast =
  "insert into source_value (source, at, value) values (?, 0, ?) on conflict (source) do update set value = excluded.value";
const isLast = "update source_value set at = at where source = ? and value = ?";

export const openMoneyDays = (database: Database): MoneyDays => {
  const ofMiners = `select count(*) as miners, ${sums} from money_day
    where day = ? and miner_id in ${database.dialect.oneOfList}`;
  let doubtful: { readonly id: string; readonly statements: readonly Statement[] } | null = null;
  return {
    settle: async () => {
      if (doubtful === null) return;
      const { id, statements } = doubtful;
      // A write, because it waits until the server has ended the one in doubt.
      const [isStored] = await database.write([plain(isLast, moneyBatch, id)]);
      if (isStored === 0) await database.write(statements);
      doubtful = null;
    },
    add: async (batch) => {
      const days = [...batch];
      if (days.length === 0) return;
      const id = JSON.stringify(randomUUID());
      const statements = [
        plain(nowLast, moneyBatch, id),
        dayRows(
          days.map(([key, sums]) => [
            ...[key.date, key.minerId, key.groupId, key.coin, key.algorithm, key.currency],
            ...[sums.seconds, sums.energy, sums.cost, sums.costBtc, sums.revenue, sums.revenueBtc, sums.profit],
            ...[sums.profitBtc, sums.compared, sums.uncosted, sums.unearned],
          ]),
        ),
        totalRows(
          days.flatMap(([{ minerId, currency }, { cost }]) => (cost === null ? [] : [[minerId, currency, cost]])),
        ),
      ];
      try {
        await database.write(statements);
      } catch (error) {
        if (error instanceof MayBeStored) doubtful = { id, statements };
        throw error;
      }
    },
    sums: async ({ of, letters, from, to, currency }) => {
      const rows = await database.rows(plain(queryFor(of), letters, ...currencies(currency), from, to));
      return rows.map(moneyRow);
    },
    ofMiners: async (date, minerIds, currency) => {
      const asked = plain(ofMiners, ...currencies(currency), date, JSON.stringify([...minerIds]));
      const [row] = await database.rows(asked);
      return row === undefined || row.miners === 0 ? null : sumsIn(row);
    },
    dates: async () => {
      const [row] = await database.rows(plain("select min(day) as first, max(day) as last from money_day"));
      const { first, last } = row ?? {};
      return typeof first === "string" && typeof last === "string" ? { first, last } : null;
    },
    costs: async (currency) => {
      const rows = await database.rows(plain("select miner_id, cost from money_total where currency = ?", currency));
      return new Map(rows.map((row) => [figure(row.miner_id) ?? 0, figure(row.cost) ?? 0] as const));
    },
    forget: async (minerId) => {
      await database.free([database.tables.deleteFrom("money_total").where("miner_id", "=", minerId)]);
    },
    prune: async (date) => {
      await database.free([database.tables.deleteFrom("money_day").where("day", "<", date)]);
    },
  };
};

const figure = (value: SqlValue | undefined): number | null => (typeof value === "number" ? value : null);

const moneyRow = (row: Row): MoneyRow => ({
  period: String(row.period),
  groupId: figure(row.group_id) ?? 0,
  subject: typeof row.subject === "number" ? row.subject : String(row.subject),
  ...sumsIn(row),
});

const sumsIn = (row: Row): MoneySums => ({
  seconds: figure(row.seconds) ?? 0,
  energy: figure(row.energy),
  cost: figure(row.cost),
  costBtc: figure(row.cost_btc),
  revenue: figure(row.revenue),
  revenueBtc: figure(row.revenue_btc),
  profit: figure(row.profit),
  profitBtc: figure(row.profit_btc),
  compared: figure(row.compared) ?? 0,
  uncosted: figure(row.uncosted) ?? 0,
  unearned: figure(row.unearned) ?? 0,
});
