import type { CoinSourceSettings } from "../../config/money.ts";
import type { Config } from "../../config/schema.ts";
import { coded } from "../../messages/coded.ts";
import type { CodedText } from "../../messages/coded-text.ts";
import type { Coins } from "../money/coins.ts";
import type { Rates } from "../money/rates.ts";
import type { Tariffs } from "../money/tariffs.ts";
import { CoinMarket, type FactSource, inCurrency } from "./coin-market.ts";
import { coinSources, MarketFacts } from "./coin-sources.ts";
import { addressOf, Feed, type FeedContext } from "./feed.ts";
import { type PoolViewContext, PoolViews } from "./pool-views.ts";
import { type PriceFeedContext, type RunningPrices, runPrices } from "./price-feeds.ts";

export interface MarketContext extends Omit<PriceFeedContext, "changed">, PoolViewContext {
  readonly coins: Coins;
  readonly rates: Rates;
  readonly tariffs: Tariffs;
  /** Sources are never queried for a demo alone. */
  readonly isDemo: () => boolean;
  /** Prices, rates or pool figures have changed, so the display of every miner may have. */
  readonly changed: () => void;
  /** One notification per title until its message is null. */
  readonly warn: (title: CodedText, message: string | CodedText | null) => void;
}

type CoinFeed = Feed<CoinSourceSettings & { readonly currency: string }, MarketFacts>;
interface CoinSource {
  readonly settings: CoinSourceSettings;
  readonly source: FactSource;
  readonly feed: CoinFeed;
}

/** ms between two turns. */
export const marketTurnMs = 5_000;
/** ms between two refreshes of all miners, for large farms. */
const renewalMs = 60_000;
/** ms after which a silent source, or a time without a price, causes a notification. */
const silenceMs = 3_600_000;
const staleMs = 86_400_000;

