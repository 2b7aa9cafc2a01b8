import type { z } from "zod";
import type { Finding, Path } from "./document.ts";
import { didYouMean } from "./nearest.ts";

/** For zod: what is wrong, in our words, where the schema has none of its own. Values are never quoted. */
export function sentence(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return wrongType(issue.expected, issue.input);
    case "too_small":
      return bound(issue.origin, "at least", Number(issue.minimum));
    case "too_big":
      return bound(issue.origin, "at most", Number(issue.maximum));
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}`;
    default:
      return "is not written as it should be";
  }
}

/**
 * One finding for each thing that zod found; unknown keys come one by one, with what `unknownKey` says of them, and of a
 * union that which fits the value's type.
 */
export const findingsIn = (
  issues: readonly z.core.$ZodIssue[],
  unknownKey: (path: Path, key: string) => Finding,
  at: Path = [],
): Finding[] =>
  issues.flatMap((issue): Finding[] => {
    const path = [...at, ...issue.path];
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(path, key));
    const meant = issue.code === "invalid_union" ? meantOption(issue) : undefined;
    return meant === undefined ? [{ path, message: issue.message }] : findingsIn(meant, unknownKey, path);
  });

/** `is no known key; did you mean "address"?`, or what is known there. */
export function unknownKeySentence(key: string, known: readonly string[]): string {
  return `is no known key${didYouMean(key, known) || `; known here: ${known.join(", ")}`}`;
}

/** What is wrong with the only option of a union that the value's type fits. */
function meantOption({ errors }: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined {
  const fitting = errors.filter(
    (issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping of keys",
};

function wrongType(expected: string, input: unknown): string {
  if (input === undefined) return "is missing";
  const wanted = typeNames[expected] ?? expected;
  if (typeof input === "string" && (expected === "number" || expected === "int" || expected === "boolean")) {
    return `must be ${wanted}, is text (quotes and \${VARIABLE} make text)`;
  }
  if (Array.isArray(input)) return `must be ${wanted}, is a list`;
  if (input === null) return `must be ${wanted}, is empty`;
  if (typeof input === "number" && (expected === "int" || expected === "number")) return `must be ${wanted}`;
  return `must be ${wanted}, is ${typeNames[typeof input] ?? "something else"}`;
}

function bound(origin: string, word: "at least" | "at most", limit: number): string {
  if (origin === "string")
    return word === "at least" && limit === 1 ? "must not be empty" : `needs ${word} ${limit} characters`;
  if (origin === "array")
    return word === "at least" ? `needs ${word} ${limit} of them` : `has room for ${word} ${limit} entries`;
  return `must be ${word} ${limit}`;
}
