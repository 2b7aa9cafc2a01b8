import { filled } from "../../contract/texts.ts";

/** The values that texts of a channel may name, such as `{{title}}`. */
export type Values = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The text with its names replaced by values; an unknown one becomes empty. Values are never filled in again. */
export const fill = (text: string, values: Values, write: (value: string) => string): string =>
  filled(text, (name) => write(String(values[name] ?? "")));

export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

/**
 * The JSON value with names in its texts replaced. A text that is a single name becomes the value itself, such as a
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

/** How values are escaped in each kind of text. */
export const escapes = {
  plain: (value: string) => value,
  html: (value: string) => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  json: (value: string) => JSON.stringify(value).slice(1, -1),
  /** A colon may stand in a path, and a bot's token has one. */
  url: (value: string) => encodeURIComponent(value.toWellFormed()).replaceAll("%3A", ":"),
} as const;
