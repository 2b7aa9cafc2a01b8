import type { SQLOutputValue } from "node:sqlite";
import type { SqliteConnection } from "./sqlite-connection.ts";

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
  /** Adds to what is stored, in one transaction. Throws store.full. */
  add(batch: Iterable<readonly [MoneyKey, MoneySums]>): void;
  /** By period, group and subject. */
  sums(query: MoneyQuery): MoneyRow[];
  /** Of these miners together on one date; null without any. */
  ofMiners(date: string, minerIds: Iterable<number>, currency: string): MoneySums | null;
  /** The first and the last date with rows; null without any. */
  dates(): { readonly first: string; readonly last: string } | null;
  /** The cost of each miner's energy so far, by id. */
  costs(currency: string): Map<number, number>;
  /** Drops the energy cost of a miner; its days stay in the sums. Throws store.full. */
  forget(minerId: number): void;
  /** Drops days before this date. */
  prune(date: string): void;
}

const sumColumns = [
  ...(["seconds", "energy", "cost", "cost_btc", "revenue", "revenue_btc", "profit", "profit_btc"] as const),
  ...(["compared", "uncosted", "unearned"] as const),
] as const;
const keyColumns = ["day", "miner_id", "group_id", "coin", "algorithm", "currency"] as const;

export const openMoneyDays = (sqlite: SqliteConnection): MoneyDays => {
  const columns = [...keyColumns, ...sumColumns];
  // An unknown amount changes nothing; a known one makes an unknown sum known.
  const upsert = sqlite.prepare(
    `insert into money_day (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})
     on conflict do update set ${sumColumns
       .map((column) => `${column} = coalesce(${column} + excluded.${column}, ${column}, excluded.${column})`)
       .join(", ")}`,
  );
  const money = (column: string): string => `sum(case when currency = $currency then ${column} end) as ${column}`;
  const sums = `sum(seconds) as seconds, sum(energy) as energy, ${money("cost")}, sum(cost_btc) as cost_btc,
    ${money("revenue")}, sum(revenue_btc) as revenue_btc, ${money("profit")}, sum(profit_btc) as profit_btc,
    ${money("compared")}, sum(uncosted) as uncosted, sum(unearned) as unearned`;
  const queryFor = (of: MoneySubject) =>
    sqlite.prepare(
      `select substr(day, 1, $letters) as period, group_id, ${moneySubjects[of]} as subject, ${sums}
       from money_day where day between $from and $to
       group by period, group_id, ${moneySubjects[of]} order by period, subject, group_id`,
    );
  const queries = {
    miner: queryFor("miner"),
    group: queryFor("group"),
    coin: queryFor("coin"),
    algorithm: queryFor("algorithm"),
  };
  const ofMiners = sqlite.prepare(
    `select count(*) as rows, ${sums} from money_day
     where day = $date and miner_id in (select value from json_each($minerIds))`,
  );
  const costs = sqlite.prepare("select miner_id, cost from money_total where currency = ?");
  const addCost = sqlite.prepare(
    "insert into money_total (miner_id, currency, cost) values (?, ?, ?) " +
      "on conflict do update set cost = cost + excluded.cost",
  );
  const dates = sqlite.prepare("select min(day) as first, max(day) as last from money_day");
  const prune = sqlite.prepare("delete from money_day where day < ?");
  return {
    add: (batch) =>
      sqlite.write(() => {
        for (const [key, sums] of batch) {
          upsert.run(
            key.date,
            key.minerId,
            key.groupId,
            key.coin,
            key.algorithm,
            key.currency,
            sums.seconds,
            sums.energy,
            sums.cost,
            sums.costBtc,
            sums.revenue,
            sums.revenueBtc,
            sums.profit,
            sums.profitBtc,
            sums.compared,
            sums.uncosted,
            sums.unearned,
          );
          if (sums.cost !== null) addCost.run(key.minerId, key.currency, sums.cost);
        }
      }),
    sums: ({ of, ...parameters }) => sqlite.read(() => queries[of].all(parameters).map(moneyRow)),
    ofMiners: (date, minerIds, currency) => {
      const row = sqlite.read(() => ofMiners.get({ date, minerIds: JSON.stringify([...minerIds]), currency }));
      return row === undefined || row.rows === 0 ? null : sumsIn(row);
    },
    dates: () => {
      const { first, last } = sqlite.read(() => dates.get()) ?? {};
      return typeof first === "string" && typeof last === "string" ? { first, last } : null;
    },
    costs: (currency) =>
      sqlite.read(
        () => new Map(costs.all(currency).map((row) => [figure(row.miner_id) ?? 0, figure(row.cost) ?? 0] as const)),
      ),
    forget: (minerId) => {
      sqlite.free((run) => run(sqlite.tables.deleteFrom("money_total").where("miner_id", "=", minerId)));
    },
    prune: (date) => {
      sqlite.free(() => prune.run(date));
    },
  };
};

const figure = (value: SQLOutputValue | undefined): number | null => (typeof value === "number" ? value : null);

const moneyRow = (row: Record<string, SQLOutputValue>): MoneyRow => ({
  period: String(row.period),
  groupId: figure(row.group_id) ?? 0,
  subject: typeof row.subject === "number" ? row.subject : String(row.subject),
  ...sumsIn(row),
});

const sumsIn = (row: Record<string, SQLOutputValue>): MoneySums => ({
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
