import type { QueryText } from "../contract/decode.ts";

const none: QueryText = { values: new Map(), repeated: new Set(), broken: new Set() };

/** Parses the query of a request target in form encoding: `+` is a space. */
export function readQuery(target: string): QueryText {
  const start = target.indexOf("?");
  if (start === -1) return none;
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  const broken = new Set<string>();
  for (const pair of withoutFragment(target.slice(start + 1)).split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decoded(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? "" : decoded(pair.slice(equals + 1));
    if (name === undefined) continue;
    if (value === undefined) broken.add(name);
    else if (values.has(name)) repeated.add(name);
    else values.set(name, value);
  }
  for (const name of [...repeated, ...broken]) values.delete(name);
  return { values, repeated, broken };
}

const withoutFragment = (text: string): string => text.split("#", 1)[0] ?? "";

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
