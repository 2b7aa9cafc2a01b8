import type { Money } from "../../contract/resources.ts";
import type { Coin } from "./coins.ts";

/** What a rig earns and costs in a day, in the display currency; null is unknown. */
export interface Earnings extends Money {
  readonly revenueBtc: number | null;
  readonly profitBtc: number | null;
}

/** Prices as configured; undefined where none is set. */
export interface Prices {
  readonly currency: string;
  /** Money per BTC. */
  readonly btc?: number | undefined;
  /** Money per kWh. */
  readonly electricity?: number | undefined;
}

/** Days in a month, as in every recorded sample of Awesome Miner. */
export const daysPerMonth = 30.3;

/** The figures of a rig from which its earnings follow. */
export interface Earning {
  /** H/s */
  readonly hashrate: number | null;
  /** W */
  readonly power: number | null;
  readonly coin: Coin | undefined;
}

/**
 * Without a coin whose price is known in the currency the revenue is unknown. Electricity without a price costs nothing;
 * with one, the cost of a rig with unknown power is unknown. The profit is unknown if either is.
 */
export function earningsOf({ hashrate, power, coin }: Earning, prices: Prices): Earnings {
  const { btc, electricity, currency } = prices;
  const worth = worthOf(coin, prices);
  const earned = (perMegahash: number | null): number | null =>
    hashrate === null || perMegahash === null ? null : (hashrate / 1e6) * perMegahash;
  const revenuePerDay = earned(worth.money);
  const revenueBtc = earned(worth.btc);
  const costPerDay = electricity === undefined ? 0 : power === null ? null : (power / 1000) * 24 * electricity;
  const profitPerDay = difference(revenuePerDay, costPerDay);
  const costBtc = costPerDay === 0 ? 0 : costPerDay === null || btc === undefined ? null : costPerDay / btc;
  return { revenuePerDay, costPerDay, profitPerDay, currency, revenueBtc, profitBtc: difference(revenueBtc, costBtc) };
}

export const unknownEarnings = ({ currency }: Prices): Earnings => ({
  revenuePerDay: null,
  costPerDay: null,
  profitPerDay: null,
  currency,
  revenueBtc: null,
  profitBtc: null,
});

/**
 * Per MH/s and day. A coin's worth is known in BTC or in USD; each becomes the other through the price of a BTC, where
 * that is in USD.
 */
function worthOf(coin: Coin | undefined, { btc: rate, currency }: Prices): Record<"money" | "btc", number | null> {
  const usd = coin?.profitUsd ?? null;
  const btc = coin?.profit ?? null;
  if (usd === null) return { money: btc === null || rate === undefined ? null : btc * rate, btc };
  if (currency !== "USD") return { money: null, btc: null };
  return { money: usd, btc: rate === undefined ? null : usd / rate };
}

const difference = (from: number | null, what: number | null): number | null =>
  from === null || what === null ? null : from - what;
