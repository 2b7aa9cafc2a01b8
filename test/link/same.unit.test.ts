import { describe, expect, test } from "@jest/globals";
import { same } from "../../src/link/same.ts";

describe("two values are the same", () => {
  test.each([
    ["lists", [1, { a: null }], [1, { a: null }]],
    ["objects in another order", { a: 1, b: [2] }, { b: [2], a: 1 }],
    ["what is not a number", Number.NaN, Number.NaN],
  ])("%s", (_, a, b) => expect(same(a, b)).toBe(true));

  test("but for a field that does not count, wherever it is", () => {
    expect(same({ at: 1, list: [{ at: 2, b: 3 }] }, { at: 4, list: [{ at: 5, b: 3 }] }, "at")).toBe(true);
  });
});

describe("two values differ", () => {
  test.each([
    ["a list and an object", [], {}],
    ["an object and a list with the same keys", { 0: "a" }, ["a"]],
    ["lists of another length", [1], [1, 2]],
    ["an object with more keys", { a: 1 }, { a: 1, b: 2 }],
    ["an object with another key", { a: 1 }, { b: 1 }],
    ["nothing and an object", null, {}],
    ["a number and its text", 1, "1"],
  ])("%s", (_, a, b) => expect([same(a, b), same(b, a)]).toEqual([false, false]));
});
