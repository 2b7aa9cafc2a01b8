import { isUtf8 } from "node:buffer";
import { isRecord } from "../../contract/record.ts";
import { printable } from "../tolerant-reader.ts";
import { limits } from "./limits.ts";

/** A reply's value, with the repairs that it needed; or why it is not JSON even after repairs. */
export type Parsed = { readonly value: unknown; readonly repairs: readonly string[] } | { readonly problem: string };

/**
 * Strict JSON first; repairs of broken JSON seen on real devices only if that fails. Pure, never throws, linear in
 * time. Truncated JSON is not repaired, because its missing end is unknown.
 */
export function parseReply(text: string): Parsed {
  const strict = parseStrict(text);
  return "value" in strict || strict.problem === tooDeep ? strict : repair(text);
}

/** JSON as RFC 8259 has it, at most 32 levels deep. */
export function parseStrict(text: string): Parsed {
  if (!isShallow(text)) return { problem: tooDeep };
  try {
    const value: unknown = JSON.parse(text);
    return { value, repairs: none };
  } catch {
    return { problem: "the reply is not JSON" };
  }
}

const tooDeep = `the reply nests deeper than ${limits.depth} levels`;
const none: readonly string[] = [];
const latin1Note = "the reply is not UTF-8 and was read as Latin-1";

/** Bytes from a device as text: UTF-8, otherwise Latin-1. */
export const decode = (bytes: Buffer): { readonly text: string; readonly notes: readonly string[] } =>
  isUtf8(bytes)
    ? { text: bytes.toString("utf8"), notes: none }
    : { text: bytes.toString("latin1"), notes: [latin1Note] };

/**
 * JSON.parse accepts a million levels and needs a quarter of a second for them, so they are counted first. Most replies
 * have fewer brackets than the limit of levels, which is twenty times faster to check.
 */
function isShallow(text: string): boolean {
  if (count(text, "[") + count(text, "{") <= limits.depth) return true;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = stringEnd(text, at);
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > limits.depth) return false;
    } else if (code === 0x5d || code === 0x7d) {
      depth -= 1;
    }
  }
  return true;
}

function count(text: string, mark: string): number {
  let found = 0;
  for (let at = text.indexOf(mark); at !== -1 && found <= limits.depth; at = text.indexOf(mark, at + 1)) found += 1;
  return found;
}

/** The end of the string that opens at `start`; the text's length when it is not closed. */
function stringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return at;
    at = text.indexOf('"', at + 1);
  }
  return text.length;
}

function repair(text: string): Parsed {
  try {
    const repaired = new Repair(text);
    const value = repaired.documents();
    return { value, repairs: [...repaired.made] };
  } catch (error) {
    if (error instanceof Irreparable) return { problem: error.message };
    throw error;
  }
}

class Irreparable extends Error {}

const numberAt = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const strictNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** U+0000 to U+001F, which strict JSON does not allow in texts. */
const control = /[^\P{Cc}\u007f-\u009f]/gu;
const escapeAt = /\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g;
const wordAt = /[+-]?[A-Za-z]+/y;
const escapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Reads JSON as devices write it: `}{`, `,}`, `[,`, `""`, nan, raw newlines, NULs, a BOM, several documents. */
class Repair {
  readonly made = new Set<string>();
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** One document, or several in a row, of which the first has precedence. */
  documents(): unknown {
    this.#gap();
    if (this.#text[this.#at] === ",") return this.#headless();
    const first = this.#document();
    for (;;) {
      this.#gap();
      const next = this.#text[this.#at];
      if (next === undefined) return first;
      if (next !== "{") {
        this.made.add("bytes after the reply were ignored");
        return first;
      }
      this.made.add("several JSON documents were joined");
      const other = this.#nextDocument();
      if (other === undefined) return first;
      if (isRecord(first)) addMissing(first, other);
    }
  }

  #document(): unknown {
    const start = this.#text[this.#at];
    if (start !== "{" && start !== "[") throw new Irreparable("the reply is not JSON");
    return this.#value();
  }

