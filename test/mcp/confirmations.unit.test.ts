import { expect, test } from "@jest/globals";
import { Confirmations } from "../../src/mcp/confirmations.ts";
import { stoppedClock } from "../clock.ts";

const subject = ["anna", "stop_rigs", { all: true }, [1, 2, 3]];

test("a confirmation works once, and for its own subject only", () => {
  const confirmations = new Confirmations(stoppedClock().now);
  const token = confirmations.issue(subject);
  expect(confirmations.take(token, ["bert", ...subject.slice(1)])).toBe(false);
  expect(confirmations.take(token, [...subject.slice(0, 3), [1, 2, 4]])).toBe(false);
  expect(confirmations.take("another", subject)).toBe(false);
  expect(confirmations.take(token, structuredClone(subject))).toBe(true);
  expect(confirmations.take(token, subject)).toBe(false);
});

test("it is valid for five minutes", () => {
  const clock = stoppedClock();
  const confirmations = new Confirmations(clock.now);
  const [early, late] = [confirmations.issue(subject), confirmations.issue(subject)];
  clock.pass(299);
  expect(confirmations.take(early, subject)).toBe(true);
  clock.pass(1);
  expect(confirmations.take(late, subject)).toBe(false);
});

test("of more than a thousand, the oldest is forgotten", () => {
  const confirmations = new Confirmations(stoppedClock().now);
  const [first, second] = [confirmations.issue(subject), confirmations.issue(subject)];
  for (let count = 2; count <= 1_000; count += 1) confirmations.issue(subject);
  expect([confirmations.take(first, subject), confirmations.take(second, subject)]).toEqual([false, true]);
});
