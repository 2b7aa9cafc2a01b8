import { isRecord } from "../contract/record.ts";

/** Unreadable and repaired parts, without repetitions, 20 at most. */
export class Notes {
  readonly #noted: string[] = [];

  add(note: string): void {
    if (this.#noted.length < 20 && !this.#noted.includes(note)) this.#noted.push(note);
  }

  addAll(notes: readonly string[]): void {
    for (const note of notes) this.add(note);
  }

  list(): string[] {
    return [...this.#noted];
  }
}

export interface NumberRule {
  /** Factor to SI units. */
  readonly times?: number;
  /** The value that means "no value". */
  readonly absent?: number;
  /** Of the value after `times`; 0 by default. */
  readonly min?: number;
  readonly max?: number;
}

/**
 * Reads a device's reply tolerantly: a missing field is null, an odd one null and a note. Never throws.
 * Numbers may be texts with thousands separators, prefixes and units: "18,500.5", "524K", "59%", "58W".
 */
export class TolerantReader {
  readonly notes: Notes;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #where: string;
  readonly #parent: TolerantReader | null;
  /** Its index in a list of the parent; -1 outside of lists. */
  readonly #index: number;

  /** `where`: its path, or its key in `parent`. */
  constructor(value: unknown, notes: Notes, where: string, parent: TolerantReader | null = null, index = -1) {
    this.notes = notes;
    this.#where = where;
    this.#parent = parent;
    this.#index = index;
    this.#fields = isRecord(value) ? value : nothing;
    if (this.#fields === nothing && value !== undefined && value !== null)
      notes.add(`${this.#ownPath()} is not an object`);
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#fields, key);
  }

  isList(key: string): boolean {
    return Array.isArray(this.#value(key));
  }

  isText(key: string): boolean {
    return typeof this.#value(key) === "string";
  }

  keys(): string[] {
    return Object.keys(this.#fields);
  }

  number(key: string, rule: NumberRule = {}): number | null {
    return this.#number(key, this.#value(key), rule);
  }

  /** A count; fractions are truncated. */
  integer(key: string, rule: NumberRule = {}): number | null {
    const read = this.number(key, rule);
    if (read === null) return null;
    const whole = Math.trunc(read);
    return Number.isSafeInteger(whole) ? whole : this.#odd(key, "is out of range");
  }

  /** One line without control characters and direction marks; numbers count as text. */
  text(key: string, maxLength = 200): string | null {
    const value = this.#value(key);
    if (value === undefined || value === null) return null;
    if (typeof value !== "string" && typeof value !== "number") return this.#odd(key, "is not a text");
    const clean = printable(String(value).slice(0, longestText));
    if (clean.length <= maxLength) return clean === "" ? null : clean;
    this.notes.add(`${this.#path(key)} is too long and was cut`);
    return clean.slice(0, maxLength).toWellFormed();
  }

  /** true, any number but 0, "Y", "yes", "true", "on", "1", and their opposites. */
  boolean(key: string): boolean | null {
    const value = this.#value(key);
    if (value === undefined || value === null) return null;
    if (typeof value === "boolean") return value;
    if (typeof value === "number") return value !== 0;
    const word = typeof value === "string" ? value.toLowerCase() : "";
    if (truths.has(word)) return true;
    return falsehoods.has(word) ? false : this.#odd(key, "is neither true nor false");
  }

  /** A reader without fields where it is missing. */
  object(key: string): TolerantReader {
    return new TolerantReader(this.#value(key), this.notes, key, this);
  }

  /** The objects of a list; other elements are left out. */
  list(key: string, max = 256): TolerantReader[] {
    const value = this.#value(key);
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.#odd(key, "is not a list");
      return [];
    }
    if (value.length > max) this.notes.add(`${this.#path(key)} has ${value.length} entries; ${max} were read`);
    const replies: TolerantReader[] = [];
    const read = Math.min(value.length, max);
    for (let index = 0; index < read; index += 1) {
      const element: unknown = value[index];
      if (isRecord(element)) replies.push(new TolerantReader(element, this.notes, key, this, index));
      else this.notes.add(`${this.#path(key)} contains something that is not an object`);
    }
    return replies;
  }

  /** The numbers of a list, null for elements that are not numbers. */
  numbers(key: string, rule: NumberRule = {}, max = 64): (number | null)[] {
    const value = this.#value(key);
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.#odd(key, "is not a list");
      return [];
    }
    return value.slice(0, max).map((element: unknown) => this.#number(key, element, rule));
  }

  /** A list whose elements are read by their position: `row("temp").number("0")`. A missing list has no fields. */
  row(key: string, max = 256): TolerantReader {
    const value = this.#value(key);
    if (value === undefined || value === null) return new TolerantReader(undefined, this.notes, key, this);
    if (!Array.isArray(value)) this.#odd(key, "is not a list");
    return new TolerantReader(Array.isArray(value) ? { ...value.slice(0, max) } : undefined, this.notes, key, this);
  }

  /** The lists of a list, each as `row` has it; other elements have no fields. */
  rows(key: string, max = 256): TolerantReader[] {
    const outer = this.row(key, max);
    return outer.keys().map((position) => outer.row(position, max));
  }

  #number(key: string, value: unknown, rule: NumberRule): number | null {
    if (value === undefined || value === null || value === "") return null;
    const read = typeof value === "number" ? value : typeof value === "string" ? parseNumber(value) : null;
    if (read === null) return this.#odd(key, "is not a number");
    if (read === rule.absent) return null;
    const scaled = scale(read, rule.times ?? 1);
    if (!Number.isFinite(scaled) || Math.abs(scaled) >= 2 ** 63) return this.#odd(key, "is out of range");
    if (scaled < (rule.min ?? 0)) return this.#odd(key, "is implausibly low");
    if (scaled > (rule.max ?? Number.POSITIVE_INFINITY)) return this.#odd(key, "is implausibly high");
    return scaled;
  }

  #value(key: string): unknown {
    return Object.hasOwn(this.#fields, key) ? this.#fields[key] : undefined;
  }

  /** Made only for a note. */
  #path(key: string): string {
    const own = this.#ownPath();
    return own === "" ? printable(key) : `${own}.${printable(key)}`;
  }

  #ownPath(): string {
    const path = this.#parent === null ? this.#where : this.#parent.#path(this.#where);
    return this.#index < 0 ? path : `${path}[${this.#index}]`;
  }

  #odd(key: string, what: string): null {
    this.notes.add(`${this.#path(key)} ${what}`);
    return null;
  }
}

/** Without rounding errors of binary fractions: 133.86 MH/s is 133860000 H/s, 1146 mV is 1.146 V. */
function scale(value: number, times: number): number {
  const scaled = times < 1 ? value / Math.round(1 / times) : value * times;
  return times > 1 && Math.abs(scaled) >= 1e6 ? Math.round(scaled) : scaled;
}

/** Far more than any text that is kept; the rest is ignored. */
const longestText = 10_000;
const nothing: Readonly<Record<string, unknown>> = Object.freeze({});
const truths = new Set(["true", "1", "y", "yes", "on"]);
const falsehoods = new Set(["false", "0", "n", "no", "off"]);

const unprintable = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/u;
const escapeSequence = /\p{Cc}\[[0-9;?]*[A-Za-z]/gu;
const allUnprintable = new RegExp(unprintable.source, "gu");

/** Without terminal escapes, control characters, line ends and direction marks. */
export function printable(text: string): string {
  if (!unprintable.test(text)) return text.isWellFormed() ? text.trim() : text.toWellFormed().trim();
  return text.replace(escapeSequence, "").replace(allUnprintable, "").toWellFormed().trim();
}

const written =
  /^([+-]?)(\d{1,3}(?:,\d{3})+|\d+)?(\.\d*)?(?:[eE]([+-]?\d{1,3}))?\s*([kKMGTPE])?\s*(?:%|°?C|[WVA]|mV|RPM|rpm|B|[A-Za-z]{1,4}\/s)?$/;
const prefixes: Readonly<Record<string, number>> = { k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };

/** A longer text is not a number, and would keep the pattern busy for minutes. */
const longestNumber = 64;

/** A number as devices write it; null for anything else, "inf" and "nan" included. */
export function parseNumber(text: string): number | null {
  const trimmed = text.trim();
  const match = trimmed.length > longestNumber ? null : written.exec(trimmed);
  if (match === null) return null;
  const [, sign = "", whole = "", fraction = "", exponent = "0", prefix = ""] = match;
  if (whole === "" && fraction.length < 2) return null;
  return Number(`${sign}${whole.replaceAll(",", "")}${fraction}e${exponent}`) * (prefixes[prefix] ?? 1);
}
