import { allMiners, type FarmMoment } from "../../store/index.ts";
import type { MinerFigures, MinerWork } from "../miners/present-miner.ts";
import { plus } from "./farm-history.ts";

/** What the sums need of a miner's figures. */
export interface SummedFigures extends Pick<MinerFigures, "running"> {
  readonly earnings: Pick<MinerFigures["earnings"], "revenuePerDay" | "costPerDay" | "profitPerDay">;
  /** One entry for each algorithm that it mines at once. */
  readonly works: readonly Pick<MinerWork, "algorithmKey" | "hashrate">[];
}

/** The sums of the farm and of each group at one moment. */
export class FarmSums {
  readonly #groups = new Map<number, GroupSums>();

  /** `groups`: its group and those around it, and the series of its places. `power`: W. Without figures the miner only counts. */
  add(groups: readonly number[], power: number | null, figures: SummedFigures | undefined): void {
    for (const id of [allMiners, ...groups]) {
      const sums = this.#groups.get(id) ?? new GroupSums();
      this.#groups.set(id, sums);
      sums.add(power, figures);
    }
  }

  /** `time`: epoch ms. */
  at(time: number, currency: string): FarmMoment {
    const groups = [...this.#groups];
    return {
      currency,
      samples: groups.map(([groupId, { power, mining, total, revenue, cost, profit }]) => {
        return { groupId, time, power, mining, total, revenue, cost, profit };
      }),
      hashrates: groups.flatMap(([groupId, { algorithms }]) =>
        [...algorithms].map(([algorithm, work]) => ({ groupId, time, algorithm, ...work })),
      ),
    };
  }
}

class GroupSums {
  power: number | null = null;
  revenue: number | null = null;
  cost: number | null = null;
  profit: number | null = null;
  mining = 0;
  total = 0;
  readonly algorithms = new Map<string, { hashrate: number; miners: number }>();

  add(power: number | null, figures: SummedFigures | undefined): void {
    this.total += 1;
    this.power = plus(this.power, power);
    if (figures === undefined) return;
    const { revenuePerDay, costPerDay, profitPerDay } = figures.earnings;
    this.revenue = plus(this.revenue, revenuePerDay);
    this.cost = plus(this.cost, costPerDay);
    this.profit = plus(this.profit, profitPerDay);
    if (!figures.running) return;
    this.mining += 1;
    for (const { algorithmKey, hashrate } of figures.works) {
      if (algorithmKey === "") continue;
      const work = this.algorithms.get(algorithmKey) ?? { hashrate: 0, miners: 0 };
      this.algorithms.set(algorithmKey, work);
      work.hashrate += hashrate;
      work.miners += 1;
    }
  }
}
