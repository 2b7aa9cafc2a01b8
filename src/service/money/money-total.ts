import type { MoneyTotal } from "../../contract/resources.ts";
import type { Earnings } from "./earnings.ts";

type Amounts = Omit<MoneyTotal, "currency">;
type Amount = keyof Amounts;

const amounts: Readonly<Record<Amount, (earnings: Earnings) => number | null>> = {
  revenuePerDay: (each) => each.revenuePerDay,
  costPerDay: (each) => each.costPerDay,
  profitPerDay: (each) => each.profitPerDay,
  revenueBtcPerDay: (each) => each.revenueBtc,
  profitBtcPerDay: (each) => each.profitBtc,
};
const names: readonly Amount[] = ["revenuePerDay", "costPerDay", "profitPerDay", "revenueBtcPerDay", "profitBtcPerDay"];

/** Sums of what is known of many miners; null while nothing of it is known. */
export class MoneySum {
  readonly #sums: Record<Amount, number | null> = {
    ...{ revenuePerDay: null, costPerDay: null, profitPerDay: null, revenueBtcPerDay: null, profitBtcPerDay: null },
  };

  add(earnings: Earnings): void {
    for (const name of names) this.#plus(name, amounts[name](earnings));
  }

  addSum(other: MoneySum): void {
    for (const name of names) this.#plus(name, other.#sums[name]);
  }

  total(currency: string): MoneyTotal {
    return { ...this.#sums, currency };
  }

  #plus(name: Amount, value: number | null): void {
    if (value !== null) this.#sums[name] = (this.#sums[name] ?? 0) + value;
  }
}
