import { afterEach, expect, test } from "@jest/globals";
import { refusal } from "../errors.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

/** Three changes that are asked for before the first is written: one is made, and the others see it. */
test.each<[string, (bench: Bench) => Promise<unknown>, string]>([
  [
    "users with the same key",
    ({ service }) => service.saveUser({ id: 0, name: "Anna", key: "a-key-of-anna-1234" }, caller),
    "input.invalid name key",
  ],
  [
    "templates with the same name",
    ({ service }) => service.saveManagedTemplate({ id: 0, name: "night", do: [{ action: "stop" }] }, caller),
    "input.invalid name",
  ],
  [
    "rules with the same key",
    ({ service }) =>
      service.addRule({ key: "hot", when: { all: [{ offline: true }] }, do: [{ action: "stop" }] }, caller),
    "input.invalid key",
  ],
])("of %s at once, one is added", async (_, add, refused) => {
  const bench = await openBench();
  const asked = [1, 2, 3].map(() => refusal(add(bench)));
  expect((await Promise.all(asked)).sort()).toEqual(["done", refused, refused]);
});
