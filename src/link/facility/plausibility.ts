import { type FacilityQuantity, facilityQuantities } from "../../contract/facility-settings.ts";
import type { FacilityLink, Measured, RawReading } from "./facility-link.ts";

/** Values of a device in W, kWh, V, A and °C; null: unknown. */
export type FacilityValues = Readonly<Record<FacilityQuantity, number | null>>;

export const unknownValues: FacilityValues = {
  power: null,
  energy: null,
  voltage: null,
  current: null,
  temperature: null,
};

/** What earlier reads of a device say about the next one. */
export interface JudgedPast {
  /** The last believed value of each quantity. */
  readonly believed: FacilityValues;
  /** The last energy that differed from the one before, and the kWh that its power has said since. */
  readonly counter: { readonly energy: number; readonly expected: number } | null;
  /** Epoch ms of the last read; null before the first. */
  readonly at: number | null;
}

export const noPast: JudgedPast = { believed: unknownValues, counter: null, at: null };

export interface Judgement {
  readonly values: FacilityValues;
  /** Why values are not believed, one sentence each; they are null. */
  readonly implausible: readonly string[];
  readonly past: JudgedPast;
}

const units: Readonly<Record<FacilityQuantity, string>> = {
  power: "W",
  energy: "kWh",
  voltage: "V",
  current: "A",
  temperature: "°C",
};

/** Below these, values jump by any factor when something starts or stops. */
const jumpFloors: FacilityValues = { power: 10, energy: 0.1, voltage: 1, current: 0.1, temperature: null };
/** A change by more than this factor is a change of the byte order, not of the load. */
const jumpFactor = 1000;
/** No meter resolves so little: floats in another byte order do. */
const tiniest = 1e-6;
/** A counter that stands still while its power has said so many kWh is frozen. */
const frozenAfterKwh = 2;
/** Two reads that are further apart say nothing about the energy between them, in ms. */
const longestGapMs = 300_000;

/** Which values of a read can be believed, and why not the others. Pure. */
export function judge(
  { values }: Pick<RawReading, "values">,
  ranges: FacilityLink["ranges"],
  past: JudgedPast,
  at: number,
): Judgement {
  const implausible: string[] = [];
  const readings: Record<FacilityQuantity, number | null> = { ...unknownValues };
  for (const quantity of facilityQuantities) {
    const measured = values.get(quantity);
    const why = measured === undefined ? null : flawOf(quantity, measured, ranges, past.believed[quantity]);
    if (why !== null) implausible.push(`${quantity} ${why}`);
    else if (measured !== undefined && "value" in measured) readings[quantity] = measured.value;
  }
  const numbers = [...values.values()].flatMap((measured) => ("value" in measured ? [measured.value] : []));
  if (numbers.length > 1 && numbers.every((number) => number === 0))
    return { values: unknownValues, implausible: ["all its registers are 0"], past: { ...past, at } };
  const counter = counterAfter(readings, past, at);
  if (counter !== null && counter.expected > frozenAfterKwh) {
    implausible.push(
      `energy has stayed at ${counter.energy} kWh while its power says ${counter.expected.toFixed(1)} kWh: it is frozen`,
    );
    return { values: unknownValues, implausible, past: { ...past, counter, at } };
  }
  const believed = (quantity: FacilityQuantity): number | null => readings[quantity] ?? past.believed[quantity];
  return {
    values: readings,
    implausible,
    past: {
      believed: {
        power: believed("power"),
        energy: believed("energy"),
        voltage: believed("voltage"),
        current: believed("current"),
        temperature: believed("temperature"),
      },
      counter,
      at,
    },
  };
}

function flawOf(
  quantity: FacilityQuantity,
  measured: Measured,
  ranges: FacilityLink["ranges"],
  before: number | null,
): string | null {
  if ("problem" in measured) return measured.problem;
  const { value } = measured;
  const unit = units[quantity];
  if (quantity === "energy" && value < 0) return `is negative: ${value} kWh`;
  const { min, max } = ranges[quantity];
  if (value < min || value > max) return `is ${shortened(value)} ${unit}, outside ${min} to ${max}`;
  if (value !== 0 && Math.abs(value) < tiniest) return `is ${shortened(value)} ${unit}, too little to be measured`;
  const floor = jumpFloors[quantity];
  if (before === null || floor === null) return null;
  const [low, high] = [Math.abs(before), Math.abs(value)].toSorted((a, b) => a - b);
  if (low === undefined || high === undefined || low < floor || high <= low * jumpFactor) return null;
  return `jumped from ${shortened(before)} to ${shortened(value)} ${unit}; has its byte order changed?`;
}

const shortened = (value: number): string => String(Number(value.toPrecision(6)));

/** The counter after this read, with the energy that its power says since it last moved. */
function counterAfter({ energy, power }: FacilityValues, past: JudgedPast, at: number): JudgedPast["counter"] {
  if (energy === null) return past.counter;
  if (past.counter === null || energy !== past.counter.energy) return { energy, expected: 0 };
  const elapsed = past.at === null ? 0 : at - past.at;
  if (power === null || power <= 0 || elapsed <= 0 || elapsed > longestGapMs) return past.counter;
  return { energy, expected: past.counter.expected + (power / 1000) * (elapsed / 3_600_000) };
}
