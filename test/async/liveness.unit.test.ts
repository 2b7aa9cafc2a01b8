import { expect, test } from "@jest/globals";
import { Liveness } from "../../src/async/index.ts";

/** Intervals without ("."), and with data ("!"); the result of the check after each. */
test.each([
  ["!!!!", ["-", "-", "-", "-"]],
  ["...", ["-", "ping", "gone"]],
  ["!..", ["-", "ping", "gone"]],
  ["..!..", ["-", "ping", "-", "ping", "gone"]],
])("%s", (intervals, expected) => {
  let pings = 0;
  const liveness = new Liveness(() => {
    pings += 1;
  });
  const done = Array.from(intervals, (what) => {
    const before = pings;
    if (what === "!") liveness.received();
    if (!liveness.check()) return "gone";
    return pings > before ? "ping" : "-";
  });
  expect(done).toEqual(expected);
});
