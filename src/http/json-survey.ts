/** Limits of a JSON text. */
export interface JsonBounds {
  /** Levels of nesting. */
  readonly levels: number;
  /** Members of all objects together. */
  readonly names: number;
  /** Items of all arrays together. */
  readonly items: number;
  /** Characters of one string, escapes included. */
  readonly characters: number;
}

export interface JsonSurvey {
  /** Offset of the first character that is not JSON (RFC 8259); the text's length if it ends too early. */
  readonly fault?: number;
  /** The limit that the text exceeds; the rest was not checked. */
  readonly excess?: keyof JsonBounds;
}

/** Scans a JSON text once, character by character, keeping only the open brackets. */
export function surveyJson(text: string, bounds: JsonBounds): JsonSurvey {
  let at = 0;
  let names = 0;
  let items = 0;
  let excess: keyof JsonBounds | undefined;
  const closers: number[] = [];

  const next = (): number => {
    while (isSpace(text.charCodeAt(at))) at += 1;
    return text.charCodeAt(at);
  };
  const within = (bound: keyof JsonBounds, count: number): boolean => {
    if (count > bounds[bound]) excess = bound;
    return excess === undefined;
  };
  const string = (): boolean => {
    if (text.charCodeAt(at) !== quote) return false;
    const first = at + 1;
    for (at = first; ; at += 1) {
      const each = text.charCodeAt(at);
      if (each === quote) break;
      // Control characters, and NaN beyond the end.
      if (!(each >= space) || !within("characters", at - first + 1)) return false;
      if (each !== backslash) continue;
      const length = lengthOf(escaped, text, at);
      if (length === 0) return false;
      at += length - 1;
    }
    at += 1;
    return true;
  };
  const name = (): boolean => {
    names += 1;
    if (!within("names", names) || next() !== quote || !string() || next() !== colon) return false;
    at += 1;
    return true;
  };
  const item = (): boolean => {
    items += 1;
    return within("items", items);
  };
  /** What must precede the next value. */
  const introduction = (): boolean => (closers.at(-1) === closeBrace ? name() : item());
  /** After an opening bracket: true if a value must follow, undefined if the text is invalid. */
  const opened = (closer: number): boolean | undefined => {
    at += 1;
    closers.push(closer);
    if (!within("levels", closers.length)) return undefined;
    if (next() === closer) return false;
    return introduction() ? true : undefined;
  };
  const value = (): boolean => {
    if (text.charCodeAt(at) === quote) return string();
    const length = lengthOf(scalar, text, at);
    at += length;
    return length > 0;
  };
  const stopped = (): JsonSurvey => (excess === undefined ? { fault: at } : { excess });

  for (;;) {
    const first = next();
    if (first === openBrace || first === openBracket) {
      const more = opened(first === openBrace ? closeBrace : closeBracket);
      if (more === undefined) return stopped();
      if (more) continue;
    } else if (!value()) return stopped();
    while (closers.length > 0 && next() === closers.at(-1)) {
      closers.pop();
      at += 1;
    }
    const end = next();
    if (closers.length === 0) return at === text.length ? {} : stopped();
    if (end !== comma) return stopped();
    at += 1;
    if (!introduction()) return stopped();
  }
}

const code = (character: string): number => character.charCodeAt(0);
const space = code(" ");
const quote = code('"');
const backslash = code("\\");
const comma = code(",");
const colon = code(":");
const openBrace = code("{");
const closeBrace = code("}");
const openBracket = code("[");
const closeBracket = code("]");

const isSpace = (each: number): boolean => each === space || each === 0x0a || each === 0x0d || each === 0x09;

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The length of the pattern's match at this offset; 0 if there is none. */
function lengthOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex - at : 0;
}
