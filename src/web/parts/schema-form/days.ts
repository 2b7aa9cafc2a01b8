import type { Json } from "./schema.ts";

export const weekdays: readonly string[] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** The single days of a list such as ["mon-fri", "sun"], in the order of the week. */
export function singleDays(value: Json): string[] {
  const found = new Set(
    (Array.isArray(value) ? value : []).flatMap((each: Json) => {
      const [from, to = from] = String(each)
        .split("-")
        .map((day) => weekdays.indexOf(day));
      if (from === undefined || to === undefined || from < 0 || to < 0) return [];
      return Array.from({ length: ((to - from + 7) % 7) + 1 }, (_, index) => weekdays[(from + index) % 7]);
    }),
  );
  return weekdays.filter((day) => found.has(day));
}
