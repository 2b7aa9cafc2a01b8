import type { Logger } from "pino";
import { Mutex } from "../../async/index.ts";
import { MayBeStored, type MoneyDays, type MoneyKey, type MoneySums } from "../../store/index.ts";
import type { Sections } from "../settings/live-settings.ts";
import { datesIn, type LocalClock } from "./local-time.ts";
import type { Rates } from "./rates.ts";
import { meanPrice, type Tariff } from "./tariff.ts";

/** Earnings with a coin. Amounts per day; null is unknown. */
interface Revenue {
  readonly revenuePerDay: number | null;
  readonly revenueBtcPerDay: number | null;
  readonly coin: string;
  readonly algorithm: string;
}

/** A read's data about a miner's money. */
export interface MoneyRead extends Revenue {
  /** Epoch ms. */
  readonly at: number;
  /** Wh, a counter. */
  readonly energy: number | null;
  readonly groupId: number;
  /** The second algorithm; time and energy count toward the first. */
  readonly second?: Revenue | null;
  /** The declared interval between two reads, ms. */
  readonly readEveryMs: number;
}

export interface LedgerOptions {
  readonly days: MoneyDays;
  readonly rates: Pick<Rates, "currency">;
  readonly localTime: LocalClock;
  readonly tariffOf: (minerId: number) => Tariff | undefined;
  /** Money per BTC now. */
  readonly btc: () => number | undefined;
  /**
   * Counts the reads since the last counted ones, so that killing the process loses no more than the time between two
   * writes.
   */
  readonly takeRest?: (closing: AbortSignal) => Promise<void>;
  readonly settings: Sections<"history">;
  readonly now: () => number;
  readonly log: Logger;
}

/** ms between two writes: a power cut loses at most this much. */
const writeIntervalMs = 60_000;
const dayMs = 86_400_000;
/** ms between two counted reads: energy is a counter, and revenue changes slowly. A write forces a count. */
const countedEveryMs = 90_000;

/** ms between two counted reads above which the earnings in between are not estimated. */
const longestGap = ({ readEveryMs }: MoneyRead): number => writeIntervalMs + Math.max(60_000, 3 * readEveryMs);

/**
 * Adds up earnings and costs of each miner by local date, with each kWh at the price of its time. Unknown amounts are
 * not estimated; their duration is kept beside the sums.
 */
