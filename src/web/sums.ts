import type { MinerStatus } from "../contract/resources.ts";
import type { Row } from "./live.ts";

/** What a set of rigs comes to. Sums are of what is known, and null if nothing of it is. */
export interface Sums {
  readonly count: number;
  readonly byStatus: ReadonlyMap<MinerStatus, number>;
  /** H/s by algorithm, the main one first; null stands for rigs that do not name theirs. */
  readonly hashrates: readonly {
    readonly algorithm: string | null;
    readonly hashrate: number;
    readonly rigs: number;
  }[];
  /** W. */
  readonly power: number | null;
  /** Rigs that hash and whose power is unknown: the sum is too low then. */
  readonly withoutPower: number;
  /** J/H of the first algorithm's rigs whose hash rate and power are known. */
  readonly efficiency: number | null;
  readonly profit: number | null;
  readonly alarms: number;
}

/** Sums of rigs in one pass. Readings that are out of date do not count: nobody knows what those rigs do now. */
export function sumsOf(rows: Iterable<Row>): Sums {
  const byStatus = new Map<MinerStatus, number>();
  const algorithms = new Map<string | null, { hashrate: number; rigs: number; measured: number; power: number }>();
  let [count, power, withPower, withoutPower, profit, withProfit, alarms] = [0, 0, 0, 0, 0, 0, 0];
  for (const row of rows) {
    count += 1;
    byStatus.set(row.status, (byStatus.get(row.status) ?? 0) + 1);
    alarms += row.alarms ?? 0;
    if (row.profit !== null) {
      profit += row.profit;
      withProfit += 1;
    }
    if (row.readAt !== null) continue;
    if (row.power !== null) {
      power += row.power;
      withPower += 1;
    } else if (row.status === "Mining") withoutPower += 1;
    if (row.hashrate === null || row.hashrate === 0) continue;
    const name = row.algorithm ?? null;
    const sum = algorithms.get(name) ?? { hashrate: 0, rigs: 0, measured: 0, power: 0 };
    sum.hashrate += row.hashrate;
    sum.rigs += 1;
    if (row.power !== null) {
      sum.measured += row.hashrate;
      sum.power += row.power;
    }
    algorithms.set(name, sum);
  }
  // The main one is that of most rigs; of equal ones that with the highest hash rate.
  const sorted = [...algorithms].sort(([, one], [, other]) => other.rigs - one.rigs || other.hashrate - one.hashrate);
  const [main] = sorted;
  return {
    count,
    byStatus,
    hashrates: sorted.map(([algorithm, { hashrate, rigs }]) => ({ algorithm, hashrate, rigs })),
    power: withPower === 0 ? null : power,
    withoutPower,
    efficiency: main === undefined || main[1].measured === 0 ? null : main[1].power / main[1].measured,
    profit: withProfit === 0 ? null : profit,
    alarms,
  };
}
