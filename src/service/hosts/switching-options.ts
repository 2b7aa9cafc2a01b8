import type { Expected } from "./benchmarks.ts";
import type { Option } from "./switching-law.ts";

/** A choice with its figures. */
export interface ChoiceFacts {
  readonly key: string;
  /** The rig's benchmark of it; null if not measured yet. */
  readonly expected: Expected | null;
  /** Money per MH/s and day; null if unknown. */
  readonly worth: number | null;
}

export interface PricedOption extends Option {
  /** H/s. */
  readonly hashrate: number | null;
  /** Money per day for electricity, 0 without a price; null if its price or the power is unknown. */
  readonly knownCost: number | null;
}

/**
 * The earnings and costs of each choice. `electricity`: money per kWh; null if currently unknown, undefined without a
 * price. Without a price, or if no choice has a known power (as with processors), they are compared by revenue, at a
 * cost of 0.
 */
export function pricedOptions(choices: readonly ChoiceFacts[], electricity: number | null | undefined): PricedOption[] {
  const someDraw = choices.some(({ expected }) => expected !== null && expected.power !== null);
  return choices.map(({ key, expected, worth }) => {
    const { hashrate, power } = expected ?? { hashrate: null, power: null };
    const knownCost = electricity === undefined ? 0 : costOf(power, electricity);
    return {
      key,
      hashrate,
      power,
      revenue: hashrate === null || worth === null ? null : (hashrate / 1e6) * worth,
      cost: someDraw ? knownCost : 0,
      knownCost,
    };
  });
}

const costOf = (watts: number | null, electricity: number | null): number | null =>
  watts === null || electricity === null ? null : (watts / 1000) * 24 * electricity;
