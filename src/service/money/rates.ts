/** The price of a BTC in one currency, from a market source. */
export interface BtcPrice {
  readonly value: number;
  /** Epoch ms. */
  readonly at: number;
  readonly source: string;
}

export interface HandRates {
  readonly btc?: number | undefined;
  readonly currencies: Readonly<Record<string, number>>;
}

/** Read again for every rate, because they may change. */
export interface RateSettings {
  readonly display: { readonly currency: string };
  readonly rates: HandRates;
}

/** Exchange rates into the display currency: from the configuration, otherwise from the market sources. */
export class Rates {
  readonly #settings: RateSettings;
  #market: ReadonlyMap<string, BtcPrice> = new Map();

  constructor(settings: RateSettings) {
    this.#settings = settings;
  }

  get currency(): string {
    return this.#settings.display.currency;
  }

  get #hand(): HandRates {
    return this.#settings.rates;
  }

  /** Sets prices of a BTC by currency. */
  setMarket(prices: ReadonlyMap<string, BtcPrice>): void {
    this.#market = prices;
  }

  /** Money per BTC, and its origin; undefined if unknown. */
  get btc(): { readonly value: number; readonly from: BtcPrice | null } | undefined {
    if (this.#hand.btc !== undefined) return { value: this.#hand.btc, from: null };
    const own = this.#market.get(this.currency);
    if (own !== undefined) return { value: own.value, from: own };
    for (const [currency, from] of this.#market) {
      const rate = this.#hand.currencies[currency];
      if (rate !== undefined) return { value: from.value * rate, from };
    }
    return undefined;
  }

  /** Money per unit of a currency; null if it is unknown. */
  of(currency: string): number | null {
    if (currency === this.currency) return 1;
    const hand = this.#hand.currencies[currency];
    if (hand !== undefined) return hand;
    const [own, other] = [this.btc, this.#market.get(currency)];
    return own === undefined || other === undefined ? null : own.value / other.value;
  }
}
