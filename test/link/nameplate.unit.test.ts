import { expect, test } from "@jest/globals";
import { nameplatePower } from "../../src/catalogue/nameplate-power.ts";
import { nameplateOf } from "../../src/link/nameplate.ts";

test.each([
  ["Antminer", "Antminer S19j Pro", 3050],
  ["Antminer", "Antminer S19", 3250],
  ["Antminer", "Antminer S21 Hyd.", 5360],
  ["Antminer", "Antminer S19 XP (141T)", 3010],
  ["Antminer", "Antminer S19 Pro+ Hyd.", 5445],
  ["Antminer", "Antminer L3++", 942],
  [null, "Antminer T21", 3610],
  ["VNish", "S19-88 v.2.6.0.39 ", 3250],
  ["Braiins", "Antminer S9", 1323],
  ["LuxOS", "AntMiner S19k Pro", 2760],
  ["WhatsMiner", "M30S++_VH40", 3472],
  ["WhatsMiner", "M20S_V10", 3360],
  ["Avalon", "AvalonMiner 1246-83", 3420],
])("the nameplate of %s %s says %d W", (make, model, watts) => {
  expect(nameplateOf({ make, model })).toBe(watts);
});

test.each([
  ["Antminer", "Antminer S19 Pro XL"],
  ["Antminer", "Antminer S190"],
  ["Antminer", "Antminer"],
  ["cgminer", "BTB"],
  ["constructor", "toString"],
  ["Antminer", "constructor"],
  ["Antminer", null],
  [null, null],
])("what is not known exactly has none: %s %s", (make, model) => {
  expect(nameplateOf({ make, model })).toBeNull();
});

test("every model of the table is found under its name, and draws what one wall socket or two give", () => {
  for (const [make, models] of Object.entries(nameplatePower))
    for (const [model, watts] of Object.entries(models)) {
      expect([make, model, nameplateOf({ make, model })]).toEqual([make, model, watts]);
      expect(watts).toBeGreaterThan(500);
      expect(watts).toBeLessThan(8_000);
    }
});
