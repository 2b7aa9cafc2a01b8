import { type CoinWork, contradiction, earningOf, isFar } from "../money/coin-worth.ts";
import type { Coins, MarketWorth } from "../money/coins.ts";
import type { BtcPrice } from "../money/rates.ts";
import type { CoinFacts, MarketFacts } from "./coin-sources.ts";

/** Origin of market facts. */
export interface FactSource {
  readonly host: string;
  /** ms after which another source is preferred if its facts are newer. */
  readonly freshMs: number;
}

interface Work extends CoinWork {
  readonly at: number;
}
interface Price {
  readonly btc: number | null;
  readonly usd: number | null;
  readonly at: number;
}
/** A value that is not accepted yet, and how often it was read. */
interface Candidate {
  readonly value: number;
  readonly times: number;
  readonly sentence: string;
}
interface KnownCoin {
  readonly algorithm: string;
  work: Work | null;
  price: Price | null;
  heldWork: Candidate | null;
  heldPrice: Candidate | null;
}
interface Known {
  readonly coins: Map<string, KnownCoin>;
  readonly btc: Map<string, { readonly value: number; readonly at: number }>;
  readonly heldBtc: Map<string, Candidate>;
}

/** The chosen facts of a coin, with their sources. */
export interface ChosenFacts {
  readonly work: (Work & { readonly source: string }) | null;
  readonly price: (Price & { readonly source: string }) | null;
  readonly held: string | null;
}

/** Consecutive reads after which an outlying value is accepted, if no other source contradicts it. */
const timesToBelieve = 3;
/** ms after which facts no longer contradict newer ones. */
const speaksMs = 86_400_000;

/**
 * The facts of all sources about coins. The work (difficulty, reward) and the price of each coin come from the first
 * source with fresh values, otherwise from the newest. A value that is inconsistent, or far from the last one or from
 * another source, is held back.
 */
export class CoinMarket {
  readonly #coins: Coins;
  readonly #now: () => number;
  readonly #known = new Map<FactSource, Known>();

  constructor(coins: Coins, sources: readonly FactSource[], now: () => number) {
    this.#coins = coins;
    this.#now = now;
    for (const source of sources) this.#known.set(source, { coins: new Map(), btc: new Map(), heldBtc: new Map() });
  }

  /** Adds the facts of a source; returns everything known from it, with the time of each part. */
  take(source: FactSource, facts: MarketFacts, at: number): MarketFacts {
    const known = this.#known.get(source);
    if (known === undefined) return facts;
    for (const each of facts.coins) this.#takeCoin(source, known, each, at);
    for (const [currency, value] of Object.entries(facts.btc)) {
      const others = this.#others(source, (other) => other.btc.get(currency));
      const { accepted, held, isLastWrong } = judged(
        value,
        known.btc.get(currency)?.value,
        others,
        known.heldBtc.get(currency),
        { what: `its price of a BTC in ${currency}`, host: source.host },
      );
      if (isLastWrong) known.btc.delete(currency);
      if (accepted) known.btc.set(currency, { value, at: facts.btcAt?.[currency] ?? at });
      if (held === null) known.heldBtc.delete(currency);
      else known.heldBtc.set(currency, held);
    }
    return {
      coins: [...known.coins].map(([shortName, { algorithm, work, price }]) => ({
        shortName,
        algorithm,
        ...(work ?? noWork),
        priceBtc: price?.btc ?? null,
        priceUsd: price?.usd ?? null,
        workAt: work?.at ?? null,
        priceAt: price?.at ?? null,
      })),
      btc: Object.fromEntries([...known.btc].map(([currency, { value }]) => [currency, value])),
      btcAt: Object.fromEntries([...known.btc].map(([currency, { at: time }]) => [currency, time])),
    };
  }

