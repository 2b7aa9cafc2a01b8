import { afterAll, test } from "@jest/globals";

afterAll(() => {
  throw new Error("the clean-up fails");
});

test("one", () => undefined);
