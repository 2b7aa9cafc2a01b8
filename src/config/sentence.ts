import type { z } from "zod";
import { didYouMean, nearest } from "../contract/nearest.ts";
import { boundSentence, discriminatorSentence, oneOf, type TypeNames, wrongType } from "../contract/wording.ts";
import type { Finding, Path } from "./document.ts";

/** For zod: a sentence for each issue whose schema does not define one. It never quotes the value. */
export function sentence(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? missing
        : `${wrongType(issue.expected, issue.input, yamlTypes)}${hint(issue.expected, issue.input)}`;
    case "invalid_value":
      return oneOf(issue.values.map(String), issue.input);
    case "invalid_union":
      return discriminatorSentence(issue) ?? malformed;
    default:
      return boundSentence(issue) ?? malformed;
  }
}

const missing = "is missing";
const malformed = "has the wrong format";

/**
 * One finding for each issue of zod: one for each unknown key, made by `unknownKey`, and of a union those of the option
 * that fits the type of the value.
 */
export const findingsIn = (
  issues: readonly z.core.$ZodIssue[],
  unknownKey: (path: Path, key: string) => Finding,
  at: Path = [],
): Finding[] =>
  onceEach(
    issues.flatMap((issue): Finding[] => {
      const path = [...at, ...issue.path];
      if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(path, key));
      const meant = issue.code === "invalid_union" ? meantOption(issue) : undefined;
      return meant === undefined ? [{ path, message: issue.message }] : findingsIn(meant, unknownKey, path);
    }),
  );

/** A misspelt key is not reported as missing too. */
function onceEach(findings: readonly Finding[]): Finding[] {
  const absent = findings.filter(({ message }) => message === missing).map(({ path }) => path);
  const beside = ({ path }: Finding): string[] =>
    absent.filter((each) => isSame(each.slice(0, -1), path.slice(0, -1))).map((each) => String(each.at(-1)));
  const misspelt = findings
    .filter(({ message }) => message.startsWith(unknown))
    .flatMap((finding) => {
      const meant = nearest(String(finding.path.at(-1)), beside(finding));
      return meant === undefined ? [] : [[...finding.path.slice(0, -1), meant]];
    });
  return findings.filter(({ path, message }) => message !== missing || !misspelt.some((each) => isSame(each, path)));
}

const isSame = (one: Path, other: Path): boolean =>
  one.length === other.length && one.every((step, index) => step === other[index]);

const unknown = "is not a known key";

/** `is not a known key; did you mean "address"?`, or the keys that are known there. */
export function unknownKeySentence(key: string, known: readonly string[]): string {
  return `${unknown}${didYouMean(key, known) || `; known here: ${known.join(", ")}`}`;
}

/** The issues of the only option of a union that fits the type of the value. */
function meantOption({ errors }: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined {
  const fitting = errors.filter(
    (issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

const yamlTypes: TypeNames = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping of keys",
  record: "a mapping of keys",
};

/** The probable intention, or why a value has another type than it seems to have. */
function hint(expected: string, input: unknown): string {
  if (expected === "string" && (typeof input === "number" || typeof input === "boolean")) return "; put it in quotes";
  if (typeof input !== "string" || !["number", "int", "boolean"].includes(expected)) return "";
  const isMeant = expected === "boolean" ? /^(true|false)$/.test(input) : /^-?\d+(\.\d+)?$/.test(input);
  if (isMeant) return `; write it without quotes (\${VARIABLE} is always text)`;
  if (expected === "number" && /^-?\d+,\d+$/.test(input)) return "; use a decimal point instead of the comma";
  return ` (quotes and \${VARIABLE} make it text)`;
}
