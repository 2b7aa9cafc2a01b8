import { describe, expect, test } from "@jest/globals";
import { nearestIndex, snap, typedNumber } from "../../src/web/parts/snap.ts";

describe("the scale of a slider", () => {
  test.each([
    { value: 2449, min: 1000, max: 3600, step: 50, snapped: 2450 },
    { value: -5, min: 0, max: 100, step: 1, snapped: 0 },
    { value: 104, min: 0, max: 100, step: 1, snapped: 100 },
    { value: 0.34, min: 0, max: 1, step: 0.1, snapped: 0.3 },
    { value: 999, min: 10, max: 99, step: 20, snapped: 90 },
  ])("$value becomes $snapped between $min and $max in steps of $step", ({ snapped, value, ...scale }) => {
    expect(snap(value, scale)).toBe(snapped);
  });

  test("a typed number may have a decimal comma and blanks; anything else is none", () => {
    expect(["2 400", "21,5", " 60 ", "-3.5"].map(typedNumber)).toEqual([2400, 21.5, 60, -3.5]);
    expect(["", "auto", "1e9", "0x10", "1.2.3", "--5"].map(typedNumber)).toEqual([null, null, null, null, null, null]);
  });

  test("the nearest of the values is found by its index", () => {
    expect(nearestIndex([0, 900, 1400, 2200], 1100)).toBe(1);
    expect(nearestIndex([0, 900], 10_000)).toBe(1);
    expect(nearestIndex([], 5)).toBe(0);
  });
});
