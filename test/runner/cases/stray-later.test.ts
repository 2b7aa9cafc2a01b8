import { afterAll, test } from "@jest/globals";

test("is over", () => undefined);

/** Two turns later, when the file is over too. */
afterAll(() => {
  setImmediate(() => setImmediate(() => void Promise.reject(new Error("stray after the end"))));
});
