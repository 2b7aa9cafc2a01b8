import { expect, test } from "vitest";
import { SignsOfLife } from "../../src/async/index.ts";

/** Intervals: "." nothing comes, "!" something does; what each check does: "-" nothing, "ping", "gone". */
test.each([
  ["!!!!", ["-", "-", "-", "-"]],
  ["...", ["-", "ping", "gone"]],
  ["!..", ["-", "ping", "gone"]],
  ["..!..", ["-", "ping", "-", "ping", "gone"]],
])("%s", (intervals, expected) => {
  let pings = 0;
  const life = new SignsOfLife(() => {
    pings += 1;
  });
  const done = Array.from(intervals, (what) => {
    const before = pings;
    if (what === "!") life.heard();
    if (!life.check()) return "gone";
    return pings > before ? "ping" : "-";
  });
  expect(done).toEqual(expected);
});
