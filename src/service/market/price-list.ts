import { isRecord } from "../../contract/record.ts";
import { valueAt } from "../../link/quantity.ts";
import type { PricePeriod } from "../money/tariff.ts";
import { numberOf } from "./feed.ts";

const mostRows = 6_000;
const hourMs = 3_600_000;
/** ms that a single price is valid without a successor. */
const singlePriceMs = 24 * hourMs;

/** Where programs put the list, if it is not the whole answer: evcc, and attributes of Home Assistant. */
const usualPaths = ["result.rates", "rates", "prices", "data", "attributes.prices", "attributes.data"];
/** Names of its fields. */
const names = {
  start: ["start", "from", "start_time", "startsAt"],
  end: ["end", "to", "end_time", "till"],
  value: ["value", "price", "total"],
} as const;

/** The list, or a single price valid from now on. Null for each unreadable row; a sentence if there is neither. */
export function readPrices(answer: unknown, path: string | undefined, now: number): (PricePeriod | null)[] | string {
  const single = numberOf(path === undefined ? answer : valueAt(answer, path));
  return single === null ? readPriceList(answer, path) : [{ start: now, end: now + singlePriceMs, value: single }];
}

/**
 * The generic list. A row without an end lasts until the next, the last as long as the one before. Null for each
 * unreadable row; a sentence if there is no list.
 */
function readPriceList(answer: unknown, path: string | undefined): (PricePeriod | null)[] | string {
  const found = path === undefined ? listIn(answer) : valueAt(answer, path);
  if (!Array.isArray(found))
    return path === undefined ? "its answer is not a list; set path to where the list is" : `it has no list at ${path}`;
  const rows = found.slice(0, mostRows).map((row: unknown) => {
    const fields = isRecord(row) ? row : {};
    return {
      start: timeOf(first(fields, names.start)),
      end: timeOf(first(fields, names.end)),
      value: numberOf(first(fields, names.value)),
    };
  });
  const starts = [...new Set(rows.flatMap(({ start }) => start ?? []))].sort((a, b) => a - b);
  const places = new Map(starts.map((start, place) => [start, place]));
  const after = (start: number): number => {
    const place = places.get(start) ?? 0;
    const [before, next] = [starts[place - 1], starts[place + 1]];
    return next ?? (before === undefined ? start + hourMs : start + (start - before));
  };
  return rows.map(({ start, end, value }) =>
    start === null || value === null ? null : { start, end: end ?? after(start), value },
  );
}

const listIn = (answer: unknown): unknown =>
  Array.isArray(answer)
    ? answer
    : usualPaths.map((path) => valueAt(answer, path)).find((found) => Array.isArray(found));

const first = (fields: Readonly<Record<string, unknown>>, keys: readonly string[]): unknown =>
  keys.map((key) => fields[key]).find((value) => value !== undefined && value !== null);

/** ISO 8601 with zone, or epoch seconds or ms. */
function timeOf(value: unknown): number | null {
  if (typeof value === "string" && /^\d{4}-\d\d-\d\d[T ].+(Z|[+-]\d\d:?\d\d)$/.test(value)) {
    const time = Date.parse(value.replace(" ", "T"));
    return Number.isNaN(time) ? null : time;
  }
  const number = numberOf(value);
  if (number === null || number < 1e9) return null;
  return number < 1e11 ? number * 1000 : number;
}
