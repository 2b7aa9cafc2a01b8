import { afterEach, describe, expect, test } from "@jest/globals";
import { didYouMean } from "rigbridge";
import { onTestFinished } from "../../finished.ts";

const order: string[] = [];
afterEach(() => void order.push("afterEach"));

test("is green", () => {
  onTestFinished(() => void order.push("first"));
  onTestFinished(() => void order.push("second"));
  order.push("test");
});

describe("what a test has registered", () => {
  test("runs after its hooks, last registered first", () => {
    expect(order).toEqual(["test", "afterEach", "second", "first"]);
  });

  test.each([1, 2])("a row: %i", (row) => expect(row).toBeGreaterThan(0));
});

test.skip("is skipped", () => undefined);

test("the package's name leads to its sources", async () => {
  const sources = await import("../../../src/index.ts");
  expect(didYouMean).toBe(sources.didYouMean);
});
