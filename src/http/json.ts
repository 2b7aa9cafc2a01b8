import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import { surveyJson } from "./json-survey.ts";

/** Reads a JSON body. Throws `input.invalid` that says where it is broken and repeats nothing of it. */
export const parseBody = (text: string, deepest: number): unknown => parseJson(text, deepest, "body");

/** What a text of JSON may hold; far more than any operation takes, and little enough to be looked through in no time. */
const most = {
  /** Members of all its objects together. */
  names: 1_000,
  /** Items of all its lists together: a bulk action may name 100,000 miners. */
  items: 110_000,
  /** Characters of one string, as it is written. */
  characters: 20_000,
};

/**
 * The same of what is called so, as "payload". The text is surveyed before it is parsed: JSON.parse and the schemas take
 * ten times as long for what is nested, named and escaped without end.
 */
export function parseJson(text: string, deepest: number, name: string): unknown {
  const { fault, excess } = surveyJson(text, { ...most, levels: deepest });
  if (excess !== undefined) throw new RigbridgeError("input.invalid", `The ${name} ${excesses[excess]}`);
  if (fault !== undefined) throw new RigbridgeError("input.invalid", `The ${name} is no JSON: ${place(text, fault)}`);
  const value: unknown = JSON.parse(text);
  const forbidden = forbiddenIn(value);
  if (forbidden !== undefined)
    throw new RigbridgeError("input.invalid", `The ${name} holds the forbidden name ${forbidden}`);
  return value;
}

const excesses = {
  levels: "is nested too deeply",
  names: `has more than ${most.names.toLocaleString("en-US")} names`,
  items: `has more than ${most.items.toLocaleString("en-US")} items in its lists`,
  characters: `has a string of more than ${most.characters.toLocaleString("en-US")} characters`,
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
