import { beforeAll, describe, expect, test } from "@jest/globals";

let isReady = false;

describe("with much to prepare", () => {
  beforeAll(() => {
    throw new Error("nobody asked for this");
  });
  test("one", () => undefined);
});

describe("with little", () => {
  beforeAll(() => {
    isReady = true;
  });
  test("other", () => expect(isReady).toBe(true));
});
