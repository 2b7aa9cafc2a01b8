import { expect, test } from "@jest/globals";
import { limitTurn, powerOfPlace, unwatched } from "../../../src/service/curtailment/limit-law.ts";

test("above four fifths for 30 s is orderly, above all of it for 5 s at once", () => {
  const at = 1_000_000;
  const near = limitTurn(850, 1_000, unwatched, at);
  expect(near).toEqual({ watch: { near: at, over: null }, wants: "nothing" });
  expect(limitTurn(850, 1_000, near.watch, at + 29_999).wants).toBe("nothing");
  expect(limitTurn(850, 1_000, near.watch, at + 30_000).wants).toBe("orderly");
  const over = limitTurn(1_001, 1_000, unwatched, at);
  expect(limitTurn(1_001, 1_000, over.watch, at + 4_999).wants).toBe("nothing");
  expect(limitTurn(1_001, 1_000, over.watch, at + 5_000).wants).toBe("at-once");
  // A moment below it begins again.
  const { watch } = limitTurn(999, 1_000, over.watch, at + 3_000);
  expect(watch).toEqual({ near: at, over: null });
  expect(limitTurn(800, 1_000, watch, at + 4_000).watch).toEqual(unwatched);
});

test("the worse of the meter and the sum of the rigs counts", () => {
  expect(powerOfPlace(undefined, 1_000)).toBe(1_000);
  expect(powerOfPlace(1_200, 1_000)).toBe(1_200);
  expect(powerOfPlace(0, 1_000)).toBe(1_000);
  expect(powerOfPlace(null, 1_000)).toBe(1_050);
});
