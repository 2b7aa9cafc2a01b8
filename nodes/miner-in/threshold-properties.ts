import { type Miner, type Property, type PropertyKey, partsOf, properties } from "rigbridge";
import { limitUnits, propertyKeys } from "../shared/node-properties.ts";
import type { Value } from "./threshold.ts";

/** What a limit is relative to: nothing, or another property of the same miner, in per cent. */
export const bases = ["value", "expected", "average"] as const;
export type Basis = (typeof bases)[number];

const baseProperties = { expected: "hashrate_expected", average: "hashrate_average" } as const satisfies Record<
  Exclude<Basis, "value">,
  PropertyKey
>;

/** A property that can have a limit, as the editor offers it. */
export interface ThresholdProperty {
  readonly key: PropertyKey;
  readonly units: readonly string[];
  readonly bases: readonly Basis[];
}

export const thresholdProperties: readonly ThresholdProperty[] = propertyKeys.flatMap((key) => {
  const units = limitUnits(key);
  return units === null ? [] : [{ key, units: Object.keys(units), bases: bases.filter((basis) => fits(key, basis)) }];
});

/** undefined if the name is unknown, or the property cannot have a limit. */
export const thresholdPropertyNamed = (name: string): ThresholdProperty | undefined =>
  thresholdProperties.find(({ key }) => key === name);

function fits(key: PropertyKey, basis: Basis): boolean {
  if (basis === "value") return true;
  return key === "hashrate" || (key === "hashrate_average" && basis === "expected");
}

/** The value that is compared with the limit. */
export interface Measure {
  readonly key: PropertyKey;
  readonly basis: Basis;
  /** One of the property's `units`; per cent for a basis other than `value`. */
  readonly unit: string;
}

/** The value of a miner in the limit's unit; of boards and fans, the worst. A stopped miner has no hash rate. */
export function measure(miner: Miner, { key, basis, unit }: Measure, is: "below" | "above"): Value {
  const { kind, read }: Property = properties[key];
  if ((kind === "hashrate" || kind === "efficiency") && isOff(miner)) return "unknown";
  const values = partsOf(miner, key)
    .map((part) => read(miner, part))
    .filter((value) => typeof value === "number");
  if (values.length === 0) return "unknown";
  const one = basis === "value" ? (limitUnits(key)?.[unit] ?? 1) : percentOf(miner, basis);
  if (one === null) return "unknown";
  const worst = values.reduce((most, each) => (is === "below" ? Math.min(most, each) : Math.max(most, each)));
  return miner.readings.stale ? "stale" : worst / one;
}

/** One per cent of the base; null if that is unknown or 0. */
function percentOf(miner: Miner, basis: Exclude<Basis, "value">): number | null {
  const { read }: Property = properties[baseProperties[basis]];
  const base = read(miner, 0);
  return typeof base === "number" && base > 0 ? base / 100 : null;
}

const isOff = ({ statusInfo: { statusDisplay } }: Miner): boolean =>
  statusDisplay === "Stopped" || statusDisplay === "Disabled";
