import { setImmediate as nextTurn } from "node:timers/promises";
import { invalid, invalidAll, type Mistake, notFound } from "../../contract/problems.ts";
import type { MoneyReport } from "../../contract/resources.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import type { MoneyDays, MoneyRow, MoneySums, Store, Stored, StoredGroup } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import type { AccessBook } from "../users/access.ts";
import { costs, type ReadShares } from "../users/read-shares.ts";
import type { Coins } from "./coins.ts";
import { addedSums } from "./ledger.ts";
import type { LocalClock } from "./local-time.ts";
import type { Rates } from "./rates.ts";
import type { Tariff } from "./tariff.ts";
import type { Tariffs } from "./tariffs.ts";

export interface MoneyContext {
  readonly days: MoneyDays;
  /** Writes unsaved sums. */
  readonly save: () => Promise<void>;
  readonly store: Pick<Store, "groups">;
  readonly coins: Pick<Coins, "coin" | "algorithm">;
  readonly tariffs: Tariffs;
  readonly accessBook: AccessBook;
  readonly shares: ReadShares;
  readonly rates: Pick<Rates, "currency">;
  readonly localTime: LocalClock;
  readonly now: () => number;
  /** The name of a miner; undefined if it was removed. */
  readonly nameOf: (minerId: number) => string | undefined;
  /** The place of a miner now and those around it. */
  readonly placesOf: (minerId: number) => readonly number[];
  /** The path of a place; undefined if it was removed. */
  readonly pathOf: (placeId: number) => string | undefined;
  /** Throws `not.found`, also for a miner that is hidden from the caller. */
  readonly idOf: (miner: string | number, caller: Caller) => number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const usualCurveMs = 36 * hourMs;
const longestCurveMs = 31 * dayMs;
const mostRows = 10_000;

/** GET /api/money and GET /api/prices. */
export const moneyOperations = (context: MoneyContext): Pick<MiningService, "getMoney" | "getPrices"> => ({
  getMoney: async (input, caller) => {
    const { days, save, accessBook, shares, rates } = context;
    const { currency } = rates;
    const access = accessBook.of(caller);
    shares.take(caller, costs.look);
    const { by, of, from, to } = spanOf(input, context);
    await save();
    const parents = parentsIn(enabled(context.store.groups).filter(({ id }) => access.seesGroup(id)));
    const subjectsOf = ({ groupId, subject }: MoneyRow): readonly (number | string)[] => {
      if (of === "group") return withOuter(groupId, parents);
      return of === "place" ? context.placesOf(Number(subject)) : [subject];
    };
    const ofRows = of === "place" ? "miner" : of;
    const lines = new Lines();
    const totals = new Lines();
    for (const date of datesIn(await days.dates(), from, to)) {
      await shares.measuredRead(caller, 0, async () => {
        for (const row of await days.sums({
          from: date,
          to: date,
          letters: by === "day" ? 10 : 7,
          of: ofRows,
          currency,
        })) {
          if (!access.seesGroup(row.groupId)) continue;
          totals.add(row.period, 0, row);
          for (const subject of subjectsOf(row)) lines.add(row.period, subject, row);
        }
      });
      if (lines.size > mostRows)
        throw invalid("from", `starts a time with more than ${mostRows} rows; ask for a shorter one, or by=month`);
      // A date of a large farm takes some 20 ms.
      await nextTurn();
    }
    return {
      by,
      of,
      currency,
      list: lines.all().map(({ period, subject, sums }) => ({
        ...present(period, sums),
        ...named(of, subject, context),
      })),
      totalList: totals.all().map(({ period, sums }) => present(period, sums)),
    };
  },

  getPrices: async ({ miner, group, from, to }, caller) => {
    const { tariffs, accessBook, rates, now, idOf, store } = context;
    const access = accessBook.of(caller);
    const time = now();
    const span = { from: from ?? time, to: to ?? (from ?? time) + usualCurveMs };
    const mistakes: Mistake[] = [];
    if (miner !== undefined && group !== undefined)
      mistakes.push({ path: "group", message: "cannot be given together with miner" });
    if (span.from >= span.to) mistakes.push({ path: "from", message: "must be before `to`" });
    if (span.to - span.from > longestCurveMs)
      mistakes.push({ path: "to", message: "is more than 31 days after `from`" });
    if (mistakes.length > 0) throw invalidAll(mistakes);
    if (group !== undefined && group !== 0 && (!access.seesGroup(group) || store.groups.get(group)?.disabled !== false))
      throw notFound("group", group);
    const tariff = miner === undefined ? tariffs.ofGroup(group ?? 0) : tariffs.ofMiner(idOf(miner, caller));
    const curve = tariff?.curve ?? null;
    const at = curve?.at ?? null;
    return {
      currency: rates.currency,
      source: curve?.source ?? null,
      at: at === null ? null : new Date(at).toISOString(),
      age: at === null ? null : Math.max(0, Math.round((time - at) / 1000)),
      now: tariff?.at(time).price ?? null,
      prices: tariff === undefined ? [] : pricesIn(tariff, span.from, span.to),
      problem: problemOf(tariff, time),
    };
  },
});

function problemOf(tariff: Tariff | undefined, time: number): string | null {
  if (tariff === undefined) return "No price of electricity is set; set electricity in the configuration";
  const { curve } = tariff;
  if (curve?.problem != null) return curve.problem;
  if (tariff.at(time).price !== null) return null;
  if (curve === null) return "No zone has this time; set electricity.price for the time outside the zones";
  if (curve.at === null) return `${curve.source} has not answered yet`;
  return curve.period(time).value === null
    ? `${curve.source} has no price for now`
    : `The rate of ${curve.currency} is unknown; set rates.currencies.${curve.currency} in the configuration`;
}

/** Merges neighbours with the same price. */
function pricesIn(tariff: Tariff, from: number, to: number) {
  const found: { start: number; end: number; value: number }[] = [];
  for (let time = from; time < to; ) {
    const { price, until } = tariff.at(time);
    const end = Math.min(to, until);
    const last = found.at(-1);
    const goesOn = tariff.curve === null && last?.end === time && last.value === price;
    if (goesOn && last !== undefined) last.end = end;
    else if (price !== null) found.push({ start: time, end, value: price });
    time = end;
  }
  return found.map(({ start, end, value }) => ({
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    value,
  }));
}

/** The first and last date of a report, with every mistake. */
function spanOf(input: Input<"getMoney">, { localTime, now }: MoneyContext) {
  const { by = "day", of = "miner" } = input;
  const today = localTime(now()).date;
  const to = input.to ?? today;
  const from = input.from ?? (by === "day" ? dateBefore(to, 29) : `${dateBefore(to, 334).slice(0, 7)}-01`);
  if (from > to) throw invalid("from", "must not be after `to`");
  // Whole months, so that the sums of months do not depend on the day of the request.
  return by === "day" ? { by, of, from, to } : { by, of, from: `${from.slice(0, 7)}-01`, to: `${to.slice(0, 7)}-31` };
}

const dateBefore = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) - days * dayMs).toISOString().slice(0, 10);