  /** undefined when it is broken, which does not invalidate the first. */
  #nextDocument(): unknown {
    try {
      return this.#document();
    } catch (error) {
      if (error instanceof Irreparable) return undefined;
      throw error;
    }
  }

  #headless(): unknown {
    this.made.add("a missing { was added");
    this.#depth = 1;
    return this.#members();
  }

  #value(): unknown {
    switch (this.#text[this.#at]) {
      case "{":
        return this.#nested(() => this.#members());
      case "[":
        return this.#nested(() => this.#elements());
      case '"':
        return this.#string();
      default:
        return this.#bare();
    }
  }

  #nested<T>(read: () => T): T {
    this.#at += 1;
    this.#depth += 1;
    if (this.#depth > limits.depth) throw new Irreparable(tooDeep);
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #members(): Record<string, unknown> {
    const members: Record<string, unknown> = {};
    while (this.#more("}")) {
      const key = this.#string();
      this.#gap();
      if (this.#text[this.#at] !== ":") throw new Irreparable(`the reply is not JSON: no value for ${quote(key)}`);
      this.#at += 1;
      this.#gap();
      define(members, key, this.#value());
    }
    return members;
  }

  #elements(): unknown[] {
    const elements: unknown[] = [];
    while (this.#more("]")) elements.push(this.#value());
    return elements;
  }

  /** Skips to the next value; false if `close` comes first. */
  #more(close: string): boolean {
    const opened = this.#text[this.#at - 1] === "{" || this.#text[this.#at - 1] === "[";
    this.#gap();
    let commas = 0;
    while (this.#text[this.#at] === ",") {
      commas += 1;
      this.#at += 1;
      this.#gap();
    }
    const next = this.#text[this.#at];
    if (next === undefined) throw new Irreparable("the reply ends in the middle");
    if (next === close) {
      this.#at += 1;
      if (commas > 0) this.made.add("extra commas were ignored");
      return false;
    }
    if (opened ? commas > 0 : commas > 1) this.made.add("extra commas were ignored");
    if (!opened && commas === 0) this.made.add("missing commas were added");
    return true;
  }

  #string(): string {
    if (this.#text[this.#at] !== '"') throw new Irreparable("the reply is not JSON: a name or value is not in quotes");
    const end = stringEnd(this.#text, this.#at);
    if (end === this.#text.length) throw new Irreparable("the reply ends in the middle of a text");
    const raw = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return this.#unescape(raw);
  }

  #unescape(raw: string): string {
    const clean = raw.replace(control, "");
    if (clean !== raw) this.made.add("control characters in texts were dropped");
    return clean.replace(escapeAt, (_, hex: string | undefined, letter: string | undefined) =>
      hex === undefined ? (escapes[letter ?? ""] ?? letter ?? "") : String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }

  #bare(): unknown {
    numberAt.lastIndex = this.#at;
    const number = numberAt.exec(this.#text)?.[0];
    if (number !== undefined) {
      this.#at += number.length;
      if (!strictNumber.test(number)) this.made.add("oddly written numbers were read");
      return Number(number);
    }
    wordAt.lastIndex = this.#at;
    const word = wordAt.exec(this.#text)?.[0];
    if (word === undefined) throw new Irreparable("the reply is not JSON: a value is missing");
    this.#at += word.length;
    if (word === "true" || word === "false") return word === "true";
    if (word === "null") return null;
    if (!/^[+-]?(?:nan|inf|infinity)$/i.test(word))
      throw new Irreparable(`the reply is not JSON: bare word ${quote(word)}`);
    this.made.add("nan and inf were read as unknown");
    return null;
  }

  /** Skips whitespace, and what should not be between values: NULs, other control characters, a BOM. */
  #gap(): void {
    for (; this.#at < this.#text.length; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0xfeff) this.made.add("a byte order mark was ignored");
      else if (code === 0) this.made.add("NULs in the reply were ignored");
      else if (code > 0x20) return;
    }
  }
}

const quote = (text: string): string => JSON.stringify(printable(text.slice(0, 32)));

/** As JSON.parse does: `__proto__` becomes a key like any other. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function addMissing(first: Record<string, unknown>, other: unknown): void {
  if (!isRecord(other)) return;
  for (const key of Object.keys(other)) if (!Object.hasOwn(first, key)) define(first, key, other[key]);
}
