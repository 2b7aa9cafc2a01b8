import type { z } from "zod";
import { didYouMean } from "./nearest.ts";

/**
 * Messages for zod issues in requests, if the schema has no message of its own. Values are never quoted. A union gets
 * no message: its alternatives have theirs.
 */
export function wording(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : wrongType(issue.expected, issue.input, jsonTypes);
    case "invalid_value": {
      const values = issue.values.map(String);
      return issue.input === undefined ? `is required: one of ${values.join(", ")}` : oneOf(values, issue.input);
    }
    case "invalid_union":
      return issue.input === undefined ? "is required" : discriminatorSentence(issue);
    default:
      return issue.input === undefined ? "is required" : boundSentence(issue);
  }
}

/** Why a value of the right type is refused. */
export function boundSentence(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "too_small":
      return bound(issue.origin, "at least", Number(issue.minimum), issue.inclusive !== false);
    case "too_big":
      return bound(issue.origin, "at most", Number(issue.maximum), issue.inclusive !== false);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return formats[issue.format] ?? "has the wrong format";
    case "unrecognized_keys":
      return `has unknown keys: ${issue.keys.slice(0, 5).join(", ")}`;
    case "invalid_key":
    case "invalid_element":
      return "has an invalid key or value";
    default:
      return undefined;
  }
}

/** The message for an object whose discriminating key has no valid value. */
export function discriminatorSentence({ discriminator, options, input }: z.core.$ZodRawIssue): string | undefined {
  if (typeof discriminator !== "string" || !Array.isArray(options)) return undefined;
  const value = typeof input === "object" && input !== null ? Reflect.get(input, discriminator) : undefined;
  return oneOf(options.map(String), value);
}

/** `must be one of shelly, tasmota, mqtt; did you mean "shelly"?` */
export const oneOf = (values: readonly string[], input: unknown): string =>
  `must be ${values.length > 1 ? "one of " : ""}${values.join(", ")}${typeof input === "string" ? didYouMean(input, values) : ""}`;

/** The names of zod and JavaScript types in messages. */
export type TypeNames = Readonly<Record<string, string>>;

const jsonTypes: TypeNames = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** `must be a number, is text`. */
export function wrongType(expected: string, input: unknown, names: TypeNames): string {
  const wanted = `must be ${names[expected] ?? expected}`;
  if (input === null) return `${wanted}, is empty`;
  const type = Array.isArray(input) ? "array" : typeof input;
  if (type === "number" && (expected === "int" || expected === "number")) return wanted;
  return `${wanted}, is ${names[type] ?? "something else"}`;
}

const formats: Readonly<Record<string, string>> = {
  datetime: "must be a time like 2026-01-31T12:00:00Z",
  url: "must be a web address like http://192.168.1.5",
};

function bound(origin: string, word: "at least" | "at most", limit: number, inclusive: boolean): string {
  if (origin === "string")
    return word === "at least" && limit === 1 ? "must not be empty" : `needs ${word} ${limit} characters`;
  if (origin === "array")
    return word === "at least" ? `needs ${word} ${limit} of them` : `has room for ${word} ${limit} entries`;
  if (inclusive) return `must be ${word} ${limit}`;
  return `must be ${word === "at least" ? "more" : "less"} than ${limit}`;
}
