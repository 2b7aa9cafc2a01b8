import type { Budget } from "./expression-budget.ts";
import { failed, int, isList, isMap, isText, Span } from "./expression-values.ts";

/** Computes the value of a call; of a method, the first value is its receiver. `failed` for other types. */
type Compute = (values: readonly unknown[], budget: Budget) => unknown;

const size: Compute = ([value], budget) => {
  if (isText(value)) {
    budget.spend(value.length);
    return BigInt([...value].length);
  }
  if (isList(value)) return BigInt(value.length);
  return isMap(value) ? BigInt(Object.keys(value).length) : failed;
};

/** The functions that expressions may call; nothing else is ever called, even if CEL or its library has it. */
export const functions: Readonly<Record<string, Compute>> = {
  size,
  dyn: ([value]) => value,
  string: ([value]) => {
    if (isText(value)) return value;
    if (value === Number.POSITIVE_INFINITY) return "+Inf";
    if (value === Number.NEGATIVE_INFINITY) return "-Inf";
    return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"
      ? String(value)
      : failed;
  },
  int: ([value]) => {
    if (typeof value === "bigint") return value;
    if (typeof value === "number") return Number.isFinite(value) ? int(BigInt(Math.trunc(value))) : failed;
    return isText(value) && /^[+-]?\d{1,19}$/.test(value) ? int(BigInt(value.replace("+", ""))) : failed;
  },
  double: ([value]) => {
    if (typeof value === "bigint" || typeof value === "number") return Number(value);
    if (!isText(value)) return failed;
    const written = /^[+-]?(?:(inf|infinity)|nan|(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:e[+-]?\d{1,4})?)$/i.exec(value);
    if (written === null) return failed;
    if (written[1] !== undefined) return value.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    return Number(value);
  },
  bool: ([value]) => {
    if (typeof value === "boolean") return value;
    if (!isText(value)) return failed;
    if (["1", "t", "true", "TRUE", "True"].includes(value)) return true;
    return ["0", "f", "false", "FALSE", "False"].includes(value) ? false : failed;
  },
  timestamp: ([value]) => {
    const isIso = isText(value) && value.length >= 20 && value.length <= 30;
    const date = new Date(isIso ? value : typeof value === "bigint" ? Number(value) * 1000 : Number.NaN);
    const time = date.getTime();
    return time >= -62_135_596_800_000 && time <= 253_402_300_799_999 ? date : failed;
  },
  duration: ([value]) => (isText(value) ? spanOf(value) : failed),
};

/** A function of two texts. Searching one in the other costs their product at worst. */
const ofTexts =
  (compute: (text: string, other: string) => unknown): Compute =>
  ([text, other], budget) => {
    if (!isText(text) || !isText(other)) return failed;
    budget.spend(Math.ceil((text.length * other.length) / 64));
    return compute(text, other);
  };

/** A function from text to text. */
const changed =
  (compute: (text: string) => string): Compute =>
  ([text], budget) => {
    if (!isText(text)) return failed;
    // A letter may become three, such as ﬃ in upper case.
    budget.make(3 * text.length);
    return compute(text);
  };

const find =
  (compute: (text: string, part: string, from?: number) => number): Compute =>
  ([text, part, from], budget) => {
    if (!isText(text) || !isText(part)) return failed;
    if (from === undefined) {
      budget.spend(Math.ceil((text.length * part.length) / 64));
      return BigInt(compute(text, part));
    }
    if (typeof from !== "bigint") return failed;
    if (part === "") return from;
    if (from < 0n || from >= BigInt(text.length)) return failed;
    budget.spend(Math.ceil((text.length * part.length) / 64));
    return BigInt(compute(text, part, Number(from)));
  };

/** The methods that expressions may call, besides the macros. */
export const methods: Readonly<Record<string, Compute>> = {
  size,
  startsWith: ofTexts((text, other) => text.startsWith(other)),
  endsWith: ofTexts((text, other) => text.endsWith(other)),
  contains: ofTexts((text, other) => text.includes(other)),
  lowerAscii: changed((text) => text.toLowerCase()),
  upperAscii: changed((text) => text.toUpperCase()),
  trim: changed((text) => text.trim()),
  indexOf: find((text, part, from) => text.indexOf(part, from)),
  lastIndexOf: find((text, part, from) => text.lastIndexOf(part, from)),
  substring: ([text, from, to], budget) => {
    if (!isText(text) || typeof from !== "bigint" || (to !== undefined && typeof to !== "bigint")) return failed;
    const [start, end] = [Number(from), to === undefined ? text.length : Number(to)];
    if (start < 0 || end < start || end > text.length) return failed;
    budget.make(end - start);
    return text.substring(start, end);
  },
  split: ([text, separator, limit], budget) => {
    if (!isText(text) || !isText(separator) || (limit !== undefined && typeof limit !== "bigint")) return failed;
    if (limit === 0n) return [];
    budget.spend(Math.ceil((text.length * separator.length) / 64));
    // Its parts, and their number.
    budget.make(text.length + Math.ceil(text.length / Math.max(1, separator.length)));
    const parts = text.split(separator);
    if (limit === undefined || limit < 0n || BigInt(parts.length) <= limit) return parts;
    const kept = Number(limit) - 1;
    return [...parts.slice(0, kept), parts.slice(kept).join(separator)];
  },
  join: ([list, separator = ""], budget) => {
    if (!isList(list) || !isText(separator)) return failed;
    budget.spend(list.length);
    const texts = list.filter(isText);
    if (texts.length < list.length) return failed;
    budget.make(texts.reduce((sum, text) => sum + text.length + separator.length, 0));
    return texts.join(separator);
  },
  ...timeMethods(),
};

