import type { RigbridgeError } from "../contract/problems.ts";
import type { Parser } from "../units/parse.ts";
import type { Fields } from "./fields.ts";
import { type Omitting, omitted } from "./omissions.ts";
import { oneLine } from "./secrets.ts";

/** How many of a server's display strings depend on the locale, and how many of those do not match the configured one. */
export interface Tally {
  checked: number;
  mismatched: number;
}

/**
 * Reads the numbers of one object from a foreign server: the `...Value` field first, otherwise the display string in
 * the server's locale. If both exist, the string verifies the locale. Unreadable values become null, with a note.
 */
export class Display implements Omitting {
  readonly notes: string[] = [];
  readonly #locale: string;
  readonly #tally: Tally;

  constructor(locale: string, tally: Tally) {
    this.#locale = locale;
    this.#tally = tally;
  }

  /** `known` is the value of the `...Value` field. */
  number(fields: Fields, key: string, known: number | null, read: (text: string) => number | null): number | null {
    const text = fields.textOrNull(key);
    if (text === null || text.trim() === "") return known;
    const shown = read(text);
    const showsLocale = /\d\D\d/.test(text);
    const fits = shown !== null && (known === null || isNear(shown, known));
    if (showsLocale) this.#tally.checked += 1;
    if (!fits) this.#complain(fields.path(key), text, shown !== null, showsLocale);
    return known ?? shown;
  }

  /** Notes a device or pool that cannot be read. */
  omit(why: RigbridgeError): void {
    this.notes.push(omitted(why));
  }

  #complain(path: string, text: string, isReadable: boolean, showsLocale: boolean): void {
    if (showsLocale) this.#tally.mismatched += 1;
    const field = `${path} says "${oneLine(text, 60)}"`;
    this.notes.push(
      isReadable
        ? `${field}, which its number contradicts; the server's locale does not seem to be ${this.#locale}`
        : `${field}, which cannot be read as ${this.#locale}`,
    );
  }
}

/** Display strings have at least three digits, or two decimals. */
const isNear = (shown: number, known: number): boolean => Math.abs(shown - known) <= Math.max(0.01, known * 0.01);

/** Reads the number after a label: "Accepted: 1 234 (99%)", "Power: 2865 W". */
export const labelled =
  (read: (text: string) => number | null) =>
  (text: string): number | null =>
    read(
      text
        .slice(text.lastIndexOf(":") + 1)
        .replace(/\(.*$/, "")
        .trim(),
    );

/** One temperature per board; none if the text has none. */
export const boardTemperatures = (text: string, parser: Parser): number[] => parser.temperatures(text) ?? [];
