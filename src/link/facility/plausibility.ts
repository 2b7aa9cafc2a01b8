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

interface Jump {
  readonly value: number;
  readonly reads: number;
}

const noJumps = { power: null, energy: null, voltage: null, current: null, temperature: null } as const;

/** What earlier reads of a device say about the next one. */
export interface JudgedPast {
  /** The last believed value of each quantity. */
  readonly believed: FacilityValues;
  /** The values that have jumped, with the number of consistent reads; null: it has not. */
  readonly jumped: Readonly<Record<FacilityQuantity, Jump | null>>;
  /** The last energy that differed from the one before, and the kWh that its power has said since. */
  readonly counter: { readonly energy: number; readonly expected: number } | null;
  /** Epoch ms of the last read; null before the first. */
  readonly at: number | null;
}

export const noPast: JudgedPast = { believed: unknownValues, jumped: noJumps, counter: null, at: null };

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
/** A change by more than this factor may be one of the byte order. */
const jumpFactor = 1000;
/** A load may jump as far, so this many reads in a row that differ by less than this factor are believed. */
const consistentReads = 3;
const consistentFactor = 2;
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
  const jumped: Record<FacilityQuantity, Jump | null> = { ...noJumps };
  for (const quantity of facilityQuantities) {
    const measured = values.get(quantity);
    if (measured === undefined) continue;
    const before = past.believed[quantity];
    let why = flawOf(quantity, measured, ranges);
    if (why === null && "value" in measured && before !== null && hasJumped(quantity, before, measured.value)) {
      const jump = jumpAfter(past.jumped[quantity], measured.value);
      if (jump.reads < consistentReads) {
        jumped[quantity] = jump;
        why = `jumped from ${shortened(before)} to ${shortened(measured.value)} ${units[quantity]}; has its byte order changed?`;
      }
    }
    if (why !== null) implausible.push(`${quantity} ${why}`);
    else if ("value" in measured) readings[quantity] = measured.value;
  }
  if (isAllZero(values, past.believed))
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
      jumped,
      counter,
      at,
    },
  };
}

/** All values are 0 although one of them cannot be: the voltage, or a counter that was higher. */
function isAllZero(values: RawReading["values"], believed: FacilityValues): boolean {
  const numbers = [...values].flatMap(([quantity, each]) => ("value" in each ? [{ quantity, value: each.value }] : []));
  if (numbers.length < 2 || numbers.some(({ value }) => value !== 0)) return false;
  return numbers.some(
    ({ quantity }) => quantity === "voltage" || (quantity === "energy" && (believed.energy ?? 0) > 0),
  );
}

/** Why a value cannot be right, whatever was read before; null if it can. */
function flawOf(quantity: FacilityQuantity, measured: Measured, ranges: FacilityLink["ranges"]): string | null {
  if ("problem" in measured) return measured.problem;
  const { value } = measured;
  const unit = units[quantity];
  if (quantity === "energy" && value < 0) return `is negative: ${value} kWh`;
  const { min, max } = ranges[quantity];
  if (value < min || value > max) return `is ${shortened(value)} ${unit}, outside ${min} to ${max}`;
  if (value !== 0 && Math.abs(value) < tiniest) return `is ${shortened(value)} ${unit}, too little to be measured`;
  return null;
}

function hasJumped(quantity: FacilityQuantity, before: number, value: number): boolean {
  const floor = jumpFloors[quantity];
  return floor !== null && lowOf(before, value) >= floor && ratioOf(before, value) > jumpFactor;
}

const jumpAfter = (before: Jump | null, value: number): Jump => ({
  value,
  reads: before !== null && ratioOf(before.value, value) < consistentFactor ? before.reads + 1 : 1,
});

const lowOf = (one: number, other: number): number => Math.min(Math.abs(one), Math.abs(other));
const ratioOf = (one: number, other: number): number => Math.max(Math.abs(one), Math.abs(other)) / lowOf(one, other);

const shortened = (value: number): string => String(Number(value.toPrecision(6)));

/** The counter after this read, with the energy that its power says since it last moved. */
function counterAfter({ energy, power }: FacilityValues, past: JudgedPast, at: number): JudgedPast["counter"] {
  if (energy === null) return past.counter;
  if (past.counter === null || energy !== past.counter.energy) return { energy, expected: 0 };
  const elapsed = past.at === null ? 0 : at - past.at;
  if (power === null || power <= 0 || elapsed <= 0 || elapsed > longestGapMs) return past.counter;
  return { energy, expected: past.counter.expected + (power / 1000) * (elapsed / 3_600_000) };
}
