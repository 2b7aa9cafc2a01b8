import { expect, test } from "@jest/globals";
import { Pace } from "../../src/link/pace.ts";

/** One read of a rig that answers so many requests, and lets one time out. */
function failing(pace: Pace, answers: number): number {
  pace.begin();
  for (let request = 0; request < answers; request += 1) pace.answered();
  pace.cut();
  pace.failed();
  return pace.readMs;
}

test("a rig that answers too slowly gets more time with each read, but no more than its interval", () => {
  const pace = new Pace(5_000, 30_000);
  expect([1, 1, 1, 1].map((answers) => failing(pace, answers))).toEqual([10_000, 20_000, 30_000, 30_000]);
  expect(pace.isSlow).toBe(true);
});

test("one that accepts connections and answers nothing gets it once, until it is read again", () => {
  const pace = new Pace(5_000, 60_000);
  expect([0, 0, 0, 0].map((answers) => failing(pace, answers))).toEqual([10_000, 5_000, 5_000, 5_000]);
  pace.succeeded(20);
  expect([0, 0].map((answers) => failing(pace, answers))).toEqual([10_000, 5_000]);
});

test("another usual time holds at once, and for a slow one too", () => {
  const pace = new Pace(5_000, 60_000);
  pace.change(2_000, 30_000);
  expect(pace.readMs).toBe(2_000);
  failing(pace, 1);
  pace.change(20_000, 30_000);
  expect(pace.readMs).toBe(30_000);
});

test("one that is off gets none", () => {
  const pace = new Pace(5_000, 60_000);
  pace.begin();
  pace.failed();
  expect(pace.readMs).toBe(5_000);
});

test("the usual time applies again once the rig is quick again", () => {
  const pace = new Pace(5_000, 60_000);
  failing(pace, 1);
  pace.succeeded(9_000);
  expect(pace.readMs).toBe(10_000);
  expect(pace.partMs(0.5)).toBe(5_000);
  pace.succeeded(2_000);
  expect(pace.readMs).toBe(5_000);
});

test("an interval shorter than the usual time does not shorten it", () => {
  const pace = new Pace(5_000, 1_000);
  expect(failing(pace, 1)).toBe(5_000);
});
