import { isSummed, type KnownOf, KnownSum, uncounted } from "../contract/known-of.ts";
import type { Miner, Summary } from "../contract/resources.ts";

/** Sums over miners in SI units; null where no miner reports the value. All but `miners` leave out those in repair. */
export interface Totals {
  readonly miners: number;
  readonly miners_in_repair: number;
  readonly miners_mining: number;
  readonly miners_offline: number;
  readonly miners_in_error: number;
  /** H/s; also null for several algorithms, whose rates cannot be added. */
  readonly hashrate: number | null;
  /** W */
  readonly power: number | null;
  /** Wh, as the service counts it: the sum over the miners would fall when one leaves. */
  readonly energy: number | null;
  /** °C, of the hottest. */
  readonly temperature: number | null;
  /** Per day. */
  readonly revenue: number | null;
  /** Of the miners whose revenue and cost are known. */
  readonly profit: number | null;
  /** Miners that the profit leaves out, since their revenue or cost is unknown. */
  readonly miners_without_profit: number;
}

/** The energy counters of a service; absent if it does not count. */
export type Energies = Pick<Summary, "energy" | "groupList">;

/** Wh of a group, or of all miners for null; null if unknown. */
export const energyIn = ({ energy = null, groupList = [] }: Energies, groupId: number | null): number | null =>
  groupId === null ? energy : (groupList.find(({ id }) => id === groupId)?.energy ?? null);

/** `energy`: as the service counts it. */
export function totalsOf(all: readonly Miner[], energy: number | null): Totals {
  const miners = all.filter(({ repair = null }) => repair === null);
  const profit = sum(miners, ({ money }) => money.profitPerDay);
  return {
    miners: all.length,
    miners_in_repair: all.length - miners.length,
    miners_mining: miners.filter(({ isRunning }) => isRunning).length,
    miners_offline: miners.filter(({ isOffline }) => isOffline).length,
    miners_in_error: miners.filter(({ statusInfo }) => statusInfo.statusDisplay === "Error").length,
    hashrate: isOneAlgorithm(miners) ? sum(miners, ({ readings }) => readings.hashrate).value : null,
    power: sum(miners, ({ readings }) => readings.power).value,
    energy,
    temperature: hottest(miners),
    revenue: sum(miners, ({ money }) => money.revenuePerDay).value,
    profit: profit.value,
    miners_without_profit: uncounted(profit),
  };
}

const isOneAlgorithm = (miners: readonly Miner[]): boolean =>
  new Set(miners.map(({ readings }) => readings.algorithm).filter((algorithm) => algorithm !== null)).size <= 1;

function sum(miners: readonly Miner[], read: (miner: Miner) => number | null): KnownOf {
  const sum = new KnownSum();
  for (const miner of miners) sum.add(read(miner), isSummed(miner.statusInfo.statusDisplay));
  const { value, known, total } = sum;
  return { value: value === null ? null : rounded(value), known, total };
}

const hottest = (miners: readonly Miner[]): number | null => {
  const values = miners.map(({ readings }) => readings.temperature).filter((value) => value !== null);
  return values.length === 0 ? null : values.reduce((most, value) => Math.max(most, value));
};

/** Keeps the digits of a counter; further ones are noise of binary fractions. */
const rounded = (value: number): number => Number(value.toPrecision(12));
