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

/** Texts for the parts of a definition. */
interface Words {
  label(key: string): string;
  /** The name of a kind of step. */
  step(kind: string): string;
  option(key: string, value: string): string;
  /** A value of a reading or control, with its unit. */
  amount(of: string, value: number): string;
}

/** The conditions of a definition, including nested ones, each in a few words. */
export function conditionTexts(definition: Definition, words: Words): string[] {
  const when = definition.when;
  return isObject(when) ? listTexts(when, words) : [];
}

const listTexts = (when: Definition, words: Words): string[] =>
  [when.all, when.any]
    .flatMap((list): readonly Json[] => (Array.isArray(list) ? list : []))
    .flatMap((each) => {
      if (!isObject(each)) return [];
      return "all" in each || "any" in each ? listTexts(each, words) : [conditionText(each, words)];
    });

function conditionText(condition: Definition, words: Words): string {
  const [kind = "", value] = Object.entries(condition)[0] ?? [];
  const named = typeof value === "string" ? words.option(kind, value) : "";
  const [sign, limit] =
    condition.above !== undefined
      ? [">", condition.above]
      : condition.below !== undefined
        ? ["<", condition.below]
        : ["=", condition.equals];
  const bound = limit === undefined ? "" : `${sign} ${amountText(plain(value), limit, words)}`;
  if (kind === "reading" || kind === "rate" || kind === "topic") return `${named} ${bound}`.trim();
  if (isObject(value)) return `${words.label(kind)}: ${Object.values(value).map(plain).join(" ")}`;
  if (Array.isArray(value))
    return `${words.label(kind)}: ${value.map((each) => words.option(kind, plain(each))).join(", ")}`;
  if (typeof value === "boolean") return value ? words.label(kind) : `${words.label(kind)}: –`;
  return `${words.label(kind)}: ${named || plain(value)}`;
}

/** The steps of a definition, each in a few words. */
export function stepTexts(definition: Definition, words: Words): string[] {
  const steps: readonly Json[] = Array.isArray(definition.do) ? definition.do : [];
  return steps.flatMap((step) => {
    if (!isObject(step)) return [];
    const kind = ["set", "plug", "action"].find((each) => each in step) ?? Object.keys(step)[0] ?? "";
    const value = plain(step[kind]);
    if (kind === "action") return [words.option(kind, value)];
    if (kind === "set") return [`${words.option(kind, value)} = ${amountText(value, step.value, words)}`];
    return [`${words.step(kind)}: ${words.option(kind, value)}`];
  });
}

const amountText = (of: string, value: Json, words: Words): string =>
  typeof value === "number" ? words.amount(of, value) : plain(value);

const plain = (value: Json): string =>
  Array.isArray(value) ? value.map(plain).join(", ") : isObject(value) ? JSON.stringify(value) : String(value ?? "–");
