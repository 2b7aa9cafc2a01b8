import { z } from "zod";
import type { Small } from "./tool.ts";

const usual = 50;
const most = 100;

/** The arguments of a tool that answers in pages. */
export const pageInput = {
  limit: z
    .int()
    .min(1)
    .max(most, `must be at most ${most}; ask for the next page with the nextCursor of the result`)
    .default(usual)
    .describe(`entries of a page, 1 to ${most}; default ${usual}`),
  cursor: z
    .string()
    .regex(/^\d{1,9}$/, "must be the nextCursor of a result")
    .optional()
    .describe("nextCursor of the result before"),
};

interface Page {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A page of a list. A list that changes between two pages may repeat or skip entries. */
export function pageOf<T>(
  name: string,
  all: readonly T[],
  { limit, cursor }: Page,
  small: (each: T) => unknown,
): Small {
  const start = Number(cursor ?? 0);
  const end = start + limit;
  return {
    total: all.length,
    [name]: all.slice(start, end).map(small),
    nextCursor: end < all.length ? String(end) : null,
  };
}
