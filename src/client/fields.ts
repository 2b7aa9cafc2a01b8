import { isRecord } from "../contract/record.ts";
import { garbled } from "./answers.ts";
import { type Omitting, readable } from "./omissions.ts";
import { oneLine } from "./secrets.ts";

/**
 * Reads a foreign server's JSON: what is missing or null is a sensible empty, what has another type than documented
 * throws `service.garbled` with its path. Paths are put together only then, for a farm has a million fields.
 */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #name: string | number;
  readonly #parent: Fields | undefined;

  constructor(value: unknown, name: string | number, parent?: Fields) {
    this.#name = name;
    this.#parent = parent;
    this.#values = isRecord(value) ? value : nothing;
    if (!isRecord(value)) throw garbled(`${this.path()} is ${kindOf(value)} where an object must be`);
  }

  /** Of a field in here, or of this object itself. */
  path(key?: string): string {
    const own = this.#ownPath();
    const path = key === undefined ? own : `${own}.${oneLine(key, 40)}`;
    return path.length > longestPath ? `…${path.slice(-longestPath)}` : path;
  }

  /** What the reader says of a field that cannot be what it is. */
  odd(key: string, expected: string): Error {
    return garbled(`${this.path(key)} is ${kindOf(this.#value(key))} where ${expected} must be`);
  }

  /** As it was sent; null when it is missing. */
  raw(key: string): unknown {
    return this.#value(key);
  }

  /** "" when it is missing. */
  text(key: string): string {
    return this.textOrNull(key) ?? "";
  }

  textOrNull(key: string): string | null {
    const value = this.#value(key);
    if (value === null || typeof value === "string") return value;
    throw this.odd(key, "a text");
  }

  /** 0 when it is missing; fractions are rounded. */
  integer(key: string): number {
    return this.integerOrNull(key) ?? 0;
  }

  integerOrNull(key: string): number | null {
    const value = this.numberOrNull(key);
    if (value === null) return null;
    const whole = Math.round(value);
    if (Number.isSafeInteger(whole)) return whole;
    throw this.odd(key, "a whole number");
  }

  numberOrNull(key: string): number | null {
    const value = this.#value(key);
    if (value === null || (typeof value === "number" && Number.isFinite(value))) return value;
    throw this.odd(key, "a number");
  }

  /** The number that tells one thing from another; never missing. */
  id(key = "id"): number {
    const value = this.#value(key);
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw this.odd(key, "a whole number");
  }

  /** false when it is missing. */
  flag(key: string): boolean {
    return this.flagOrNull(key) ?? false;
  }

  flagOrNull(key: string): boolean | null {
    const value = this.#value(key);
    if (value === null || typeof value === "boolean") return value;
    throw this.odd(key, "true or false");
  }

  /** One without fields when it is missing. */
  object(key: string): Fields {
    return new Fields(this.#value(key) ?? nothing, key, this);
  }

  /** Empty when it is missing. */
  list(key: string): readonly unknown[] {
    const value = this.#value(key) ?? [];
    if (Array.isArray(value)) return value;
    throw this.odd(key, "a list");
  }

  /** The objects of a list. */
  objects(key: string): Fields[] {
    const list = this.list(key);
    return list.length === 0 ? [] : list.map((element, index) => new Fields(element, `${key}[${index}]`, this));
  }

  /** What is read of the objects of a list; one that is no such object is left out. */
  readable<T>(key: string, read: (element: Fields) => T, omitting: Omitting): T[] {
    const places = [...this.list(key).entries()];
    return readable(places, ([index, element]) => read(new Fields(element, `${key}[${index}]`, this)), omitting);
  }

  #value(key: string): unknown {
    return Object.hasOwn(this.#values, key) ? (this.#values[key] ?? null) : null;
  }

  #ownPath(): string {
    return this.#parent === undefined ? String(this.#name) : `${this.#parent.#ownPath()}.${this.#name}`;
  }
}

const longestPath = 120;

const nothing: Readonly<Record<string, unknown>> = Object.freeze({});

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return `the number ${value}`;
  return { string: "a text", boolean: "true or false", object: "an object" }[String(typeof value)] ?? "something else";
}
