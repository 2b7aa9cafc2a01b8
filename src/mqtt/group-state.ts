import type { Miner } from "../contract/resources.ts";
import { totalsOf } from "../farm/index.ts";
import type { DisplayUnit, MinerState } from "./miner-state.ts";

/** A group or the whole farm as flat JSON: sums over its miners, null where no miner reports the value. */
export function groupState(name: string, miners: readonly Miner[], display: DisplayUnit | null): MinerState {
  const totals = totalsOf(miners);
  const { hashrate, energy } = totals;
  return {
    name,
    mining: isMining(miners) ? "ON" : "OFF",
    ...totals,
    hashrate_display: hashrate === null || display === null ? null : rounded(hashrate / display.size),
    energy_kwh: energy === null ? null : rounded(energy / 1000),
  };
}

/** Counts only miners that can be switched, if there are any: others would keep the switch on for ever. */
function isMining(miners: readonly Miner[]): boolean {
  const switched = miners.filter(({ controls }) => controls.some(({ key }) => key === "mining"));
  return (switched.length > 0 ? switched : miners).some(({ isRunning }) => isRunning);
}

/** Further digits are noise of binary fractions. */
const rounded = (value: number): number => Number(value.toPrecision(12));
