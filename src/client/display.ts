import type { RigbridgeError } from "../contract/problems.ts";
import type { Parser } from "../units/parse.ts";
import type { Fields } from "./fields.ts";
import { type Omitting, omitted } from "./omissions.ts";
import { oneLine } from "./secrets.ts";

/** How many of a server's display strings could tell its locale, and how many of them did not fit the one it has. */
export interface Tally {
  checked: number;
  mismatched: number;
}

/**
 * Numbers of one object from a foreign server: the `...Value` field first, else the display string in the server's
 * locale. Where both are there, the string is the proof of the locale. What cannot be read is null and a note.
 */
export class Display implements Omitting {
  readonly notes: string[] = [];
  readonly #locale: string;
  readonly #tally: Tally;

  constructor(locale: string, tally: Tally) {
    this.#locale = locale;
    this.#tally = tally;
  }

  /** `known`: what the `...Value` field says; `step`: half a unit of the string's last digit, relative to 1. */
  number(fields: Fields, key: string, known: number | null, read: (text: string) => number | null): number | null {
    const text = fields.textOrNull(key);
    if (text === null || text.trim() === "") return known;
    const shown = read(text);
    const isTelling = /\d\D\d/.test(text);
    const fits = shown !== null && (known === null || isNear(shown, known));
    if (isTelling) this.#tally.checked += 1;
    if (!fits) this.#complain(fields.path(key), text, shown !== null, isTelling);
    return known ?? shown;
  }

  /** A device or a pool that cannot be read is left out. */
  omit(why: RigbridgeError): void {
    this.notes.push(omitted(why));
  }

  #complain(path: string, text: string, isReadable: boolean, isTelling: boolean): void {
    if (isTelling) this.#tally.mismatched += 1;
    const said = `${path} says "${oneLine(text, 60)}"`;
    this.notes.push(
      isReadable
        ? `${said}, which its number contradicts; the server's locale seems not to be ${this.#locale}`
        : `${said}, which cannot be read as ${this.#locale}`,
    );
  }
}

/** Display strings have at least three digits, or two decimals. */
const isNear = (shown: number, known: number): boolean => Math.abs(shown - known) <= Math.max(0.01, known * 0.01);

/** The number behind a label: "Accepted: 1 234 (99%)", "Power: 2865 W". */
export const labelled =
  (read: (text: string) => number | null) =>
  (text: string): number | null =>
    read(
      text
        .slice(text.lastIndexOf(":") + 1)
        .replace(/\(.*$/, "")
        .trim(),
    );

/** One per board; none where the text is none. */
export const boardTemperatures = (text: string, parser: Parser): number[] => parser.temperatures(text) ?? [];
