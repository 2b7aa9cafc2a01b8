import type { z } from "zod";
import { nearest } from "../contract/nearest.ts";
import { boundDetail, discriminatorDetail, oneOf, type TypeNames, wrongType } from "../contract/wording.ts";
import type { CodedText, Detail } from "../messages/coded-text.ts";
import { detail } from "../messages/detail.ts";
import type { Finding, Path } from "./document.ts";

/** For zod: a sentence for each issue whose schema does not define one. It never quotes the value. */
export const sentence = (issue: z.core.$ZodRawIssue): string => detailOf(issue).text;

function detailOf(issue: z.core.$ZodRawIssue | z.core.$ZodIssue): Detail {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return missing;
      return hinted(wrongType(issue.expected, issue.input, yamlTypes), issue.expected, issue.input);
    case "invalid_value":
      return oneOf(issue.values.map(String), issue.input);
    case "invalid_union":
      return discriminatorDetail(issue) ?? malformed;
    default:
      return boundDetail(issue) ?? malformed;
  }
}

/** The code of an issue's message, if the issue has its input; undefined for a message of its schema. */
function codedOf(issue: z.core.$ZodIssue): CodedText | undefined {
  const { text, coded } = detailOf(issue);
  return text === issue.message ? coded : undefined;
}

const missing = detail("input.missing");
const malformed = detail("input.format");

/**
 * One finding for each issue of zod: one for each unknown key, made by `toFinding`, and of a union those of the option
 * that fits the type of the value.
 */
export const findingsIn = (
  issues: readonly z.core.$ZodIssue[],
  toFinding: (path: Path, key: string) => Finding,
  at: Path = [],
): Finding[] =>
  onceEach(
    issues.flatMap((issue): Finding[] => {
      const path = [...at, ...issue.path];
      if (issue.code === "unrecognized_keys") return issue.keys.map((key) => toFinding(path, key));
      const meant = issue.code === "invalid_union" ? meantOption(issue) : undefined;
      return meant === undefined
        ? [{ path, message: issue.message, coded: codedOf(issue) }]
        : findingsIn(meant, toFinding, path);
    }),
  );

/** A misspelt key is not reported as missing too. */
function onceEach(findings: readonly Finding[]): Finding[] {
  const absent = findings.filter(({ message }) => message === missing.text).map(({ path }) => path);
  const beside = ({ path }: Finding): string[] =>
    absent.filter((each) => isSame(each.slice(0, -1), path.slice(0, -1))).map((each) => String(each.at(-1)));
  const misspelt = findings
    .filter(({ message }) => message.startsWith(unknown))
    .flatMap((finding) => {
      const meant = nearest(String(finding.path.at(-1)), beside(finding));
      return meant === undefined ? [] : [[...finding.path.slice(0, -1), meant]];
    });
  return findings.filter(
    ({ path, message }) => message !== missing.text || !misspelt.some((each) => isSame(each, path)),
  );
}

const isSame = (one: Path, other: Path): boolean =>
  one.length === other.length && one.every((step, index) => step === other[index]);

const unknown = "is not a known key";

/** `is not a known key; did you mean "address"?`, or the keys that are known there. */
export function unknownKey(key: string, known: readonly string[]): Detail {
  const like = nearest(key, known);
  return like === undefined
    ? detail("input.unknownKey", { known: known.join(", ") })
    : detail("input.unknownKeyLike", { like });
}

/** The same without its code. */
export const unknownKeySentence = (key: string, known: readonly string[]): string => unknownKey(key, known).text;

/** The issues of the only option of a union that fits the type of the value. */
function meantOption({ errors }: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined {
  const fitting = errors.filter(
    (issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

const yamlTypes: TypeNames = {
  string: "type.text",
  number: "type.number",
  int: "type.whole",
  boolean: "type.boolean",
  array: "type.list",
  object: "type.mapping",
  record: "type.mapping",
};

const variable = `\${VARIABLE}`;

/** The probable intention, or why a value has another type than it seems to have. */
function hinted(mistake: Detail, expected: string, input: unknown): Detail {
  const withHint = (hint: Detail): Detail => detail("input.hinted", { mistake, hint });
  if (expected === "string" && (typeof input === "number" || typeof input === "boolean"))
    return withHint(detail("hint.quotes"));
  if (typeof input !== "string" || !["number", "int", "boolean"].includes(expected)) return mistake;
  const isMeant = expected === "boolean" ? /^(true|false)$/.test(input) : /^-?\d+(\.\d+)?$/.test(input);
  if (isMeant) return withHint(detail("hint.noQuotes", { variable }));
  if (expected === "number" && /^-?\d+,\d+$/.test(input)) return withHint(detail("hint.point"));
  return detail("input.aside", { mistake, hint: detail("hint.text", { variable }) });
}
