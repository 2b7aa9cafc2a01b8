import { isRecord } from "../contract/record.ts";
import { garbled } from "./answers.ts";
import { type Omitting, readable } from "./omissions.ts";
import { oneLine } from "./secrets.ts";

/**
 * Reads a foreign server's JSON: a missing or null field becomes a sensible empty value; a field of another type than
 * documented throws `service.garbled` with its path. Paths are built only then, since a farm has a million fields.
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

  /** The path of a field, or of this object itself. */
  path(key?: string): string {
    const own = this.#ownPath();
    const path = key === undefined ? own : `${own}.${oneLine(key, 40)}`;
    return path.length > longestPath ? `…${path.slice(-longestPath)}` : path;
  }

  /** The error for a field of the wrong type. */
  odd(key: string, expected: string): Error {
    return garbled(`${this.path(key)} is ${kindOf(this.#value(key))} where ${expected} must be`);
  }

  /** The value as sent; null if it is missing. */
  raw(key: string): unknown {
    return this.#value(key);
  }

  /** "" if it is missing. */
  text(key: string): string {
    return this.textOrNull(key) ?? "";
  }

  textOrNull(key: string): string | null {
    const value = this.#value(key);
    if (value === null || typeof value === "string") return value;
    throw this.odd(key, "a text");
  }

  /** 0 if it is missing; fractions are rounded. */
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

  /** An id, which is required. */
  id(key = "id"): number {
    const value = this.#value(key);
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw this.odd(key, "a whole number");
  }

  /** false if it is missing. */
  flag(key: string): boolean {
    return this.flagOrNull(key) ?? false;
  }

  flagOrNull(key: string): boolean | null {
    const value = this.#value(key);
    if (value === null || typeof value === "boolean") return value;
    throw this.odd(key, "true or false");
  }

  /** An object without fields if it is missing. */
  object(key: string): Fields {
    return new Fields(this.#value(key) ?? nothing, key, this);
  }

  /** Empty if it is missing. */
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

  /** Reads the objects of a list; those that cannot be read are left out. */
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
