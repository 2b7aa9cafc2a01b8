import { describe, expect, test } from "@jest/globals";
import type { Control } from "../../src/contract/readings.ts";
import { choice, range, toggle, trigger } from "../../src/link/controls.ts";
import { controlValue } from "../../src/service/commands/control-value.ts";

const effect = { lasting: false, restartsMining: false, seconds: 1 };
const limit = range("power_limit", { unit: "W", min: 800, max: 3600, step: 100, value: 3000 }, effect);
const fan = range("fan", { unit: "%", min: 0, max: 100, step: 1, value: 40, options: ["auto"] }, effect);
const target = range("temperature_target", { unit: "°C", min: 40, max: 80, step: 1, value: 60 }, effect);
const mode = choice("mode", ["low", "Normal", "ECO", "eco"], "low", effect);
const mining = toggle("mining", true, effect);

describe("the value of a control", () => {
  test.each<[Control, string, string | number | boolean]>([
    [limit, "2.5 kW", 2500],
    [limit, "2500W", 2500],
    [fan, "55 %", 55],
    [fan, "AUTO", "auto"],
    [target, "60 °C", 60],
    [target, "150 °F", 66],
    [mode, "LOW", "low"],
    [mode, "normal", "Normal"],
    [mode, "ECO", "ECO"],
    [mode, "eco", "eco"],
    [mining, "Off", false],
    [mining, "TRUE", true],
    [mining, " on ", true],
    [trigger("reboot", effect), "ON", true],
  ])("%j takes %s", (control, text, expected) => {
    expect(controlValue(control, text)).toBe(expected);
  });

  test.each<[Control, string, string]>([
    [limit, "2.55 kW", '"power_limit" takes 800 to 3600 W in steps of 100'],
    [limit, "55 %", '"power_limit" takes 800 to 3600 W; the value must be in W or kW or MW, not in "%"'],
    [limit, "5 kW", '"power_limit" takes 800 to 3600 W'],
    [fan, "fast", '"fan" takes 0 to 100 % or auto; the value must be a number in %, like 21.5'],
    // Two modes differ by case alone.
    [mode, "Eco", '"mode" takes one of low, Normal, ECO, eco'],
    [mining, "maybe", '"mining" takes true or false'],
  ])("%j refuses %s", (control, text, sentence) => {
    expect(() => controlValue(control, text)).toThrow(sentence);
  });
});
