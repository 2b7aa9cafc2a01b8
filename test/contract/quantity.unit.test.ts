import { describe, expect, test } from "@jest/globals";
import { quantityIn } from "../../src/contract/quantity.ts";

describe("a number in a command", () => {
  test.each([
    ["2500", "W", 2500],
    ["2500 W", "W", 2500],
    ["2500W", "W", 2500],
    ["2.5 kW", "W", 2500],
    ["2,5kw", "W", 2500],
    ["2.3 KW", "W", 2300],
    ["0.002 MW", "W", 2000],
    ["-1.2 kW", "W", -1200],
    ["55 %", "%", 55],
    ["55%", "%", 55],
    ["0.5 GHz", "MHz", 500],
    ["1.2 V", "mV", 1200],
    ["1200 mV", "mV", 1200],
    ["21,5 °C", "°C", 21.5],
    ["21.5C", "°C", 21.5],
    ["68 °F", "°C", 20],
    ["68f", "°C", 20],
    ["0,500", "W", 0.5],
    ["2,50", "W", 2.5],
    ["1e3", "W", 1000],
    [" 7 ", null, 7],
  ] as const)("%s in %s", (text, unit, expected) => {
    expect(quantityIn(text, unit)).toBe(expected);
  });

  test.each([
    ["", "W", "must be a number in W or kW or MW, like 21.5"],
    ["many", "W", "must be a number in W or kW or MW, like 21.5"],
    ["1e999", null, "must be a number, like 21.5"],
    ["NaN", null, "must be a number, like 21.5"],
    ["2.5 MHz", "W", 'must be in W or kW or MW, not in "MHz"'],
    ["2500 mW", "W", 'must be in W or kW or MW, not in "mW"'],
    ["1200 MV", "mV", 'must be in mV or V, not in "MV"'],
    ["0x10", "W", 'must be in W or kW or MW, not in "x10"'],
    ["5 kW", null, 'must be a number without a unit, not in "kW"'],
    ["2,500", "W", "is ambiguous because of its comma: write 2500, or 2.5"],
    ["2,500 kW", "W", "is ambiguous because of its comma: write 2500, or 2.5"],
    ["1.234,5", "W", "must not have thousands separators"],
    ["1,234.5", "W", "must not have thousands separators"],
    ["1 234", "W", "must be a number in W or kW or MW, like 21.5"],
  ] as const)("%s in %s is refused with what is wrong", (text, unit, mistake) => {
    expect(quantityIn(text, unit)).toMatchObject({ text: mistake });
  });
});
