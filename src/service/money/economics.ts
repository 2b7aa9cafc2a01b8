import type { Coin } from "./coins.ts";
import { type PricesFor, worthOf } from "./earnings.ts";
import type { Tariffs } from "./tariffs.ts";

/** A power setting of a rig with a known hash rate. */
export interface Rung {
  /** The value of `power_target`, W; 0: stopped. */
  readonly watts: number;
  /** Measured W. */
  readonly draw: number;
  /** H/s */
  readonly hashrate: number;
}

/** Inputs for choosing the best setting of a miner. */
export interface BestInput {
  /** Known settings; others are never chosen. */
  readonly rungs: readonly Rung[];
  /** W of its present setting, null if unknown. */
  readonly present: number | null;
  readonly coin: Coin | undefined;
}

export interface BestSetting {
  readonly watts: number;
  readonly profitPerDay: number | null;
}

/** Values for conditions and steps of rules. */
export interface Economics {
  /** Money per kWh at a moment; null if it is unknown or no price is set. */
  priceAt(minerId: number, epochMs: number): number | null;
  profitPerDay(minerId: number): number | null;
  /** The setting with the highest present profit; null if unknown. */
  best(minerId: number): BestSetting | null;
}

export interface EconomicsOptions {
  readonly tariffs: Pick<Tariffs, "ofMiner">;
  readonly prices: PricesFor;
  readonly profitOf: (minerId: number) => number | null;
  /** Undefined for a miner whose power cannot be controlled. */
  readonly bestInputOf: (minerId: number) => BestInput | undefined;
}

export const economicsOf = ({ tariffs, prices, profitOf, bestInputOf }: EconomicsOptions): Economics => ({
  priceAt: (minerId, epochMs) => tariffs.ofMiner(minerId)?.at(epochMs).price ?? null,
  profitPerDay: profitOf,
  best: (minerId) => {
    const input = bestInputOf(minerId);
    if (input === undefined) return null;
    const now = prices(minerId);
    const perMegahash = worthOf(input.coin, now).money;
    const { electricity = 0 } = now;
    return perMegahash === null || electricity === null ? null : bestOf(input, perMegahash, electricity);
  },
});

/** Share of the highest amount by which another setting must be better: a change wears the rig. */
const worthwhile = 0.02;

/**
 * The rung with the highest profit: hash rate × worth − draw × price. The present one stays unless another is clearly
 * better. `perMegahash`: money per MH/s and day; `electricity`: money per kWh.
 */
export function bestOf({ rungs, present }: BestInput, perMegahash: number, electricity: number): BestSetting | null {
  const judged = rungs.map(({ watts, draw, hashrate }) => ({
    watts,
    profitPerDay: (hashrate / 1e6) * perMegahash - (draw / 1000) * 24 * electricity,
    size: (hashrate / 1e6) * perMegahash,
  }));
  const [first, ...rest] = judged;
  if (first === undefined) return null;
  const best = rest.reduce((one, other) => (other.profitPerDay > one.profitPerDay ? other : one), first);
  const now = judged.find(({ watts }) => watts === present);
  const margin = worthwhile * Math.max(...judged.map(({ size }) => size));
  const { watts, profitPerDay } = now !== undefined && best.profitPerDay - now.profitPerDay <= margin ? now : best;
  return { watts, profitPerDay };
}
