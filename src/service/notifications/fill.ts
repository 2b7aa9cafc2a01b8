import { filled } from "../../contract/texts.ts";

/** What texts of a channel may name, such as `{{title}}`. */
export type Values = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The text with the values that it names; an unknown one is empty. Nothing in a value is ever filled in again. */
export const fill = (text: string, values: Values, write: (value: string) => string): string =>
  filled(text, (name) => write(String(values[name] ?? "")));

export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

/**
 * The JSON value with the values that its texts name. A text that is one name alone becomes the value itself, such as a
 * number; without a value it is left out.
 */
export function fillJson(json: Json, values: Values, write: (value: string) => string): Json | undefined {
  if (typeof json === "string") {
    const alone = /^\{\{([a-zA-Z0-9_.]+)\}\}$/.exec(json)?.[1];
    if (alone === undefined) return fill(json, values, write);
    const value = values[alone];
    return typeof value === "string" ? write(value) : value;
  }
  if (typeof json !== "object") return json;
  if (isList(json)) return json.flatMap((each) => fillJson(each, values, write) ?? []);
  return Object.fromEntries(
    Object.entries(json).flatMap(([key, each]) => {
      const value = fillJson(each, values, write);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

const isList = (json: object): json is readonly Json[] => Array.isArray(json);

/** How values are written into each kind of text. */
export const escapes = {
  plain: (value: string) => value,
  html: (value: string) => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  json: (value: string) => JSON.stringify(value).slice(1, -1),
  /** A colon may stand in a path, and a bot's token has one. */
  url: (value: string) => encodeURIComponent(value.toWellFormed()).replaceAll("%3A", ":"),
} as const;
