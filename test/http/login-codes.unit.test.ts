import { expect, test } from "@jest/globals";
import { LoginCodes } from "../../src/http/login-codes.ts";

test("a code stands for the service's key once, within 10 minutes", () => {
  let [now, key]: [number, string | undefined] = [0, "key-of-the-service-1"];
  const codes = new LoginCodes({ ownKey: () => key, now: () => now });
  const [first, second, third] = [codes.issue() ?? "", codes.issue() ?? "", codes.issue() ?? ""];
  expect(first).toMatch(/^[\w-]{22}$/);
  expect(codes.redeem("another-code")).toBeUndefined();
  now = 599_999;
  expect(codes.redeem(first)).toBe(key);
  expect(codes.redeem(first)).toBeUndefined();
  key = "key-of-the-service-2";
  expect(codes.redeem(second)).toBe(key);
  now = 600_000;
  expect(codes.redeem(third)).toBeUndefined();
  key = undefined;
  expect(codes.issue()).toBeNull();
});
