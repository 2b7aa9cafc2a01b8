import type { MiningProgram } from "./mining-program.ts";

/** Mistakes in a user's parameters, one sentence each; empty if the program may receive them. */
export function parameterMistakes(program: MiningProgram, text: string): string[] {
  const split = splitWords(text);
  if ("mistake" in split) return [split.mistake];
  const rules = rulesOf(program);
  return [...new Set(split.words.flatMap((word) => refusal(word, rules) ?? []))];
}

/**
 * Splits a text into words as a POSIX shell does: white space between words, '…' literally, "…" with \ before ", \, $ and
 * `, and \ before any other character outside of quotes. Nothing is expanded: $, `, *, ~, ;, | and # are ordinary.
 */
export function splitWords(text: string): { readonly words: readonly string[] } | { readonly mistake: string } {
  const control = [...text].find((each) => /\p{Cc}/u.test(each) && !/[\t\n\r]/.test(each));
  if (control !== undefined) return { mistake: "contains control characters" };
  const words: string[] = [];
  let rest = text;
  for (;;) {
    rest = rest.replace(/^[ \t\r\n]+/, "");
    if (rest === "") return { words };
    let word = "";
    while (rest !== "" && !/^[ \t\r\n]/.test(rest)) {
      const [piece = "", plain, escaped, single, double] = wordPiece.exec(rest) ?? [];
      if (piece === "") {
        return { mistake: rest.startsWith("\\") ? "ends with a backslash" : `has an unclosed ${rest.charAt(0)}` };
      }
      word += plain ?? single ?? escaped?.replace("\n", "") ?? double?.replace(/\\(["\\$`\n])/g, unescaped);
      rest = rest.slice(piece.length);
    }
    words.push(word);
  }
}

/** A part of a word: plain, after a backslash, in single quotes, or in double quotes. */
const wordPiece = /^(?:([^ \t\r\n'"\\]+)|\\([\s\S])|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)")/;

/** A backslash before a line end joins the lines. */
const unescaped = (_: string, character: string): string => (character === "\n" ? "" : character);

/** Options that are refused for every program: they set its API, run or load something, or detach it. */
const suspiciousWords = [
  "api\\d*|http|telemetry",
  "exec|execute|cmd|loader",
  "background|daemon(ized?)?|syslog",
  "reboot|autoupdate",
].join("|");
const suspicious = new RegExp(`(^|-)(${suspiciousWords})(-|$)|script|log-?file|log-?path`);

interface Rules {
  readonly style: MiningProgram["options"];
  /** Long names that are prefixes of a reserved one. */
  readonly ordinary: ReadonlySet<string>;
  /** Long names, in lower case with - for _. */
  readonly long: ReadonlySet<string>;
  /** Single letters. */
  readonly short: ReadonlySet<string>;
}

function rulesOf({ options, reserved, ordinary = [], command }: MiningProgram): Rules {
  const ownWords = [...command.api, ...command.supervised].flatMap(({ args }) => args);
  const names = [...reserved, ...ownWords.filter(isOption)].map((word) => word.replace(/=.*/, ""));
  const isShort = (name: string): boolean => options === "getopt" && /^-[^-]$/.test(name);
  return {
    style: options,
    ordinary: new Set(ordinary.map(longName)),
    long: new Set(names.filter((name) => !isShort(name)).map(longName)),
    short: new Set(names.filter(isShort).map((name) => name.charAt(1))),
  };
}

/** `-5` and `-` are values. */
export const isOption = (word: string): boolean => /^-+[^-\d.]/.test(word);

/** Without dashes and value. Some programs separate the value by a colon, and accept _ for -. */
const longName = (word: string): string =>
  word
    .replace(/^-+/, "")
    .replace(/[=:].*$/s, "")
    .replaceAll("_", "-")
    .toLowerCase();

/**
 * Programs differ in the accepted syntax (values after = or : or without a separator, abbreviations, several letters
 * behind one dash), so every word that could be read as a reserved option is refused, in any position.
 */
function refusal(word: string, { style, ordinary, long, short }: Rules): string | null {
  if (!isOption(word)) return null;
  const letters = word.startsWith("--") ? "" : word.slice(1).replace(/[=:].*$/s, "");
  const letter = [...letters].find((each) => short.has(each));
  if (letter !== undefined) {
    return letters === letter
      ? `-${letter} is set by the agent, or not allowed`
      : `a word that begins with ${word.slice(0, 2)} could be read as -${letter}, ` +
          "which is set by the agent, or not allowed; separate values by a space";
  }
  const name = longName(word);
  if (long.has(name) || suspicious.test(name)) return `${nameIn(word)} is set by the agent, or not allowed`;
  const mayAbbreviate = (word.startsWith("--") || name.length > 2) && !ordinary.has(name);
  const mayHaveValue = style === "single-dash";
  const reserved = [...long].find(
    (each) =>
      (mayAbbreviate && each.startsWith(name)) ||
      (mayHaveValue && name.startsWith(each) && /^[^a-z]/.test(name.slice(each.length))),
  );
  if (reserved === undefined) return null;
  return `"${nameIn(word)}" could be read as ${reserved}, which is set by the agent, or not allowed`;
}

/** The option as written, without its value, which may be a secret. */
const nameIn = (word: string): string => word.replace(/[=:].*$/s, "").slice(0, 40);
