import type { Miner, Summary } from "../contract/resources.ts";

/** Sums over miners in SI units; null where no miner reports the value. */
export interface Totals {
  readonly miners: number;
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
  readonly profit: number | null;
}

/** The energy counters of a service; absent if it does not count. */
export type Energies = Pick<Summary, "energy" | "groupList">;

/** Wh of a group, or of all miners for null; null if unknown. */
export const energyIn = ({ energy = null, groupList = [] }: Energies, groupId: number | null): number | null =>
  groupId === null ? energy : (groupList.find(({ id }) => id === groupId)?.energy ?? null);

/** `energy`: as the service counts it. */
export function totalsOf(miners: readonly Miner[], energy: number | null): Totals {
  return {
    miners: miners.length,
    miners_mining: miners.filter(({ isRunning }) => isRunning).length,
    miners_offline: miners.filter(({ isOffline }) => isOffline).length,
    miners_in_error: miners.filter(({ statusInfo }) => statusInfo.statusDisplay === "Error").length,
    hashrate: isOneAlgorithm(miners) ? sum(miners, ({ readings }) => readings.hashrate) : null,
    power: sum(miners, ({ readings }) => readings.power),
    energy,
    temperature: hottest(miners),
    revenue: sum(miners, ({ money }) => money.revenuePerDay),
    profit: sum(miners, ({ money }) => money.profitPerDay),
  };
}

const isOneAlgorithm = (miners: readonly Miner[]): boolean =>
  new Set(miners.map(({ readings }) => readings.algorithm).filter((algorithm) => algorithm !== null)).size <= 1;

function sum(miners: readonly Miner[], read: (miner: Miner) => number | null): number | null {
  const values = miners.map(read).filter((value) => value !== null);
  return values.length === 0 ? null : rounded(values.reduce((total, value) => total + value, 0));
}

const hottest = (miners: readonly Miner[]): number | null => {
  const values = miners.map(({ readings }) => readings.temperature).filter((value) => value !== null);
  return values.length === 0 ? null : values.reduce((most, value) => Math.max(most, value));
};

/** Keeps the digits of a counter; further ones are noise of binary fractions. */
const rounded = (value: number): number => Number(value.toPrecision(12));
