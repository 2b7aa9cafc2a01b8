import { expect, test } from "@jest/globals";
import { Memo } from "../../../../src/link/drivers/shared/memo.ts";

test("an answer is fresh until its time is up, and known after that", () => {
  let now = 0;
  const memo = new Memo<string | null>(100, () => now);
  expect([memo.isFresh, memo.value]).toEqual([false, undefined]);
  expect(memo.keep(null)).toBeNull();
  now = 99;
  expect([memo.isFresh, memo.value, memo.at]).toEqual([true, null, 0]);
  now = 100;
  expect([memo.isFresh, memo.value]).toEqual([false, null]);
  memo.keep("new");
  memo.forget();
  expect([memo.isFresh, memo.value]).toEqual([false, undefined]);
});

test("an answer of age 0 is never fresh", () => {
  const memo = new Memo<string>(0, () => 5);
  memo.keep("now");
  expect(memo.isFresh).toBe(false);
});
