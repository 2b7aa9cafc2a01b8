import type { Money } from "../../contract/resources.ts";
import type { Coin } from "./coins.ts";

/** Earnings and costs of a rig per day, in the display currency; null is unknown. */
export interface Earnings extends Omit<Money, "energyCost"> {
  readonly revenueBtc: number | null;
  readonly profitBtc: number | null;
}

/** Prices at a moment; undefined where none is set. */
export interface Prices {
  readonly currency: string;
  /** Money per BTC. */
  readonly btc?: number | undefined;
  /** Money per USD. */
  readonly usd?: number | undefined;
  /** Money per kWh; null if a price is set but currently unknown. */
  readonly electricity?: number | null | undefined;
}

/** The prices of a miner now. */
export type PricesFor = (minerId: number) => Prices;

/** Days in a month, as in every recorded sample of Awesome Miner. */
export const daysPerMonth = 30.3;

/** Inputs for the earnings of a rig. */
export interface Earning {
  /** H/s */
  readonly hashrate: number | null;
  /** W */
  readonly power: number | null;
  readonly coin: Coin | undefined;
  /** The second of two simultaneous coins. */
  readonly second?: Pick<Earning, "hashrate" | "coin"> | null;
}

/**
 * The revenue is unknown without a coin whose price is known in the currency. Electricity without a price costs
 * nothing; with one, the cost of a rig with unknown power is unknown. The profit is unknown if either is. Of two
 * simultaneous coins, an unknown one earns nothing.
 */
export function earningsOf({ hashrate, power, coin, second = null }: Earning, prices: Prices): Earnings {
  const { btc, electricity, currency } = prices;
  const earned = (kind: "money" | "btc"): number | null => {
    const first = revenueOf(hashrate, worthOf(coin, prices)[kind]);
    const other = second === null ? null : revenueOf(second.hashrate, worthOf(second.coin, prices)[kind]);
    return first === null || other === null ? (first ?? other) : first + other;
  };
  const revenuePerDay = earned("money");
  const revenueBtc = earned("btc");
  const kilowattHours = power === null ? null : (power / 1000) * 24;
  const costPerDay =
    electricity === undefined ? 0 : electricity === null || kilowattHours === null ? null : kilowattHours * electricity;
  const profitPerDay = difference(revenuePerDay, costPerDay);
  const costBtc = costPerDay === 0 ? 0 : costPerDay === null || btc === undefined ? null : costPerDay / btc;
  return {
    revenuePerDay,
    costPerDay,
    profitPerDay,
    currency,
    revenueBtc,
    profitBtc: difference(revenueBtc, costBtc),
    electricityPrice: electricity ?? null,
    breakEvenPrice: breakEven(revenuePerDay, kilowattHours),
  };
}

const revenueOf = (hashrate: number | null, perMegahash: number | null): number | null =>
  hashrate === null || perMegahash === null ? null : (hashrate / 1e6) * perMegahash;

/** The price of a kWh at which the profit is 0. */
const breakEven = (revenuePerDay: number | null, kilowattHours: number | null): number | null =>
  revenuePerDay === null || kilowattHours === null || kilowattHours <= 0 ? null : revenuePerDay / kilowattHours;

export const unknownEarnings = ({ currency, electricity }: Prices): Earnings => ({
  revenuePerDay: null,
  costPerDay: null,
  profitPerDay: null,
  currency,
  revenueBtc: null,
  profitBtc: null,
  electricityPrice: electricity ?? null,
  breakEvenPrice: null,
});

/**
 * The daily earnings of one MH/s. A coin's worth is known in BTC or in USD; the price of a BTC converts between them,
 * and the price of a USD into the display currency.
 */
export function worthOf(
  coin: Coin | undefined,
  { btc, usd, currency }: Prices,
): Record<"money" | "btc", number | null> {
  const inUsd = coin?.profitUsd ?? null;
  const inBtc = coin?.profit ?? null;
  if (inUsd === null) return { money: inBtc === null || btc === undefined ? null : inBtc * btc, btc: inBtc };
  const rate = currency === "USD" ? 1 : usd;
  const money = rate === undefined ? null : inUsd * rate;
  return { money, btc: money === null || btc === undefined ? null : money / btc };
}

const difference = (from: number | null, what: number | null): number | null =>
  from === null || what === null ? null : from - what;
