import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { stubBrowser } from "./stub-browser.ts";

let restore: () => void;
let span: typeof import("../../src/web/pages/money/covered.ts");

beforeAll(async () => {
  restore = stubBrowser();
  span = await import("../../src/web/pages/money/covered.ts");
});
afterAll(() => restore());

const query = (fields: Record<string, string>) => ({ get: (name: string) => fields[name] ?? "" });
const now = new Date(2026, 2, 15, 12).getTime();

test("a month begins and ends on its first and last local date, also over the end of a year", () => {
  expect(span.monthAt(now, 0)).toEqual({ from: "2026-03-01", to: "2026-03-31" });
  expect(span.monthAt(now, 1)).toEqual({ from: "2026-02-01", to: "2026-02-28" });
  expect(span.monthAt(now, 3)).toEqual({ from: "2025-12-01", to: "2025-12-31" });
});

test("an address with dates covers these, by month if they are many; a wrong one covers 30 days", () => {
  expect(span.coveredBy(query({ from: "2026-01-01", to: "2026-03-31" }), now)).toEqual({
    from: "2026-01-01",
    to: "2026-03-31",
    by: "day",
  });
  expect(span.coveredBy(query({ from: "2025-01-01", to: "2025-12-31" }), now)).toMatchObject({ by: "month" });
  for (const wrong of [{ from: "2026-02-30", to: "x" }, { from: "2026-03-02", to: "2026-03-01" }, { span: "ever" }])
    expect(span.coveredBy(query(wrong), now)).toEqual({ from: "2026-02-14", by: "day" });
  expect(span.coveredBy(query({ span: "today" }), now)).toEqual({ from: "2026-03-15", by: "day" });
});