const nothing: MoneySums = {
  seconds: 0,
  energy: null,
  cost: null,
  costBtc: null,
  revenue: null,
  revenueBtc: null,
  profit: null,
  profitBtc: null,
  compared: 0,
  uncosted: 0,
  unearned: 0,
};

interface Line {
  readonly period: string;
  readonly subject: string | number;
  readonly sums: MoneySums;
}

/** Sums by period and subject, in the order of the periods. */
class Lines {
  readonly #lines = new Map<string, Line>();

  get size(): number {
    return this.#lines.size;
  }

  add(period: string, subject: string | number, sums: MoneySums): void {
    const key = `${period} ${subject}`;
    this.#lines.set(key, { period, subject, sums: addedSums(this.#lines.get(key)?.sums ?? nothing, sums) });
  }

  all(): Line[] {
    return [...this.#lines.values()];
  }
}

/** The dates of a span that may have rows, oldest first. */
function* datesIn(known: Awaited<ReturnType<MoneyDays["dates"]>>, from: string, to: string): Iterable<string> {
  if (known === null) return;
  const last = to < known.last ? to : known.last;
  for (let date = from > known.first ? from : known.first; date <= last; date = dateBefore(date, -1)) yield date;
}

const parentsIn = (groups: readonly Stored<StoredGroup>[]): ReadonlyMap<number, number> =>
  new Map(groups.map(({ id, parentId }) => [id, parentId]));

/** A group and its parents. */
function withOuter(groupId: number, parents: ReadonlyMap<number, number>): number[] {
  const ids = [groupId];
  for (let id = parents.get(groupId) ?? 0; id !== 0 && !ids.includes(id); id = parents.get(id) ?? 0)
    if (parents.has(id)) ids.push(id);
  return ids;
}

function present(period: string, sums: MoneySums): MoneyReport["totalList"][number] {
  const { seconds, energy, cost, revenue, profit, revenueBtc, profitBtc, compared, uncosted, unearned } = sums;
  return {
    period,
    hours: seconds / 3600,
    energy,
    cost,
    revenue,
    profit,
    profitHours: compared / 3600,
    revenueBtc,
    profitBtc,
    incomplete: uncosted > 0 || unearned > 0,
  };
}

function named(of: MoneyReport["of"], subject: string | number, { coins, store, nameOf, pathOf }: MoneyContext) {
  if (typeof subject === "number") {
    if (of === "miner") return { id: subject, name: nameOf(subject) ?? `Miner ${subject} (removed)` };
    if (of === "place") return { id: subject, name: pathOf(subject) ?? `Place ${subject} (removed)` };
    const group = store.groups.get(subject);
    if (subject === 0) return { id: 0, name: "" };
    return { id: subject, name: group?.disabled === false ? group.name : `Group ${subject} (removed)` };
  }
  if (of === "coin") return { id: null, name: coins.coin(subject)?.displayName ?? subject };
  return { id: null, name: coins.algorithm(subject)?.name ?? subject };
}
