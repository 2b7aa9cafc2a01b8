import { unknownReadings } from "../contract/readings.ts";
import { same } from "../link/same.ts";
import { type RigState, statusOf } from "./state.ts";

const readings = unknownReadings();
const readingKeys = Object.keys(readings).filter((key): key is keyof typeof readings => key in readings);
const readKeys = ["pools", "devices", "controls", "identity"] as const;

/** The keys that a read may change: status and reason, parts of the reading, and the fields of the readings. */
export const changeKeys = ["status", "reason", ...readKeys, ...readingKeys] as const;
export type ChangeKey = (typeof changeKeys)[number];

/** The bit of each key: a set of keys is one number, since every read makes one. */
export const keyBits: Readonly<Record<string, number>> = Object.fromEntries(
  changeKeys.map((key, index) => [key, 2 ** index]),
);

const bitOf = (key: ChangeKey): number => keyBits[key] ?? 0;
const [statusBit, reasonBit] = [bitOf("status"), bitOf("reason")];
const whole = [...readKeys, ...readingKeys].reduce((sum, key) => sum | bitOf(key), 0);
const ofReading = readKeys.map((key) => ({ key, bit: bitOf(key) }));
const ofReadings = readingKeys.map((key) => ({ key, bit: bitOf(key) }));

/** The keys in a set. */
export const keysIn = (bits: number): ChangeKey[] => changeKeys.filter((key) => (bits & bitOf(key)) !== 0);

/** The set of keys whose values differ; all keys of a reading that appears or disappears. */
export function changedKeys(before: RigState, now: RigState, disabled: boolean): number {
  let bits = 0;
  if (statusOf(before, disabled) !== statusOf(now, disabled)) bits |= statusBit;
  if (before.reason?.text !== now.reason?.text || before.reason?.code !== now.reason?.code) bits |= reasonBit;
  const [a, b] = [before.reading, now.reading];
  if (a === b) return bits;
  if (a === null || b === null) return bits | whole;
  for (const { key, bit } of ofReading) if (!same(a[key], b[key])) bits |= bit;
  for (const { key, bit } of ofReadings) if (!same(a.readings[key], b.readings[key])) bits |= bit;
  return bits;
}
