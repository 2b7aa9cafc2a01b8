import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { whatsminerErrors } from "../../../src/catalogue/whatsminer-errors.ts";
import { errorsOf, textOf } from "../../../src/link/drivers/whatsminer/errors.ts";

describe("an error of a WhatsMiner has a text", () => {
  test.each([
    ["110", "intake fan speed off target"],
    ["206", "power supply: input voltage low"],
    ["300", "board 0: temperature sensor not found"],
    ["350", "board 0: protection: too hot"],
    ["361", "hash board too hot"],
    ["541", "board 1: chip ids cannot be read"],
    ["2010", "all pools disabled"],
    ["2022", "pool 2: no connection"],
    ["5070", "board 0: water flow wrong"],
    ["521107", "board 1 chip 107: wrong nonces"],
    ["542003", "board 2 chip 3: too hot"],
  ])("%s: %s", (code, text) => expect(textOf(code)).toBe(text));

  test.each([
    ["190", "WhatsMiner error 190 (fans)"],
    ["299", "WhatsMiner error 299 (power supply)"],
    ["499", "WhatsMiner error 499 (memory of a board)"],
    ["2399", "WhatsMiner error 2399 (hash rate)"],
    ["5699", "WhatsMiner error 5699 (boards and chips)"],
    ["8410", "WhatsMiner error 8410 (factory)"],
    ["9001", "WhatsMiner error 9001 (processes)"],
    ["7", "WhatsMiner error 7"],
  ])("by its part where it is in no list, %s: %s", (code, text) => expect(textOf(code)).toBe(text));

  test("whatever the code, and never with a gap left in the sentence", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_999_999 }), (code) => {
        const text = textOf(String(code));
        expect(text).not.toBe("");
        expect(text).not.toMatch(/[{}]|undefined|NaN/);
      }),
      { numRuns: 2_000 },
    );
  });

  test("by the rig's own reason where it gives one", () => {
    expect(errorsOf([{ "541": "2026-01-01", reason: "Slot 1 id read error" }])).toEqual([
      { code: "541", text: "Slot 1 id read error" },
    ]);
  });
});

test("each line of the list is reached by a code", () => {
  for (const [key, words] of Object.entries(whatsminerErrors)) {
    const code = key.replace("n", "1").replace("ccc", "042");
    // A whole code goes before a pattern that it fits as well.
    const text = Object.hasOwn(whatsminerErrors, code) ? whatsminerErrors[code] : words;
    expect(textOf(code)).toBe(text?.replace("{n}", "1").replace("{c}", "42"));
  }
});
