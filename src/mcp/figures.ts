import { hashUnit } from "../contract/hash-unit.ts";
import { formatFor } from "../units/format.ts";

const format = formatFor({ locale: "en-US", currency: "USD" });

/** "73.22 TH/s", in the unit of the algorithm; null is unknown. */
export const hashrateText = (hashrate: number | null | undefined, algorithm?: string | null): string | null =>
  hashrate === null || hashrate === undefined ? null : format.hashrate(hashrate, hashUnit(algorithm));

/** J/H as "17.5 J/TH" for an ASIC, with the prefix that makes it readable. */
export function efficiencyText(joules: number | null | undefined): string | null {
  if (joules === null || joules === undefined) return null;
  const [scale, unit] = scales.find(([each]) => joules * each < 10_000) ?? [1, "H"];
  return `${Number((joules * scale).toPrecision(3))} J/${unit}`;
}

const scales = [
  [1e12, "TH"],
  [1e9, "GH"],
  [1e6, "MH"],
  [1e3, "kH"],
] as const;

/** kWh with three decimals, of Wh. */
export const kilowattHours = (wattHours: number | null | undefined): number | null =>
  wattHours === null || wattHours === undefined ? null : Math.round(wattHours) / 1_000;

/** Four digits: more are noise. */
export const short = (value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : Number(value.toPrecision(4));
