import { test } from "@jest/globals";

test("before", () => undefined);

test("is charged with its stray rejection", () => {
  void Promise.reject(new Error("stray rejection"));
});

test("is charged with its stray exception", async () => {
  setTimeout(() => {
    throw new Error("stray exception");
  }, 1);
  await new Promise((resolve) => setTimeout(resolve, 50));
});

test("after", () => undefined);