  /** The earnings of each coin, per MH/s and day. */
  worth(): Map<string, MarketWorth> {
    const worth = new Map<string, MarketWorth>();
    for (const { shortName, algorithm } of this.#coins.all()) {
      const { work, price } = this.chosen(shortName);
      const earning = work && earningOf(work, this.#coins.algorithm(algorithm)?.hashesPerDifficulty ?? null);
      if (earning === null) continue;
      const perMegahash = earning * 1e6;
      // In BTC, its worth needs no price.
      const btc = shortName.toUpperCase() === "BTC" ? 1 : (price?.btc ?? null);
      const usd = price?.usd ?? null;
      if (btc !== null) worth.set(shortName.toUpperCase(), { profit: perMegahash * btc, profitUsd: null });
      else if (usd !== null) worth.set(shortName.toUpperCase(), { profit: null, profitUsd: perMegahash * usd });
    }
    return worth;
  }

  /** The price of a BTC, by currency. */
  btcPrices(): Map<string, BtcPrice> {
    const prices = new Map<string, BtcPrice>();
    const currencies = new Set([...this.#known.values()].flatMap(({ btc }) => [...btc.keys()]));
    for (const currency of currencies) {
      const best = this.#best(({ btc }) => btc.get(currency));
      if (best !== null) prices.set(currency, { value: best.found.value, at: best.found.at, source: best.source.host });
    }
    return prices;
  }

  chosen(shortName: string): ChosenFacts {
    const key = shortName.toUpperCase();
    const work = this.#best(({ coins }) => coins.get(key)?.work ?? undefined);
    const price = key === "BTC" ? this.#priceOfBtc() : this.#best(({ coins }) => coins.get(key)?.price ?? undefined);
    const held = [...this.#known.values()]
      .map(({ coins }) => coins.get(key)?.heldWork ?? coins.get(key)?.heldPrice)
      .find((candidate) => candidate != null);
    return {
      work: work && { ...work.found, source: work.source.host },
      price: price && { ...price.found, source: price.source.host },
      held: held?.sentence ?? null,
    };
  }

  #priceOfBtc() {
    const best = this.#best(({ btc }) => btc.get("USD"));
    return best && { source: best.source, found: { btc: 1, usd: best.found.value, at: best.found.at } };
  }

  /** The coins that any source knows. */
  known(): Set<string> {
    return new Set([...this.#known.values()].flatMap(({ coins }) => [...coins.keys()]));
  }

  /** A sentence for each value that is held back, by subject. */
  held(): Map<string, string> {
    const sentences = new Map<string, string>();
    for (const { coins, heldBtc } of this.#known.values()) {
      for (const [shortName, { heldWork, heldPrice }] of coins)
        for (const candidate of [heldWork, heldPrice]) if (candidate) sentences.set(shortName, candidate.sentence);
      for (const [currency, { sentence }] of heldBtc) sentences.set(inCurrency(currency), sentence);
    }
    return sentences;
  }

  #takeCoin(source: FactSource, known: Known, facts: CoinFacts, at: number): void {
    const coin = this.#coins.coin(facts.shortName);
    // Some coins have several algorithms, and sources list one row for each.
    if (coin === undefined || (facts.algorithm !== "" && !this.#coins.isSameAlgorithm(coin.algorithm, facts.algorithm)))
      return;
    const row = known.coins.get(facts.shortName) ?? {
      algorithm: facts.algorithm,
      work: null,
      price: null,
      heldWork: null,
      heldPrice: null,
    };
    known.coins.set(facts.shortName, row);
    const factor = this.#coins.algorithm(coin.algorithm)?.hashesPerDifficulty ?? null;
    this.#takeWork(source, row, facts, factor, at);
    // The price of a BTC is kept by currency.
    if (facts.shortName !== "BTC") this.#takePrice(source, row, facts, at);
  }

  #takeWork(source: FactSource, row: KnownCoin, facts: CoinFacts, factor: number | null, at: number): void {
    const { difficulty, networkHashrate, blockTime, reward, earning, shortName } = facts;
    const work = { difficulty, networkHashrate, blockTime, reward, earning, at: facts.workAt ?? at };
    const value = earningOf(work, factor);
    if (value === null || value <= 0) return;
    const wrong = contradiction(work, factor);
    if (wrong !== null) {
      row.heldWork = {
        value,
        times: 1,
        sentence: `${source.host}: the figures of ${shortName} are not used: ${wrong}`,
      };
      return;
    }
    const others = this.#others(source, ({ coins }) => {
      const other = coins.get(shortName)?.work;
      const earns = other ? earningOf(other, factor) : null;
      return other && earns !== null ? { value: earns, at: other.at } : undefined;
    });
    const last = row.work === null ? undefined : (earningOf(row.work, factor) ?? undefined);
    const what = { what: `what a MH/s of ${shortName} earns by its figures`, host: source.host };
    const { accepted, held, isLastWrong } = judged(value, last, others, row.heldWork, what);
    row.heldWork = held;
    if (isLastWrong) row.work = null;
    if (accepted) row.work = work;
  }

  #takePrice(source: FactSource, row: KnownCoin, facts: CoinFacts, at: number): void {
    const { priceBtc, priceUsd, shortName } = facts;
    if (priceBtc === null && priceUsd === null) return;
    const price = { btc: priceBtc, usd: priceUsd, at: facts.priceAt ?? at };
    const unit = priceBtc === null ? "usd" : "btc";
    const value = price[unit] ?? 0;
    const others = this.#others(source, ({ coins }) => {
      const other = coins.get(shortName)?.price;
      const amount = other?.[unit] ?? null;
      return other && amount !== null ? { value: amount, at: other.at } : undefined;
    });
    const what = { what: `its price of ${shortName}`, host: source.host };
    const last = row.price?.[unit] ?? undefined;
    const { accepted, held, isLastWrong } = judged(value, last, others, row.heldPrice, what);
    row.heldPrice = held;
    if (isLastWrong) row.price = null;
    if (accepted) row.price = price;
  }

