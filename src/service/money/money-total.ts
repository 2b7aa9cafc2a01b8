import { KnownSum } from "../../contract/known-of.ts";
import type { MoneyTotal } from "../../contract/resources.ts";
import type { Earnings } from "./earnings.ts";

/** A miner's share of sums. */
interface Summed {
  readonly earnings: Earnings;
  /** Whether it counts although nothing is known about it. */
  readonly isExpected: boolean;
  /** Whether its power comes from a nameplate. */
  readonly isEstimated: boolean;
}

/** Sums over miners. The profit covers only miners whose revenue and cost are both known. */
export class MoneySum {
  #count = 0;
  readonly #revenue = new KnownSum();
  readonly #cost = new KnownSum();
  readonly #profit = new KnownSum();
  readonly #revenueBtc = new KnownSum();
  readonly #profitBtc = new KnownSum();
  /** Revenue of the miners in the profit. */
  readonly #profitRevenue = new KnownSum();
  readonly #profitCost = new KnownSum();
  #estimated = 0;

  add({ earnings, isExpected, isEstimated }: Summed): void {
    const { revenuePerDay, costPerDay, profitPerDay, revenueBtc, profitBtc } = earnings;
    if (!isExpected && profitPerDay === null && !revenuePerDay && !costPerDay) return;
    this.#count += 1;
    this.#revenue.add(revenuePerDay);
    this.#cost.add(costPerDay);
    this.#profit.add(profitPerDay);
    this.#revenueBtc.add(revenueBtc);
    this.#profitBtc.add(profitBtc);
    if (profitPerDay === null) return;
    this.#profitRevenue.add(revenuePerDay);
    this.#profitCost.add(costPerDay);
    this.#estimated += isEstimated ? 1 : 0;
  }

  addSum(other: MoneySum): void {
    this.#count += other.#count;
    this.#revenue.addSum(other.#revenue);
    this.#cost.addSum(other.#cost);
    this.#profit.addSum(other.#profit);
    this.#revenueBtc.addSum(other.#revenueBtc);
    this.#profitBtc.addSum(other.#profitBtc);
    this.#profitRevenue.addSum(other.#profitRevenue);
    this.#profitCost.addSum(other.#profitCost);
    this.#estimated += other.#estimated;
  }

  /** Whether the revenue of any miner is known. */
  get isEarning(): boolean {
    return this.#revenue.known > 0;
  }

  total(currency: string): MoneyTotal {
    return {
      revenuePerDay: this.#revenue.value,
      costPerDay: this.#cost.value,
      profitPerDay: this.#profit.value,
      revenueBtcPerDay: this.#revenueBtc.value,
      profitBtcPerDay: this.#profitBtc.value,
      currency,
      minerCount: this.#count,
      revenueMinerCount: this.#revenue.known,
      costMinerCount: this.#cost.known,
      profitMinerCount: this.#profit.known,
      profitRevenuePerDay: this.#profitRevenue.value,
      profitCostPerDay: this.#profitCost.value,
      estimatedMinerCount: this.#estimated,
    };
  }
}
