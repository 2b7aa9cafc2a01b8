import { fieldFault } from "../shared/faults.ts";

const units = { s: 1, min: 60, h: 3_600, d: 86_400, w: 604_800 } as const;

/**
 * Epoch ms of a Date, epoch ms, ISO 8601 text, or a time span before `end` like `-12 h`; undefined if empty. Throws a
 * Fault that names the field.
 */
export function instantOf(field: string, given: unknown, end: number): number | undefined {
  if (given === undefined || given === null || given === "") return undefined;
  const time =
    given instanceof Date ? given.getTime() : typeof given === "number" ? given : instantIn(String(given).trim(), end);
  if (!Number.isFinite(time) || time < 0 || time > 8.64e15) throw fieldFault(field, "no-time");
  return Math.round(time);
}

function instantIn(text: string, end: number): number {
  const [, sum, unit] = /^-?\s*(\d{1,6}(?:\.\d+)?)\s*(s|min|h|d|w)$/.exec(text) ?? [];
  if (sum !== undefined && isUnit(unit)) return end - Number(sum) * units[unit] * 1000;
  if (/^\d{1,16}$/.test(text)) return Number(text);
  return /^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
}

const isUnit = (name: string | undefined): name is keyof typeof units =>
  name !== undefined && Object.hasOwn(units, name);

/** s between two points; undefined if empty. Throws a Fault that names the field. */
export function stepOf(given: unknown): number | undefined {
  if (given === undefined || given === null || given === "") return undefined;
  const step = typeof given === "string" || typeof given === "number" ? Number(given) : Number.NaN;
  if (!Number.isFinite(step) || step < 0) throw fieldFault("step", "no-step");
  return step;
}
