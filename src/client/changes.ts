import { unknownReadings } from "../contract/readings.ts";
import { isRecord } from "../contract/record.ts";
import type { Miner } from "../contract/resources.ts";
import { withoutParts } from "../contract/without-parts.ts";
import { emptied } from "./miner-memory.ts";

/** A miner, or its row. */
export type Listed = Pick<Miner, "id" | "uid">;

export const byId = (miners: readonly Miner[]): Map<number, Miner> => new Map(miners.map((miner) => [miner.id, miner]));

/** Fields of a miner or a summary that change by time alone. */
const timeKeys: ReadonlySet<string> = new Set([
  "updated",
  "updatedUtc",
  "secondsSinceStart",
  "statusLine3",
  "at",
  "uptime",
  "metaData",
]);

/** Whether two replies are equal, apart from fields that change by time alone. */
export function sameButTime(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, at) => sameButTime(each, b[at]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) if (!timeKeys.has(key) && !sameButTime(a[key], b[key])) return false;
  return true;
}

/** The changed miners, and the removed ones. */
export function differences<T extends Listed>(
  before: ReadonlyMap<number, T>,
  after: ReadonlyMap<number, T>,
): { readonly changed: T[]; readonly removed: T[] } {
  return {
    changed: [...after.values()].filter((miner) => !sameButTime(before.get(miner.id), miner)),
    removed: [...before.values()].filter(({ id }) => !after.has(id)),
  };
}

/** A miner whose service cannot be reached: it keeps its boards, fans and controls, without values. */
export function outOfReach(miner: Miner, why: string): Miner {
  const { readings } = miner;
  const { boards, fans, controls } = emptied({ ...readings, controls: miner.controls });
  return {
    ...miner,
    temperature: "",
    maxTemperatureValue: 0,
    avgTemperatureValue: 0,
    statusInfo: { statusDisplay: "Disconnected", statusLine3: null, secondsSinceStart: 0 },
    isRunning: false,
    isOffline: true,
    hasValidStatus: false,
    speedInfo: {
      ...miner.speedInfo,
      hashrate: "0 H/s",
      avgHashrate: "0 H/s",
      workUtility: "0",
      hashrateValue: 0,
      avgHashrateValue: 0,
      line2: null,
      line3: null,
    },
    coinInfo: { ...miner.coinInfo, ...noMoney, powerUsageValue: 0, isActualPowerUsage: false },
    ...withoutParts(),
    readings: {
      ...unknownReadings(),
      at: readings.at,
      stale: true,
      energy: readings.energy,
      efficiency: null,
      startedAt: null,
      reason: null,
      boards,
      fans,
      notes: [why],
    },
    controls,
    money: { ...miner.money, revenuePerDay: null, costPerDay: null, profitPerDay: null, breakEvenPrice: null },
    heating: miner.heating && { ...miner.heating, room: null, at: null, demand: null },
  };
}

/** An unreachable miner earns nothing. */
const noMoney = {
  revenuePerDay: "0",
  revenuePerDayValue: 0,
  revenuePerMonth: "0",
  revenuePerDayValueDisplayCurrency: 0,
  revenuePerDayValueBtc: 0,
  profitPerDay: "0",
  profitPerDayValue: 0,
  profitPerMonth: "0",
  profitPerDayValueBtc: 0,
} as const;
