import { expect, test } from "@jest/globals";
import { wholeSteps } from "../../src/web/parts/whole-steps.ts";

const points = [[0], [60_000], [120_000]] as const;

test("a step that has not ended is left out; single readings all stay", () => {
  expect(wholeSteps({ step: 60, points }, 179_999)).toEqual([[0], [60_000]]);
  expect(wholeSteps({ step: 60, points }, 180_000)).toEqual(points);
  expect(wholeSteps({ step: 0, points }, 120_000)).toEqual(points);
  expect(wholeSteps({ step: 60, points: [] }, 0)).toEqual([]);
});
