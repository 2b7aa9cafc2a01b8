import type { Miner } from "../contract/resources.ts";
import type { DisplayUnit, MinerState } from "./miner-state.ts";

/** A group, or the whole farm, as flat JSON: sums over its miners, null for what no miner says. */
export function groupState(name: string, miners: readonly Miner[], display: DisplayUnit | null): MinerState {
  const mining = miners.filter(({ isRunning }) => isRunning).length;
  const hashrate = isOneAlgorithm(miners) ? sum(miners, ({ readings }) => readings.hashrate) : null;
  const energy = sum(miners, ({ readings }) => readings.energy);
  return {
    name,
    mining: isMining(miners) ? "ON" : "OFF",
    miners: miners.length,
    miners_mining: mining,
    miners_offline: miners.filter(({ isOffline }) => isOffline).length,
    miners_in_error: miners.filter(({ statusInfo }) => statusInfo.statusDisplay === "Error").length,
    hashrate,
    hashrate_display: hashrate === null || display === null ? null : rounded(hashrate / display.size),
    power: sum(miners, ({ readings }) => readings.power),
    energy,
    energy_kwh: energy === null ? null : rounded(energy / 1000),
    temperature: hottest(miners),
    revenue: money(miners, ({ coinInfo }) => coinInfo.revenuePerDayValue),
    profit: money(miners, ({ coinInfo }) => coinInfo.profitPerDayValue),
  };
}

/** What a switch shows: of the miners that can be switched, since others would keep it on for ever. */
function isMining(miners: readonly Miner[]): boolean {
  const switched = miners.filter(({ controls }) => controls.some(({ key }) => key === "mining"));
  return (switched.length > 0 ? switched : miners).some(({ isRunning }) => isRunning);
}

/** Rates of different algorithms do not add up. */
const isOneAlgorithm = (miners: readonly Miner[]): boolean =>
  new Set(miners.map(({ readings }) => readings.algorithm).filter((algorithm) => algorithm !== null)).size <= 1;

function sum(miners: readonly Miner[], read: (miner: Miner) => number | null): number | null {
  const known = miners.map(read).filter((value) => value !== null);
  return known.length === 0 ? null : rounded(known.reduce((total, value) => total + value, 0));
}

/** Money that nobody knows is 0 in the documented fields; without a revenue the profit is not known either. */
const money = (miners: readonly Miner[], read: (miner: Miner) => number): number | null =>
  sum(miners, (miner) => (miner.coinInfo.revenuePerDayValue === 0 ? null : read(miner)));

const hottest = (miners: readonly Miner[]): number | null => {
  const known = miners.map(({ readings }) => readings.temperature).filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((most, value) => Math.max(most, value));
};

/** Sums keep what a counter counts; the rest is noise of binary fractions. */
const rounded = (value: number): number => Number(value.toPrecision(12));
