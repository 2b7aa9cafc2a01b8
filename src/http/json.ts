import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import { surveyJson } from "./json-survey.ts";

/** Parses a JSON body. Throws `input.invalid` with the position of the error, quoting nothing of the body. */
export const parseBody = (text: string, deepest: number, longestText?: number): unknown =>
  parseJson(text, deepest, "body", longestText);

/** Limits of a JSON text: far above what any operation needs, and low enough to be scanned at once. */
const most = {
  /** Members of all objects together. */
  names: 1_000,
  /** Items of all arrays together: a bulk action may name 100,000 miners. */
  items: 110_000,
  /** Characters of one string, escapes included. */
  characters: 20_000,
};

/**
 * Parses a JSON text, which errors call `name`, as "payload". The text is scanned first: JSON.parse and the schemas take
 * ten times as long on texts with excessive nesting, names or escapes.
 */
export function parseJson(text: string, deepest: number, name: string, characters: number = most.characters): unknown {
  const { fault, excess } = surveyJson(text, { ...most, characters, levels: deepest });
  if (excess !== undefined) throw new RigbridgeError("input.invalid", `The ${name} ${excesses[excess](characters)}`);
  if (fault !== undefined) throw new RigbridgeError("input.invalid", `The ${name} is not JSON: ${place(text, fault)}`);
  const value: unknown = JSON.parse(text);
  const forbidden = forbiddenIn(value);
  if (forbidden !== undefined)
    throw new RigbridgeError("input.invalid", `The ${name} contains the forbidden name ${forbidden}`);
  return value;
}

const excesses = {
  levels: () => "is nested too deeply",
  names: () => `has more than ${most.names.toLocaleString("en-US")} names`,
  items: () => `has more than ${most.items.toLocaleString("en-US")} items in its lists`,
  characters: (longest: number) => `has a string of more than ${longest.toLocaleString("en-US")} characters`,
};

/** Names that would reach a prototype. */
function forbiddenIn(value: unknown): string | undefined {
  if (Array.isArray(value)) return firstOf(value, forbiddenIn);
  if (!isRecord(value)) return undefined;
  if (Object.hasOwn(value, "__proto__")) return "__proto__";
  return firstOf(Object.entries(value), ([name, part]) =>
    name === "constructor" && isRecord(part) && Object.hasOwn(part, "prototype")
      ? "constructor.prototype"
      : forbiddenIn(part),
  );
}

function firstOf<T>(list: readonly T[], find: (each: T) => string | undefined): string | undefined {
  for (const each of list) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function place(text: string, offset: number): string {
  if (offset >= text.length) return "it ends too early";
  let [line, begins] = [1, 0];
  for (let end = text.indexOf("\n"); end !== -1 && end < offset; end = text.indexOf("\n", begins)) {
    line += 1;
    begins = end + 1;
  }
  return `line ${line}, column ${offset - begins + 1}`;
}
