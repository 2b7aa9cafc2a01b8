import { beforeAll, test } from "@jest/globals";

beforeAll(() => {
  throw new Error("the set-up fails");
});

test("one", () => undefined);
test("other", () => undefined);
