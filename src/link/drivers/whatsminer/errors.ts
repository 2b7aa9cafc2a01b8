import { whatsminerErrors, whatsminerParts } from "../../../catalogue/whatsminer-errors.ts";
import type { RigReadings } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import { printable } from "../../tolerant-reader.ts";

type Errors = RigReadings["errors"];

const most = 64;

/**
 * A WhatsMiner's error list, in all formats of its firmware: `[{"541": "when", "reason": "why"}]`,
 * `{"541": "when"}`, `["541", "when"]`, `[541]`, `["2010"]`. Anything else is left out.
 */
export function errorsOf(listed: unknown): Errors {
  const entries = Array.isArray(listed) ? listed.slice(0, most) : isRecord(listed) ? [listed] : [];
  return entries.flatMap((entry: unknown) => (isRecord(entry) ? keyed(entry) : plain(entry)));
}

/** v1 lists them in the summary: `Error Code Count`, `Error Code 0` and so on. */
export function countedErrors(count: number | null, codeAt: (index: number) => number | null): Errors {
  const codes = Array.from({ length: Math.min(count ?? 0, most) }, (_, index) => codeAt(index));
  return codes.flatMap((code) => (code === null || code === 0 ? [] : [named(String(code), null)]));
}

function keyed(entry: Record<string, unknown>): Errors {
  const reason = typeof entry.reason === "string" ? printable(entry.reason.slice(0, 200)) : null;
  return Object.keys(entry)
    .slice(0, most)
    .filter(isCode)
    .map((code) => named(code, reason));
}

/** A text with a date is the time of the error before it. */
function plain(entry: unknown): Errors {
  const code = typeof entry === "number" ? String(entry) : entry;
  return typeof code === "string" && isCode(code) ? [named(code, null)] : [];
}

const isCode = (text: string): boolean => /^[0-9]{1,7}$/.test(text);

const named = (code: string, reason: string | null): Errors[number] => ({ code, text: reason || textOf(code) });

/** The catalogue's text; for an unlisted code, the part that it concerns. */
export function textOf(code: string): string {
  const whole = whatsminerErrors[code] ?? patterned(code);
  if (whole !== undefined) return whole;
  const part = whatsminerParts.find(([digits]) => digits.test(code))?.[1];
  return `WhatsMiner error ${code}${part === undefined ? "" : ` (${part})`}`;
}

/** "541" is 54n of board 1; "521107" is 52nccc of board 1, chip 107. */
function patterned(code: string): string | undefined {
  const [board = "", chip = ""] = [/^\d{6}$/.test(code) ? code.charAt(2) : code.slice(-1), code.slice(3)];
  const pattern = code.length === 6 ? `${code.slice(0, 2)}nccc` : `${code.slice(0, -1)}n`;
  return whatsminerErrors[pattern]?.replace("{n}", board).replace("{c}", String(Number(chip)));
}
