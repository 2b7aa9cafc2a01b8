import type { PageQuery } from "../../query.ts";
import { localDate } from "./report.ts";

const dayMs = 86_400_000;
/** Days back, and the length of the periods of a chart. */
const spans = {
  today: { days: 0, by: "day" },
  week: { days: 6, by: "day" },
  month: { days: 29, by: "day" },
  year: { days: 364, by: "month" },
} as const;
export type Span = keyof typeof spans;
export const spanNames = Object.keys(spans) as Span[];
/** Longer reports are shown by month. */
const mostDays = 93;

/** The period of a report: local dates, both included; `to` is absent for up to today. */
export interface Covered {
  readonly from: string;
  readonly to?: string;
  readonly by: "day" | "month";
}

/** From the address: dates, a calendar month, or a number of days up to today. */
export function coveredBy(query: Pick<PageQuery, "get">, now: number): Covered {
  const [from, to] = [query.get("from"), query.get("to")];
  if (isDate(from) && isDate(to) && from <= to)
    return { from, to, by: Date.parse(to) - Date.parse(from) > mostDays * dayMs ? "month" : "day" };
  const { days, by } = spans[spanOf(query)];
  return { from: localDate(now - days * dayMs), by };
}

export const isDate = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
export const spanOf = ({ get }: Pick<PageQuery, "get">): Span =>
  spanNames.find((each) => each === get("span")) ?? "month";

/** The first and the last local date of a calendar month, this many months before the given time. */
export function monthAt(now: number, back: number): { readonly from: string; readonly to: string } {
  const today = new Date(now);
  const first = new Date(today.getFullYear(), today.getMonth() - back, 1);
  const last = new Date(today.getFullYear(), today.getMonth() - back + 1, 0);
  return { from: localDate(first.getTime()), to: localDate(last.getTime()) };
}