/** Parts of a time, in UTC or in a time zone; of a duration, the whole duration in this unit. */
function timeMethods(): Record<string, Compute> {
  const parts: Readonly<Record<string, (date: Date) => number>> = {
    getFullYear: (date) => date.getUTCFullYear(),
    getMonth: (date) => date.getUTCMonth(),
    getDate: (date) => date.getUTCDate(),
    getDayOfMonth: (date) => date.getUTCDate() - 1,
    getDayOfWeek: (date) => date.getUTCDay(),
    getDayOfYear: (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000),
    getHours: (date) => date.getUTCHours(),
    getMinutes: (date) => date.getUTCMinutes(),
    getSeconds: (date) => date.getUTCSeconds(),
    getMilliseconds: (date) => date.getUTCMilliseconds(),
  };
  return Object.fromEntries(
    Object.entries(parts).map(([name, read]): [string, Compute] => [
      name,
      ([value, zone], budget) => {
        const nanos = unitsOfSpans[name];
        if (value instanceof Span && zone === undefined) return nanos === undefined ? failed : value.nanos / nanos;
        if (!(value instanceof Date)) return failed;
        if (zone === undefined) return BigInt(read(value));
        budget.spend(400);
        const local = isText(zone) ? localDate(value, zone) : null;
        return local === null ? failed : BigInt(read(local));
      },
    ]),
  );
}

const unitsOfSpans: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

const formatters = new Map<string, Intl.DateTimeFormat | null>();
const keptFormatters = 100;

/** The formatter of a time zone; null if there is no such zone. */
function formatterOf(timeZone: string): Intl.DateTimeFormat | null {
  let found = formatters.get(timeZone);
  if (found !== undefined) return found;
  try {
    const fields = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
    found = new Intl.DateTimeFormat("en-US", { timeZone, ...fields, second: "numeric", hourCycle: "h23" });
  } catch {
    found = null;
  }
  if (formatters.size >= keptFormatters) formatters.clear();
  formatters.set(timeZone, found);
  return found;
}

export const isZone = (name: string): boolean => formatterOf(name) !== null;

/** A date whose parts in UTC are those of `date` in the zone; null if there is no such zone. */
function localDate(date: Date, zone: string): Date | null {
  const formatter = formatterOf(zone);
  if (formatter === null) return null;
  const parts = new Map(formatter.formatToParts(date).map(({ type, value }) => [type, Number(value)]));
  const [year = 0, month = 1, day = 1] = [parts.get("year"), parts.get("month"), parts.get("day")];
  const [hour, minute, second] = [parts.get("hour"), parts.get("minute"), parts.get("second")];
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, date.getUTCMilliseconds()));
}

const nanosOf: Readonly<Record<string, number>> = {
  h: 3.6e12,
  m: 6e10,
  s: 1e9,
  ms: 1e6,
  us: 1e3,
  µs: 1e3,
  ns: 1,
};

/** A duration such as "1h30m", "-1.5s" or "300ms". */
function spanOf(text: string): unknown {
  const [, sign, written = ""] = /^([+-]?)((?:\d{1,12}(?:\.\d{0,9})?(?:ns|us|µs|ms|s|m|h)){1,8})$/.exec(text) ?? [];
  if (written === "") return failed;
  let nanos = 0n;
  for (const [, number = "", unit = ""] of written.matchAll(/(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)/g)) {
    const [whole = "0", fraction = ""] = number.split(".");
    const unitNanos = BigInt(nanosOf[unit] ?? 0);
    nanos += BigInt(whole) * unitNanos + (BigInt(fraction.padEnd(9, "0")) * unitNanos) / 1_000_000_000n;
  }
  return new Span(sign === "-" ? -nanos : nanos);
}
