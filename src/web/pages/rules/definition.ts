import { isObject, type Json, type Schema } from "../../parts/schema-form/schema.ts";

export type Definition = Readonly<Record<string, Json>>;

/** The keys in the form of a rule, the most important first. */
const order = [
  "name",
  "key",
  "enabled",
  "scope",
  "when",
  "weekly",
  "cron",
  "timeZone",
  "lasts",
  "price",
  "do",
  "onClear",
  "onEnd",
  "again",
  "onGiveUp",
  "runsAt",
  "limit",
  "guard",
  "inhibitedBy",
  "manual",
  "safety",
];

/** An object schema without some of its keys, with the others in a readable order. */
export function forPeople(schema: Schema, without: readonly string[]): Schema {
  const rank = (key: string): number => (order.includes(key) ? order.indexOf(key) : order.length);
  const entries = Object.entries(schema.properties ?? {}).filter(([key]) => !without.includes(key));
  return { ...schema, properties: Object.fromEntries(entries.sort(([one], [other]) => rank(one) - rank(other))) };
}

/** The patch from one definition to the other: null removes a key. */
export function patchOf(before: Definition, after: Definition): Record<string, Json> {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return Object.fromEntries(
    keys
      .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
      .map((key) => [key, after[key] ?? null]),
  );
}

/** A rule of a ready-made one, written out: its own keys win, and its values replace texts such as "$pool". */
export function filledIn(rule: Definition, readyMade: Definition | undefined): Definition {
  if (readyMade === undefined) return rule;
  const valuesOf = (definition: Definition): Definition => (isObject(definition.with) ? definition.with : {});
  const values = { ...valuesOf(readyMade), ...valuesOf(rule) };
  const filled = (part: Json): Json => {
    if (typeof part === "string") return part.startsWith("$") ? values[part.slice(1)] : part;
    if (Array.isArray(part)) return part.map(filled);
    return isObject(part) ? Object.fromEntries(Object.entries(part).map(([key, value]) => [key, filled(value)])) : part;
  };
  const whole = filled(readyMade);
  return isObject(whole) ? { ...whole, ...rule } : rule;
}
