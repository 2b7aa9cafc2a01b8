import { z } from "zod";
import { didYouMean } from "./nearest.ts";
import { Readings } from "./readings.ts";

/**
 * Texts that name values, like `{{ miner.name }} is {{ reading.temperature }} °C hot`. They name fields and nothing
 * else: no part of a text is ever evaluated.
 */
const placeholder = /\{\{([^{}]*)\}\}/g;
/** Characters of a text with its values; "…" stands for a value that does not fit. */
const longestFilled = 100_000;

const minerFields = ["uid", "name", "group", "tags", "model", "location", "lastOutput"];
/** The last three cover all miners in its scope. */
const ruleFields = ["key", "name", "miners", "mining", "offline"];

/** Every name that is allowed in a text. */
export const textNames: readonly string[] = [
  ...minerFields.map((field) => `miner.${field}`),
  ...fieldsOf(Readings, "reading"),
  ...ruleFields.map((field) => `rule.${field}`),
];

/** Texts, numbers and flags, at any depth; lists have no name. */
function fieldsOf(schema: z.core.$ZodType, path: string): string[] {
  if (schema instanceof z.ZodNullable) return fieldsOf(schema.def.innerType, path);
  if (schema instanceof z.ZodArray) return [];
  if (!(schema instanceof z.ZodObject)) return [path];
  return Object.entries(schema.shape).flatMap(([name, field]) => fieldsOf(field, `${path}.${name}`));
}

/** The mistake in a text with names; null if there is none. */
export function textMistake(text: string): string | null {
  const unknown = namesIn(text).find((name) => !textNames.includes(name));
  if (unknown !== undefined)
    return `"{{ ${unknown.slice(0, 60)} }}" is not known${didYouMean(unknown, textNames) || "; texts name fields of miner, reading and rule"}`;
  return text.replaceAll(placeholder, "").includes("{{") ? 'has "{{" without "}}"' : null;
}

export const namesIn = (text: string): string[] =>
  Array.from(text.matchAll(placeholder), ([, name = ""]) => name.trim());

/** The text with a value for each name. */
export function filled(text: string, write: (name: string) => string): string {
  let left = longestFilled - text.length;
  return text.replaceAll(placeholder, (_, name: string) => {
    const value = left > 0 ? write(name.trim()) : "";
    left -= value.length;
    return left < 0 ? "…" : value;
  });
}

/** A text with names, of limited length. */
export const Text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .superRefine((text, context) => {
      const message = textMistake(text);
      if (message !== null) context.addIssue({ code: "custom", message });
    });
