import type { Budget } from "./expression-budget.ts";

/** The value of an operation that cannot be evaluated, such as a comparison with null or a missing field. */
export const failed = Symbol("failed");

/** A duration of CEL. */
export class Span {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

const isInt = (value: unknown): value is bigint => typeof value === "bigint";
const isDouble = (value: unknown): value is number => typeof value === "number";
export const isText = (value: unknown): value is string => typeof value === "string";
export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !isList(value) && !(value instanceof Date) && !(value instanceof Span);

const [leastInt, mostInt] = [-(2n ** 63n), 2n ** 63n - 1n];

/** An int of CEL has 64 bits. */
export const int = (value: bigint): unknown => (value < leastInt || value > mostInt ? failed : value);

type Operate = (left: unknown, right: unknown, budget: Budget) => unknown;

/** The binary operators except && and ||. Their operands must have the same type, except in comparisons of numbers. */
export const operators: Readonly<Record<string, Operate>> = {
  "+": (a, b, budget) => {
    if (isInt(a) && isInt(b)) return int(a + b);
    if (isDouble(a) && isDouble(b)) return a + b;
    if (isText(a) && isText(b)) {
      budget.make(a.length + b.length);
      return a + b;
    }
    if (isList(a) && isList(b)) {
      budget.make(a.length + b.length);
      return [...a, ...b];
    }
    if (a instanceof Span && b instanceof Span) return new Span(a.nanos + b.nanos);
    if (a instanceof Date && b instanceof Span) return later(a, b.nanos);
    return a instanceof Span && b instanceof Date ? later(b, a.nanos) : failed;
  },
  "-": (a, b) => {
    if (isInt(a) && isInt(b)) return int(a - b);
    if (isDouble(a) && isDouble(b)) return a - b;
    if (a instanceof Span && b instanceof Span) return new Span(a.nanos - b.nanos);
    if (a instanceof Date && b instanceof Span) return later(a, -b.nanos);
    return a instanceof Date && b instanceof Date ? between(a, b) : failed;
  },
  "*": (a, b) => (isInt(a) && isInt(b) ? int(a * b) : isDouble(a) && isDouble(b) ? a * b : failed),
  "/": (a, b) => {
    if (isInt(a) && isInt(b)) return b === 0n ? failed : int(a / b);
    return isDouble(a) && isDouble(b) ? a / b : failed;
  },
  "%": (a, b) => (isInt(a) && isInt(b) && b !== 0n ? a % b : failed),
  "==": (a, b, budget) => equal(a, b, budget),
  "!=": (a, b, budget) => !equal(a, b, budget),
  "<": (a, b, budget) => ordered(a, b, budget, (order) => order < 0),
  "<=": (a, b, budget) => ordered(a, b, budget, (order) => order <= 0),
  ">": (a, b, budget) => ordered(a, b, budget, (order) => order > 0),
  ">=": (a, b, budget) => ordered(a, b, budget, (order) => order >= 0),
  in: (a, b, budget) => {
    if (isList(b)) return b.some((each) => equal(a, each, budget));
    return isMap(b) ? isKey(a) && Object.hasOwn(b, String(a)) : failed;
  },
};

export const isKey = (value: unknown): value is string | bigint | boolean =>
  isText(value) || isInt(value) || typeof value === "boolean";

function later(date: Date, nanos: bigint): unknown {
  const moved = new Date(date.getTime() + Number(nanos / 1_000_000n));
  return Number.isNaN(moved.getTime()) ? failed : moved;
}

function between(a: Date, b: Date): unknown {
  const ms = a.getTime() - b.getTime();
  return Number.isNaN(ms) ? failed : new Span(BigInt(ms) * 1_000_000n);
}

/** Values of different types are not equal, but 1 and 1.0 are. */
export function equal(a: unknown, b: unknown, budget: Budget): boolean {
  budget.spend(1);
  if (isText(a) && isText(b)) {
    if (a.length === b.length) budget.scan(a.length);
    return a === b;
  }
  if ((isInt(a) || isDouble(a)) && (isInt(b) || isDouble(b))) return Number(a) === Number(b) && sameInt(a, b);
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof Span && b instanceof Span) return a.nanos === b.nanos;
  if (isList(a) && isList(b)) return a.length === b.length && a.every((each, index) => equal(each, b[index], budget));
  if (isMap(a) && isMap(b)) {
    const keys = Object.keys(a);
    budget.spend(keys.length);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key], budget))
    );
  }
  return a === b;
}

/** Two different ints may convert to the same double. */
const sameInt = (a: number | bigint, b: number | bigint): boolean => !isInt(a) || !isInt(b) || a === b;

function ordered(a: unknown, b: unknown, budget: Budget, is: (order: number) => boolean): unknown {
  if ((isInt(a) || isDouble(a)) && (isInt(b) || isDouble(b))) {
    // NaN has no order.
    return is(a < b ? -1 : a > b ? 1 : a >= b ? 0 : Number.NaN);
  }
  if (isText(a) && isText(b)) {
    budget.scan(Math.min(a.length, b.length));
    return is(a < b ? -1 : a > b ? 1 : 0);
  }
  if (a instanceof Date && b instanceof Date) return is(a.getTime() - b.getTime());
  if (a instanceof Span && b instanceof Span) return is(a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0);
  return typeof a === "boolean" && typeof b === "boolean" ? is(Number(a) - Number(b)) : failed;
}

/** The items that a macro iterates over: the elements of a list, or the keys of a map. */
export function itemsOf(value: unknown, budget: Budget): readonly unknown[] | typeof failed {
  if (isList(value)) return value;
  if (!isMap(value)) return failed;
  const keys = Object.keys(value);
  budget.make(keys.length);
  return keys;
}

/** A field of a map, or an element of a list. */
export function memberOf(value: unknown, index: unknown): unknown {
  if (isMap(value)) {
    const found = isKey(index) && Object.hasOwn(value, String(index)) ? value[String(index)] : undefined;
    return found === undefined ? failed : found;
  }
  if (!isList(value) || (!isInt(index) && !isDouble(index))) return failed;
  const at = Number(index);
  return Number.isInteger(at) && at >= 0 && at < value.length ? value[at] : failed;
}
