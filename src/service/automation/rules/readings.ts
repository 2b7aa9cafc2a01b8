import { efficiencyOf } from "../../../contract/efficiency.ts";
import type { NumberReading, WordReading } from "../../../contract/rule-conditions.ts";
import type { RigState } from "../../../fleet/state.ts";
import type { Reading } from "../../../link/driver.ts";

/** The reading of a rig if it is current; null while it is stale or missing, so that conditions are unknown. */
export const current = ({ reading, missed }: RigState): Reading | null => (missed === 0 ? reading : null);

/** Values that do not come from the rig: its money, the electricity price, and the pool's values. */
export type OutsideNumber = "revenue" | "cost" | "profit" | "price" | "poolHashrate" | "poolRejected" | "poolBalance";
export type RigNumber = Exclude<NumberReading, OutsideNumber>;

type Read<T> = (reading: Reading, state: RigState) => T | null;

/** Each reading that conditions compare, from the state of a rig; null if unknown. */
export const rigNumbers: Readonly<Record<RigNumber, Read<number>>> = {
  hashrate: ({ readings }) => readings.hashrate,
  hashrateAverage: ({ readings }) => readings.hashrateAverage,
  hashrateExpected: ({ readings }) => readings.hashrateExpected,
  power: ({ readings }) => readings.power,
  powerLimit: ({ readings }) => readings.powerLimit,
  efficiency: ({ readings }, { at, hashingSince }) =>
    efficiencyOf(readings, at === null || hashingSince === null ? null : (at - hashingSince) / 1000),
  energy: (_, { energy }) => energy,
  temperature: ({ readings }) => readings.temperature,
  chipTemperature: ({ readings: { boards } }) => extreme(boards, ({ chipTemperature }) => chipTemperature, Math.max),
  temperatureIn: ({ readings }) => readings.temperatureIn,
  temperatureOut: ({ readings }) => readings.temperatureOut,
  psuTemperature: ({ readings }) => readings.psu?.temperature ?? null,
  fanRpm: ({ readings: { fans } }) => extreme(fans, ({ rpm }) => rpm, Math.min),
  fanPercent: ({ readings: { fans } }) => extreme(fans, ({ percent }) => percent, Math.max),
  boards: ({ readings: { boards } }) =>
    boards.some(({ hashrate }) => hashrate !== null)
      ? boards.filter(({ hashrate }) => (hashrate ?? 0) > 0).length
      : null,
  chips: ({ readings: { boards } }) => sum(boards, ({ chips }) => chips),
  chipsExpected: ({ readings: { boards } }) => sum(boards, ({ chipsExpected }) => chipsExpected),
  uptime: ({ readings }) => readings.uptime,
  bestShare: ({ readings }) => readings.bestShare,
  foundBlocks: ({ readings }) => readings.foundBlocks,
};

export const rigWords: Readonly<Record<WordReading, Read<string | boolean>>> = {
  mode: ({ readings }) => readings.mode,
  algorithm: ({ readings }) => readings.algorithm,
  mining: ({ readings }) => readings.mining,
  locate: ({ readings }) => readings.locate,
};

export const isRigNumber = (name: NumberReading): name is RigNumber => Object.hasOwn(rigNumbers, name);

function extreme<T>(parts: readonly T[], read: (part: T) => number | null, choose: typeof Math.max): number | null {
  let found: number | null = null;
  for (const part of parts) {
    const value = read(part);
    if (value !== null) found = found === null ? value : choose(found, value);
  }
  return found;
}

/** Null if one of them is unknown. */
function sum<T>(parts: readonly T[], read: (part: T) => number | null): number | null {
  if (parts.length === 0) return null;
  let total = 0;
  for (const part of parts) {
    const value = read(part);
    if (value === null) return null;
    total += value;
  }
  return total;
}
