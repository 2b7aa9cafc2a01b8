import { expect, test } from "@jest/globals";
import { idempotencyKeyIn } from "../../src/contract/idempotency.ts";

test.each([
  ["8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"],
  ['"quoted"', "quoted"],
  ["it's;a=1", "it's;a=1"],
  ["x".repeat(255), "x".repeat(255)],
  [`"${"x".repeat(255)}"`, "x".repeat(255)],
  ["x".repeat(256), undefined],
  [`"${"x".repeat(256)}"`, undefined],
  ["", undefined],
  ['""', undefined],
  ['"open', undefined],
  ["two words", undefined],
  ["tab\t", undefined],
  ["ключ", undefined],
])("the key of the header %s is %s", (header, key) => {
  expect(idempotencyKeyIn(header)).toBe(key);
});
