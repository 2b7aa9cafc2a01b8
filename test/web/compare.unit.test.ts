import { expect, test } from "@jest/globals";
import { joined, stepOf } from "../../src/web/pages/compare/joined.ts";

test("rigs that were read at other times share one axis; what a rig does not know is a gap", () => {
  const one = {
    step: 60,
    points: [
      [60_000, 1, null, null, null],
      [120_000, 2, null, null, null],
    ],
  };
  const other = {
    step: 60,
    points: [
      [120_000, 5, null, null, null],
      [180_000, 6, null, null, null],
    ],
  };
  const histories = [one, other] as unknown as Parameters<typeof joined>[0];
  expect(joined(histories, "hashrate")).toEqual({
    times: [60_000, 120_000, 180_000],
    values: [
      [1, 2, null],
      [null, 5, 6],
    ],
  });
  expect(joined(histories, "power").values).toEqual([
    [null, null, null],
    [null, null, null],
  ]);
});

test("some 300 points, whole minutes, never finer than one", () => {
  const hour = 3_600_000;
  expect([1, 24, 7 * 24, 30 * 24].map((hours) => stepOf(0, hours * hour))).toEqual([60, 300, 2040, 8640]);
});
