import type { RigReadings } from "../../contract/readings.ts";
import { isRecord, printable } from "../reply.ts";

type Errors = RigReadings["errors"];

const most = 64;

/**
 * What a WhatsMiner lists as its errors, in all the forms that its firmware has: `[{"541": "when", "reason": "why"}]`,
 * `{"541": "when"}`, `["541", "when"]`, `[541]`, `["2010"]`. Anything else in it is left out.
 */
export function errorsOf(listed: unknown): Errors {
  const entries = Array.isArray(listed) ? listed.slice(0, most) : isRecord(listed) ? [listed] : [];
  return entries.flatMap((entry: unknown) => (isRecord(entry) ? keyed(entry) : plain(entry)));
}

/** v1 counts them in the summary: `Error Code Count`, `Error Code 0` and on. */
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

/** A text with a date in it is when the error before it came. */
function plain(entry: unknown): Errors {
  const code = typeof entry === "number" ? String(entry) : entry;
  return typeof code === "string" && isCode(code) ? [named(code, null)] : [];
}

const isCode = (text: string): boolean => /^[0-9]{1,7}$/.test(text);

const named = (code: string, reason: string | null): Errors[number] => ({
  code,
  text: reason || areaOf(Number(code)),
});

/** The hundreds of the vendor's list of errors. */
const areas: readonly (readonly [number, number, string])[] = [
  [100, 199, "fans"],
  [200, 299, "power supply"],
  [300, 399, "temperature of a board"],
  [400, 499, "memory of a board"],
  [500, 599, "hash board"],
  [600, 699, "temperature"],
  [700, 799, "control board"],
  [800, 899, "software"],
  [2000, 2099, "pools or network"],
  [2300, 2499, "hash rate"],
];

function areaOf(code: number): string {
  const area = areas.find(([from, to]) => code >= from && code <= to)?.[2];
  return `WhatsMiner error ${code}${area === undefined ? "" : ` (${area})`}`;
}
