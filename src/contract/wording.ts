import type { z } from "zod";
import type { Detail } from "../messages/coded-text.ts";
import { type DetailCode, detail } from "../messages/detail.ts";
import { nearest } from "./nearest.ts";
import type { Mistake } from "./problems.ts";

/**
 * Messages for zod issues in requests, if the schema has no message of its own. Values are never quoted. A union gets
 * no message: its alternatives have theirs.
 */
export const wording = (issue: z.core.$ZodRawIssue): string | undefined => detailOf(issue)?.text;

/** For `safeParse`: with the input, by which `messageOf` finds the code of a message. */
export const worded = { error: wording, reportInput: true } as const;

/** The message of an issue that was found with `worded`, and its code. */
export function messageOf(issue: z.core.$ZodIssue): Omit<Mistake, "path"> {
  const known = detailOf(issue);
  return known?.text === issue.message ? { message: known.text, coded: known.coded } : { message: issue.message };
}

/** The parts of an issue that both kinds of zod's have. */
type Issue = z.core.$ZodRawIssue | z.core.$ZodIssue;

function detailOf(issue: Issue): Detail | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? required : wrongType(issue.expected, issue.input, jsonTypes);
    case "invalid_value": {
      const values = issue.values.map(String);
      if (issue.input === undefined) return detail("input.requiredOneOf", { values: values.join(", ") });
      return oneOf(values, issue.input);
    }
    case "invalid_union":
      return issue.input === undefined ? required : discriminatorDetail(issue);
    default:
      return issue.input === undefined ? required : boundDetail(issue);
  }
}

const required = detail("input.required");

/** Why a value of the right type is refused. */
export function boundDetail(issue: Issue): Detail | undefined {
  switch (issue.code) {
    case "too_small":
      return bound(issue.origin, "AtLeast", Number(issue.minimum), issue.inclusive !== false);
    case "too_big":
      return bound(issue.origin, "AtMost", Number(issue.maximum), issue.inclusive !== false);
    case "not_multiple_of":
      return detail("input.multiple", { step: Number(issue.divisor) });
    case "invalid_format":
      return detail(formats[issue.format] ?? "input.format");
    case "unrecognized_keys":
      return detail("input.unknownKeys", { keys: issue.keys.slice(0, 5).join(", ") });
    case "invalid_key":
      return detail("input.name", { why: issue.issues.map(({ message }) => message).join("; ") });
    case "invalid_element":
      return detail("input.element");
    default:
      return undefined;
  }
}

/** The message for an object whose discriminating key has no valid value. */
export function discriminatorDetail(issue: Issue): Detail | undefined {
  const [discriminator, options] = [fieldOf(issue, "discriminator"), fieldOf(issue, "options")];
  if (typeof discriminator !== "string" || !Array.isArray(options)) return undefined;
  const { input } = issue;
  const value: unknown = typeof input === "object" && input !== null ? Reflect.get(input, discriminator) : undefined;
  return oneOf(options.map(String), value);
}

const fieldOf = (issue: Issue, key: string): unknown =>
  Object.hasOwn(issue, key) ? Reflect.get(issue, key) : undefined;

/** `must be one of shelly, tasmota, mqtt; did you mean "shelly"?` */
export function oneOf(known: readonly string[], input: unknown): Detail {
  const values = known.join(", ");
  const like = typeof input === "string" ? nearest(input, known) : undefined;
  if (like !== undefined) return detail(known.length > 1 ? "input.oneOfLike" : "input.onlyLike", { values, like });
  return detail(known.length > 1 ? "input.oneOf" : "input.only", { values });
}

/** The names of zod and JavaScript types in messages. */
export type TypeNames = Readonly<Record<string, Extract<DetailCode, `type.${string}`>>>;

const jsonTypes: TypeNames = {
  string: "type.text",
  number: "type.number",
  int: "type.whole",
  boolean: "type.boolean",
  array: "type.list",
  object: "type.object",
  record: "type.object",
};

/** `must be a number, is text`. */
export function wrongType(expected: string, input: unknown, names: TypeNames): Detail {
  const name = names[expected];
  const wanted = name === undefined ? expected : detail(name);
  if (input === null) return detail("input.typeEmpty", { wanted });
  const type = Array.isArray(input) ? "array" : typeof input;
  if (type === "number" && (expected === "int" || expected === "number")) return detail("input.type", { wanted });
  return detail("input.typeIs", { wanted, given: detail(names[type] ?? "type.other") });
}

const formats: Readonly<Record<string, "input.time" | "input.url">> = { datetime: "input.time", url: "input.url" };

function bound(origin: string, word: "AtLeast" | "AtMost", limit: number, inclusive: boolean): Detail {
  if (origin === "string")
    return word === "AtLeast" && limit === 1 ? detail("input.empty") : detail(`input.characters${word}`, { limit });
  if (origin === "array") return detail(`input.entries${word}`, { limit });
  if (inclusive) return detail(`input.number${word}`, { limit });
  return detail(word === "AtLeast" ? "input.more" : "input.less", { limit });
}
