import { fraction } from "./random.ts";

/** What broken firmware does to the text of a reply. Each takes a whole JSON text and returns what is sent instead. */

/** Separators between records forgotten: `}{`. Untouched where the reply has only one record. */
export const withoutCommas = (text: string): string => text.replace(/\}\s*,\s*\{/g, "}{");

export const withTrailingCommas = (text: string): string => text.replace(/(?<=[^[{,\s])(\s*[}\]])/g, ",$1");

/** What C prints for a ratio of nothing to nothing. */
export function withNan(text: string): string {
  const words = ["nan", "inf", "-nan"];
  let count = 0;
  return text.replace(
    /("(?:Device Hardware%|Device Rejected%|Pool Stale%|errorPercentage|avg_time)":\s*)-?[\d.]+/g,
    (_, key: string) => `${key}${words[count++ % words.length]}`,
  );
}

export const withMark = (text: string): string => `\uFEFF${text}\r\n`;

/** In the middle of the first string value that has a middle. */
export const withNulInside = (text: string): string => text.replace(/(":\s*"[\w ]{2})(?=[\w ]{2})/, "$1\0");

/** An e-acute as one byte, in the first pool user. */
export const withLatin1 = (text: string): Buffer =>
  Buffer.from(text.replace(/("(?:User|stratumUser|user|worker_id)":\s*")/, "$1\u00e9"), "latin1");

/** More than a megabyte, still valid JSON where the reply is an object. */
export const huge = (text: string): string => text.replace("{", `{"padding":"${"x".repeat(1_500_000)}",`);

export const deep = (text: string): string => text.replace("{", `{"deep":${"[".repeat(10_000)}${"]".repeat(10_000)},`);

/** Numbers become objects, words and nulls, strings become numbers; what `STATUS` says stays readable. */
export function withWrongTypes(text: string): string {
  const instead = ["{}", "null", '"many"', "[]"];
  let count = 0;
  return text.replace(/("(?!STATUS|Code|When|Msg)[^"]+":\s*)(-?[\d.]+|"[^"]*")/g, (_, key: string, value: string) =>
    value.startsWith('"') ? `${key}42` : `${key}${instead[count++ % instead.length]}`,
  );
}

/** The same every time. */
export const garbage = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, index) => fraction(length, index) * 256));
