import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { ModbusRegister } from "../../../src/contract/facility-settings.ts";
import { numberIn, registersOf } from "../../../src/link/facility/registers.ts";

const decoded = (hex: string, type: ModbusRegister["type"], order: ModbusRegister["order"] = "abcd", scale = 1) =>
  numberIn(Buffer.from(hex, "hex"), { type, order, scale });

describe("a number in registers", () => {
  test.each([
    ["43668000", "f32", "abcd", 1, 230.5],
    ["80004366", "f32", "cdab", 1, 230.5],
    ["66430080", "f32", "badc", 1, 230.5],
    ["00806643", "f32", "dcba", 1, 230.5],
    ["fffe", "s16", "abcd", 1000, -2000],
    ["08fd", "u16", "abcd", 0.1, 230.1],
    ["fd08", "u16", "dcba", 0.1, 230.1],
    ["fffffc18", "s32", "abcd", -1, 1000],
    ["fc18ffff", "s32", "cdab", 1, -1000],
    ["0000000000000064", "u64", "abcd", 0.01, 1],
    ["4069000000000000", "f64", "abcd", 1, 200],
  ] as const)("%s as %s %s × %d is %d", (hex, type, order, scale, value) => {
    expect(decoded(hex, type, order, scale)).toEqual({ value });
  });

  test.each([
    ["7fc00000", "is not a number (NaN)"],
    ["7f800000", "is infinite"],
    ["ff800000", "is infinite"],
  ])("%s is none: %s", (hex, problem) => {
    expect(decoded(hex, "f32")).toEqual({ problem });
  });

  test.each([
    ["ffffffff", "u32", "abcd"],
    ["7fffffff", "s32", "abcd"],
    ["ffff7fff", "s32", "cdab"],
    ["ffffffffffffffff", "u64", "abcd"],
    ["7fffffffffffffff", "s64", "abcd"],
  ] as const)("%s as %s %s is no value", (hex, type, order) => {
    expect(decoded(hex, type, order, 0.01)).toEqual({ problem: "has no value" });
  });

  test("may be -1, or the highest of 16 bits", () => {
    expect(decoded("ffffffff", "s32")).toEqual({ value: -1 });
    expect(decoded("ffff", "u16")).toEqual({ value: 65_535 });
  });

  test("of any type and order is a finite number or a problem", () => {
    const types = ["u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"] as const;
    const orders = ["abcd", "cdab", "badc", "dcba"] as const;
    fc.assert(
      fc.property(
        fc.constantFrom(...types),
        fc.constantFrom(...orders),
        fc.uint8Array({ minLength: 8, maxLength: 8 }),
        (type, order, bytes) => {
          const read = numberIn(Buffer.from(bytes.subarray(0, 2 * registersOf({ type }))), { type, order, scale: 1 });
          if ("value" in read) expect(Number.isFinite(read.value)).toBe(true);
          else expect(read.problem).toMatch(/^(is|has) /);
        },
      ),
    );
  });
});