export class Ledger {
  readonly #options: LedgerOptions;
  readonly #last = new Map<number, MoneyRead>();
  #unsaved = new Map<string, { readonly key: MoneyKey; sums: MoneySums }>();
  /** The cost of each miner's energy. */
  #costs = new Map<number, number>();
  /** Writes, and reads of what is partly unwritten, one after another. */
  readonly #turns = new Mutex();
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #failing = false;
  #prunedOn = "";

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#turn(), writeIntervalMs);
    this.#timer.unref();
  }

  /** Call it before the first read. */
  async start(): Promise<void> {
    this.#costs = await this.#options.days.costs(this.#options.rates.currency);
  }

  /** Whether a read at this time counts. */
  isDue(minerId: number, at: number): boolean {
    const before = this.#last.get(minerId);
    return before === undefined || at <= before.at || at >= before.at + countedEveryMs;
  }

  /** Counts a read of a miner. */
  take(minerId: number, read: MoneyRead): void {
    const before = this.#last.get(minerId);
    this.#last.set(minerId, read);
    if (before === undefined) this.#begin(minerId, read);
    if (before === undefined || read.at <= before.at) return;
    for (const part of datesIn(this.#options.localTime, before.at, read.at))
      this.#add(minerId, part, part.date, before, read);
  }

  /** The cost of all its energy counted so far; null if unknown. */
  costOf(minerId: number): number | null {
    return this.#costs.get(minerId) ?? null;
  }

  /** Earnings and costs of these miners on a local date so far; null if nothing was counted. */
  sumsOf(minerIds: ReadonlySet<number>, date: string): Promise<MoneySums | null> {
    const { days, rates } = this.#options;
    const { currency } = rates;
    return this.#turns.run(async () => {
      await days.settle();
      const stored = await days.ofMiners(date, minerIds, currency);
      const unsaved = [...this.#unsaved.values()].flatMap(({ key, sums }) =>
        key.date === date && key.currency === currency && minerIds.has(key.minerId) ? [sums] : [],
      );
      const [first, ...others] = [...(stored === null ? [] : [stored]), ...unsaved];
      return first === undefined ? null : others.reduce(addedSums, first);
    });
  }

  /** Drops a removed miner; its earnings stay in the sums. */
  async forget(minerId: number): Promise<void> {
    this.#last.delete(minerId);
    const hasCost = this.#costs.delete(minerId);
    await this.#try();
    if (hasCost) await this.#try(() => this.#options.days.forget(minerId));
  }

  /** Throws store.full; the sums are kept for the next write. */
  save(): Promise<void> {
    const { localTime, now, settings, days } = this.#options;
    return this.#turns.run(async () => {
      await days.settle();
      if (this.#unsaved.size === 0) return;
      const batch = this.#unsaved;
      this.#unsaved = new Map();
      try {
        await days.add([...batch.values()].map(({ key, sums }) => [key, sums] as const));
      } catch (error) {
        // What may be stored is settled before the next write.
        if (error instanceof MayBeStored) throw error;
        const later = this.#unsaved;
        this.#unsaved = batch;
        for (const { key, sums } of later.values()) this.#sum(key, sums);
        throw error;
      }
      const oldest = localTime(now() - settings.history.hourly * dayMs).date;
      if (oldest !== this.#prunedOn) await days.prune(oldest);
      this.#prunedOn = oldest;
    });
  }

  /** Switches to another currency. */
  async takeCurrency(): Promise<void> {
    await this.#try();
    await this.start();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#try();
  }

  /** A miner without counted energy has cost nothing so far, unless that cannot be known. */
  #begin(minerId: number, { at, energy }: MoneyRead): void {
    if (this.#costs.has(minerId)) return;
    const tariff = this.#options.tariffOf(minerId);
    const isKnown = tariff === undefined || (energy !== null && tariff.at(at).price !== null);
    if (isKnown) this.#costs.set(minerId, 0);
  }

  #add(minerId: number, span: { from: number; to: number }, date: string, before: MoneyRead, read: MoneyRead): void {
    const { rates, tariffOf, btc } = this.#options;
    const { currency } = rates;
    const whole = read.at - before.at;
    const share = (span.to - span.from) / whole;
    const seconds = (span.to - span.from) / 1000;
    const drawn = before.energy === null || read.energy === null ? null : (read.energy - before.energy) * share;
    const isGap = whole > longestGap(read);
    // A gap counts only if a meter has measured it.
    if (isGap && (drawn === null || drawn <= 0)) return;
    const tariff = tariffOf(minerId);
    const price = tariff === undefined ? 0 : meanPrice(tariff, span.from, span.to);
    const cost = tariff === undefined ? 0 : drawn === null || price === null ? null : (drawn / 1000) * price;
    const rate = btc();
    const earned = (one: Revenue | null, other: Revenue) => {
      const isSame = one !== null && one.coin === other.coin && one.algorithm === other.algorithm;
      const of = (key: "revenuePerDay" | "revenueBtcPerDay"): number | null => {
        const perDay = isSame ? mean(one[key], other[key]) : other[key];
        return isGap || perDay === null ? null : (perDay * (span.to - span.from)) / dayMs;
      };
      return { revenue: of("revenuePerDay"), revenueBtc: of("revenueBtcPerDay") };
    };
    const { revenue, revenueBtc } = earned(before, read);
    const { groupId, second = null } = read;
    const keyOf = ({ coin, algorithm }: Revenue): MoneyKey => ({ date, minerId, groupId, coin, algorithm, currency });
    const costBtc = cost === 0 ? 0 : cost === null || rate === undefined ? null : cost / rate;
    const other = second === null ? null : earned(before.second ?? null, second);
    // Of two simultaneous coins, an unknown one earns nothing.
    const profit = less(revenue ?? (other?.revenue == null ? null : 0), cost);
    this.#sum(keyOf(read), {
      seconds: isGap ? 0 : seconds,
      energy: drawn,
      cost,
      costBtc,
      revenue,
      revenueBtc,
      profit,
      profitBtc: less(revenueBtc ?? (other?.revenueBtc == null ? null : 0), costBtc),
      compared: profit === null ? 0 : seconds,
      uncosted: cost === null ? seconds : 0,
      unearned: revenue === null ? seconds : 0,
    });
    if (second !== null && other !== null)
      this.#sum(keyOf(second), {
        ...nothingCounted,
        ...other,
        profit: cost === null ? null : other.revenue,
        profitBtc: costBtc === null ? null : other.revenueBtc,
      });
    if (cost !== null) this.#costs.set(minerId, (this.costOf(minerId) ?? 0) + cost);
  }

  #sum(key: MoneyKey, sums: MoneySums): void {
    const name = JSON.stringify(Object.values(key));
    const known = this.#unsaved.get(name);
    if (known === undefined) this.#unsaved.set(name, { key, sums });
    else known.sums = addedSums(known.sums, sums);
  }

  /** Never rejects. */
  async #turn(): Promise<void> {
    const { signal } = this.#closing;
    try {
      await this.#options.takeRest?.(signal);
    } catch (error) {
      this.#options.log.error({ err: error }, "what miners earn and cost cannot be counted");
    }
    if (!signal.aborted) await this.#try();
  }

  /** A failure is logged once. */
  async #try(work: () => Promise<void> = () => this.save()): Promise<void> {
    try {
      await work();
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#options.log.error({ err: error }, "what miners earn and cost cannot be written");
      this.#failing = true;
    }
  }
}

const nothingCounted = {
  seconds: 0,
  energy: null,
  cost: 0,
  costBtc: 0,
  compared: 0,
  uncosted: 0,
  unearned: 0,
} as const;

const less = (revenue: number | null, cost: number | null): number | null =>
  revenue === null || cost === null ? null : revenue - cost;

const mean = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : (one + other) / 2;

const plus = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : one + other;

/** The sum; one unknown value is ignored. */
export const addedSums = (one: MoneySums, other: MoneySums): MoneySums => ({
  seconds: one.seconds + other.seconds,
  energy: plus(one.energy, other.energy),
  cost: plus(one.cost, other.cost),
  costBtc: plus(one.costBtc, other.costBtc),
  revenue: plus(one.revenue, other.revenue),
  revenueBtc: plus(one.revenueBtc, other.revenueBtc),
  profit: plus(one.profit, other.profit),
  profitBtc: plus(one.profitBtc, other.profitBtc),
  compared: one.compared + other.compared,
  uncosted: one.uncosted + other.uncosted,
  unearned: one.unearned + other.unearned,
});
