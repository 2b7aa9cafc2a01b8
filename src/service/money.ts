import type { Coin } from "./coins.ts";

/** What a rig earns and costs in a day. */
export interface Earnings {
  /** In the display currency; 0 without a rate or profitability. */
  readonly revenue: number;
  readonly revenueBtc: number;
  /** Revenue less electricity, where a price of it is set. */
  readonly profit: number;
  readonly profitBtc: number;
}

/** Prices as configured; undefined where none is set. */
export interface Prices {
  readonly currency: string;
  /** Money per BTC. */
  readonly btc?: number | undefined;
  /** Money per kWh. */
  readonly electricity?: number | undefined;
}

/** Days in a month, as every recorded sample of the reference product has it. */
export const daysPerMonth = 30.3;

/** A coin's worth is known in BTC or in USD; each becomes the other through the price of a BTC, where that is in USD. */
export function earningsOf(hashrate: number, power: number | null, coin: Coin | undefined, prices: Prices): Earnings {
  const megahashes = hashrate / 1e6;
  const { btc, electricity, currency } = prices;
  const usd = coin?.profitUsd ?? null;
  const fromUsd = currency === "USD" && usd !== null ? megahashes * usd : 0;
  const revenueBtc = usd === null ? megahashes * (coin?.profit ?? 0) : btc === undefined ? 0 : fromUsd / btc;
  const revenue = usd === null ? revenueBtc * (btc ?? 0) : fromUsd;
  const cost = electricity === undefined ? 0 : ((power ?? 0) / 1000) * 24 * electricity;
  const profit = revenue - cost;
  return { revenue, revenueBtc, profit, profitBtc: btc === undefined ? revenueBtc : profit / btc };
}
