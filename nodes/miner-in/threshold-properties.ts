import { type Miner, type Property, type PropertyKey, type PropertyKind, partsOf, properties } from "rigbridge";
import type { Value } from "./threshold.ts";

/** What a limit may be counted in, and how many of the property's own units one of it is; the usual one first. */
type Units = Readonly<Record<string, number>>;

/** Kinds of which there is more or less; null: not to be judged by a limit. */
const unitsOfKind = {
  hashrate: { "TH/s": 1e12, "GH/s": 1e9, "MH/s": 1e6, "kH/s": 1e3, "H/s": 1, "PH/s": 1e15 },
  power: { W: 1, kW: 1e3 },
  energy: { kWh: 1e3, Wh: 1 },
  efficiency: { "J/TH": 1e-12, "J/GH": 1e-9, "J/MH": 1e-6, "J/kH": 1e-3 },
  temperature: { "°C": 1 },
  speed: { rpm: 1 },
  percent: { "%": 1 },
  frequency: { MHz: 1 },
  voltage: { mV: 1 },
  count: { "": 1 },
  money: { "": 1 },
  time: null,
  status: null,
  text: null,
  switch: null,
  trigger: null,
} as const satisfies Record<PropertyKind, Units | null>;

/** What the limit is counted in: a figure as it is, or per cent of another figure of the same miner. */
export const bases = ["value", "expected", "average"] as const;
export type Basis = (typeof bases)[number];

const baseProperties = { expected: "hashrate_expected", average: "hashrate_average" } as const satisfies Record<
  Exclude<Basis, "value">,
  PropertyKey
>;

/** A property that can be judged by a limit, as the editor offers it. */
export interface ThresholdProperty {
  readonly key: PropertyKey;
  readonly units: readonly string[];
  readonly bases: readonly Basis[];
}

/** The table of properties, without those of which there is no more or less. */
export const thresholdProperties: readonly ThresholdProperty[] = Object.keys(properties)
  .filter((key) => isPropertyKey(key))
  .flatMap((key) => {
    const units = unitsFor(key);
    return units === null ? [] : [{ key, units: Object.keys(units), bases: bases.filter((basis) => fits(key, basis)) }];
  });

function isPropertyKey(key: string): key is PropertyKey {
  return Object.hasOwn(properties, key);
}

/** By its name; undefined for a name that is none, or that cannot be judged. */
export const thresholdPropertyNamed = (name: string): ThresholdProperty | undefined =>
  thresholdProperties.find(({ key }) => key === name);

function unitsFor(key: PropertyKey): Units | null {
  const { kind, unit }: Property = properties[key];
  // A share of 1 is entered as per cent.
  return kind === "percent" && unit === "1" ? { "%": 0.01 } : unitsOfKind[kind];
}

function fits(key: PropertyKey, basis: Basis): boolean {
  if (basis === "value") return true;
  return key === "hashrate" || (key === "hashrate_average" && basis === "expected");
}

/** What is judged of each miner. */
export interface Measure {
  readonly key: PropertyKey;
  readonly basis: Basis;
  /** As in `units` of the property; with another basis than `value` it is per cent. */
  readonly unit: string;
}

/**
 * The figure of a miner that is judged: of boards and fans the one that is furthest beyond. A miner that was stopped or
 * disabled has no hash rate that could be too low.
 */
export function measured(miner: Miner, { key, basis, unit }: Measure, is: "below" | "above"): Value {
  const { kind, read }: Property = properties[key];
  if ((kind === "hashrate" || kind === "efficiency") && isOff(miner)) return "unknown";
  const figures = partsOf(miner, key)
    .map((part) => read(miner, part))
    .filter((value) => typeof value === "number");
  if (figures.length === 0) return "unknown";
  const one = basis === "value" ? (unitsFor(key)?.[unit] ?? 1) : baseOf(miner, basis);
  if (one === null) return "unknown";
  const furthest = figures.reduce((most, each) => (is === "below" ? Math.min(most, each) : Math.max(most, each)));
  return miner.readings.stale ? "stale" : furthest / one;
}

/** One per cent of it; null where it is not known, or nothing. */
function baseOf(miner: Miner, basis: Exclude<Basis, "value">): number | null {
  const { read }: Property = properties[baseProperties[basis]];
  const base = read(miner, 0);
  return typeof base === "number" && base > 0 ? base / 100 : null;
}

const isOff = ({ statusInfo: { statusDisplay } }: Miner): boolean =>
  statusDisplay === "Stopped" || statusDisplay === "Disabled";