/** All external sources: their values go to coins, rates and tariffs, where replies find them without waiting. */
export class Market {
  readonly coinMarket: CoinMarket;
  readonly poolViews: PoolViews;
  readonly #context: MarketContext;
  readonly #coinSources: readonly CoinSource[];
  readonly #prices: readonly RunningPrices[];
  readonly #startedAt: number;
  /** The present warnings, by the code and values of their titles. */
  #warned = new Map<string, Warning>();
  #ofEarlierRun: readonly EarlierWarning[];
  #shown: string;
  #isDirty = false;
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(market: Config["market"], pools: Config["pools"], context: MarketContext) {
    this.#context = context;
    const { coins, rates, tariffs, now } = context;
    const facts = market.sources.map((settings) => {
      const url = addressOf(coinSources[settings.type], settings.url);
      const freshMs = Math.max(3 * settings.every * 1000, silenceMs);
      return { settings, source: { host: new URL(url).host, freshMs } };
    });
    this.coinMarket = new CoinMarket(
      coins,
      facts.map(({ source }) => source),
      now,
    );
    this.#coinSources = facts.map(({ settings, source }) => ({
      settings,
      source,
      feed: coinFeed(settings, rates.currency, (value, at) => this.coinMarket.take(source, value, at), context),
    }));
    this.#prices = tariffs.feeds.map((feed) => runPrices(feed, { ...context, changed: () => this.#dirty() }));
    this.poolViews = new PoolViews(pools, context);
    this.#forgetOthers();
    this.#startedAt = now();
    this.#pass();
    this.#shown = this.#state();
    this.#ofEarlierRun = this.#possibleWarnings();
  }

  /** Whether anything has to be queried, or changes with time. */
  get isUsed(): boolean {
    return this.#coinSources.length > 0 || this.#context.tariffs.changes || this.poolViews.isUsed;
  }

  /** For GET /api/market. */
  get sources(): {
    readonly type: string;
    readonly host: string;
    readonly at: number | null;
    readonly problem: string | null;
  }[] {
    return this.#coinSources.map(({ settings: { type }, feed: { host, at, problem } }) => ({
      type,
      host,
      at,
      problem,
    }));
  }

  /** Queries every due source. Never rejects; no reply waits for it. */
  async turn(): Promise<void> {
    this.#renew();
    if (this.#context.isDemo()) return;
    const feeds = [...this.#coinSources.map(({ feed }) => feed), ...this.#prices];
    const polled = [...feeds.map((feed) => feed.poll()), this.poolViews.turn()];
    await Promise.all(polled.map((each) => each.then((isNew) => isNew && this.#dirty())));
    if (this.#context.closing.aborted) return;
    this.#renew();
    this.#report();
  }

  /** Drops data of sources that were removed from the configuration. */
  #forgetOthers(): void {
    const { kept, log } = this.#context;
    const used = new Set([...this.#coinSources.map(({ feed }) => feed.key), ...this.#prices.map(({ key }) => key)]);
    kept.keep(used).catch((error: unknown) => log.warn({ err: error }, "the values of old sources cannot be removed"));
  }

  #dirty(): void {
    this.#isDirty = true;
    this.#pass();
  }

  /** Passes on the present values. */
  #pass(): void {
    const { coins, rates } = this.#context;
    rates.setMarket(this.coinMarket.btcPrices());
    coins.setMarket(this.coinMarket.worth());
  }

  /** Refreshes miners when prices change, including a change of the electricity price by time. */
  #renew(): void {
    const now = this.#context.now();
    if (now >= this.#renewedAt && now < this.#renewedAt + renewalMs) return;
    const state = this.#state();
    if (!this.#isDirty && state === this.#shown) return;
    this.#shown = state;
    this.#isDirty = false;
    this.#renewedAt = now;
    this.#context.changed();
  }

  #state(): string {
    return this.#context.tariffs.stateAt(this.#context.now());
  }

  /** Notifies of values that are held back, and of sources without a present value. */
  #report(): void {
    const { now, warn } = this.#context;
    const warnings = new Map<string, Warning>();
    const add = (title: CodedText, message: string | CodedText): void => {
      warnings.set(JSON.stringify(title), { title, message });
    };
    for (const [what, sentence] of this.coinMarket.held()) add(titles.held(what), sentence);
    for (const { feed } of this.#coinSources)
      if (now() - (feed.at ?? this.#startedAt) > staleMs)
        add(titles.old(feed.host), feed.problem ?? coded("notices.market.oldMessage", { source: feed.host }));
    for (const { curve } of this.#prices)
      if (curve.period(now()).value === null && now() - (curve.at ?? this.#startedAt) > silenceMs)
        add(
          titles.unpriced(curve.source),
          curve.problem ?? coded("notices.market.unpricedMessage", { source: curve.source }),
        );
    for (const [key, { title, message }] of warnings) if (!this.#warned.has(key)) warn(title, message);
    for (const [key, { title }] of this.#warned) if (!warnings.has(key)) warn(title, null);
    this.#warned = warnings;
    const over = this.#ofEarlierRun.filter(({ title, isOver }) => isOver() && !warnings.has(JSON.stringify(title)));
    for (const { title } of over) warn(title, null);
    this.#ofEarlierRun = this.#ofEarlierRun.filter((each) => !over.includes(each));
  }

  /** Every warning that an earlier run may have left open, and whether its cause has ended. */
  #possibleWarnings(): EarlierWarning[] {
    const held = [...this.coinMarket.known(), ...Array.from(this.coinMarket.btcPrices().keys(), inCurrency)];
    return [
      ...held.map((what) => ({ title: titles.held(what), isOver: () => true })),
      ...this.#coinSources.map(({ feed }) => ({ title: titles.old(feed.host), isOver: () => feed.at !== null })),
      ...this.#prices.map(({ curve }) => ({
        title: titles.unpriced(curve.source),
        isOver: () => curve.period(this.#context.now()).value !== null,
      })),
    ];
  }
}

/** A source of market data with amounts in this currency. */
export const coinFeed = (
  settings: CoinSourceSettings,
  currency: string,
  take: (value: MarketFacts, at: number) => MarketFacts,
  context: FeedContext,
): CoinFeed =>
  new Feed(
    {
      shape: coinSources[settings.type],
      settings: { ...settings, currency },
      url: addressOf(coinSources[settings.type], settings.url),
      everyMs: settings.every * 1000,
      schema: MarketFacts,
      identity: ["coins", settings.type, JSON.stringify(settings.coins), currency],
      take,
    },
    context,
  );

interface Warning {
  readonly title: CodedText;
  readonly message: string | CodedText;
}

interface EarlierWarning {
  readonly title: CodedText;
  readonly isOver: () => boolean;
}

const titles = {
  held: (what: string) => coded("notices.market.held", { what }),
  old: (source: string) => coded("notices.market.old", { source }),
  unpriced: (source: string) => coded("notices.market.unpriced", { source }),
} as const;