  /** The present values of the other sources, in order of preference. */
  #others(
    source: FactSource,
    of: (known: Known) => { readonly value: number; readonly at: number } | undefined,
  ): OtherValue[] {
    const order = [...this.#known.keys()];
    return [...this.#known].flatMap(([other, known]) => {
      const found = other === source ? undefined : of(known);
      const speaks = found !== undefined && this.#now() - found.at <= speaksMs;
      const isPreferred = order.indexOf(other) < order.indexOf(source);
      return speaks ? [{ value: found.value, host: other.host, isPreferred }] : [];
    });
  }

  /** The value of the first source with fresh facts, otherwise the newest. */
  #best<T extends { readonly at: number }>(of: (known: Known) => T | undefined) {
    const found = [...this.#known].flatMap(([source, known]) => {
      const value = of(known);
      return value === undefined ? [] : [{ source, found: value }];
    });
    const now = this.#now();
    const fresh = found.find(({ source, found: { at } }) => now - at <= source.freshMs);
    return fresh ?? found.toSorted((one, other) => other.found.at - one.found.at)[0] ?? null;
  }
}

/** The subject of sentences about the price of a BTC. */
export const inCurrency = (currency: string): string => `BTC in ${currency}`;

const noWork: CoinWork = { difficulty: null, networkHashrate: null, blockTime: null, reward: null, earning: null };

/** The value of another source. */
interface OtherValue {
  readonly value: number;
  readonly host: string;
  readonly isPreferred: boolean;
}

/** `isLastWrong`: the source's last value was accepted before there was a better one to compare it with. */
interface Judgement {
  readonly accepted: boolean;
  readonly held: Candidate | null;
  readonly isLastWrong: boolean;
}

const believed: Judgement = { accepted: true, held: null, isLastWrong: false };

/**
 * Decides whether a value is accepted; if not, it is held back with a sentence. A less preferred source contradicts
 * only jumps.
 */
function judged(
  value: number,
  last: number | undefined,
  others: readonly OtherValue[],
  candidate: Candidate | null | undefined,
  { what, host }: { readonly what: string; readonly host: string },
): Judgement {
  const isJump = last !== undefined && isFar(value, last);
  const contrary = others.find((other) => (other.isPreferred || isJump) && isFar(value, other.value));
  if (others.some((other) => !isFar(value, other.value))) return believed;
  if (!isJump && contrary === undefined) return believed;
  const times = candidate != null && !isFar(candidate.value, value) ? candidate.times + 1 : 1;
  // No source contradicts it, and it has lasted: the value has really changed.
  if (contrary === undefined && times >= timesToBelieve) return believed;
  const than = contrary === undefined ? "the last one" : `that of ${contrary.host}`;
  const factor = value / (contrary?.value ?? last ?? value);
  const sentence = `${host}: ${what} is ${factor.toPrecision(3)} times ${than}, so it is not used`;
  const isLastWrong = contrary?.isPreferred === true && last !== undefined && isFar(last, contrary.value);
  return { accepted: false, held: { value, times, sentence }, isLastWrong };
}
