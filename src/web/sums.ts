import { isSummed, type KnownOf, KnownSum } from "../contract/known-of.ts";
import type { MinerStatus } from "../contract/resources.ts";
import type { Row } from "./live.ts";

/** Sums over a set of rigs. They cover known values, and are null if there are none. */
export interface Sums {
  /** Those that should work: all but those in repair, which only `byStatus` includes. */
  readonly count: number;
  readonly mining: number;
  readonly inRepair: number;
  readonly byStatus: ReadonlyMap<MinerStatus, number>;
  /** H/s by algorithm, the main one first; null stands for rigs that do not report theirs. */
  readonly hashrates: readonly {
    readonly algorithm: string | null;
    readonly hashrate: number;
    readonly rigs: number;
  }[];
  /** W; without hashing rigs whose power is unknown. */
  readonly power: KnownOf;
  /** J/H of the first algorithm's rigs with known hash rate and power. */
  readonly efficiency: number | null;
  /** Per day, of the rigs with known revenue and cost. */
  readonly profit: KnownOf;
  readonly alarms: number;
}

/** Sums over rigs in one pass. Outdated readings do not count: what those rigs do now is unknown. */
export function sumsOf(rows: Iterable<Row>): Sums {
  const byStatus = new Map<MinerStatus, number>();
  const algorithms = new Map<string | null, { hashrate: number; rigs: number; measured: number; power: number }>();
  const [power, profit] = [new KnownSum(), new KnownSum()];
  let [count, mining, inRepair, alarms] = [0, 0, 0, 0];
  for (const row of rows) {
    // What the rigs of a site do that cannot be reached is unknown; the page names the site.
    if (row.siteUnreachable !== undefined) continue;
    byStatus.set(row.status, (byStatus.get(row.status) ?? 0) + 1);
    if (row.repair !== null) {
      inRepair += 1;
      continue;
    }
    count += 1;
    if (row.status === "Mining") mining += 1;
    alarms += row.alarms ?? 0;
    profit.add(row.profit, isSummed(row.status));
    if (row.readAt !== null) continue;
    power.add(row.power, row.status === "Mining");
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
  // The main one is that of most rigs; of equal ones, the one with the highest hash rate.
  const sorted = [...algorithms].sort(([, one], [, other]) => other.rigs - one.rigs || other.hashrate - one.hashrate);
  const [main] = sorted;
  return {
    count,
    mining,
    inRepair,
    byStatus,
    hashrates: sorted.map(([algorithm, { hashrate, rigs }]) => ({ algorithm, hashrate, rigs })),
    power,
    efficiency: main === undefined || main[1].measured === 0 ? null : main[1].power / main[1].measured,
    profit,
    alarms,
  };
}
