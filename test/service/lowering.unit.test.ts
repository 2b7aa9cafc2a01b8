import { describe, expect, test } from "@jest/globals";
import type { Control, ControlKey, ControlValue } from "../../src/contract/readings.ts";
import { range, toggle, trigger } from "../../src/link/controls.ts";
import type { Rig } from "../../src/link/driver.ts";
import { loweringOnly, lowers } from "../../src/service/commands/lowering.ts";
import { isForSafety, maximumActorFor } from "../../src/service/power/precedence.ts";

const effect = { lasting: true, restartsMining: false, seconds: 10 };
const modes = [
  { watts: 1_000, label: "eco" },
  { watts: 2_000, label: "normal" },
  { watts: 3_000, label: "turbo" },
];
const controls: readonly Control[] = [
  toggle("mining", true, effect),
  range("power_limit", { unit: "W", min: 500, max: 3_500, step: 1, value: 2_000 }, effect),
  range("throttle", { unit: "%", min: 0, max: 100, step: 1, value: 80 }, effect),
  { ...toggle("mode", null, effect), kind: "choice", options: [...modes, "heat"], value: "normal" },
  range("frequency", { unit: "MHz", min: 1, max: 900, step: 1, value: 500 }, effect),
  trigger("reboot", effect),
];

describe("what only lowers the power of a rig", () => {
  test.each<[ControlKey, ControlValue, boolean]>([
    ["mining", false, true],
    ["mining", true, false],
    ["power_limit", 1_999, true],
    ["power_limit", 2_000, false],
    ["power_limit", 2_001, false],
    ["throttle", 79, true],
    ["throttle", 81, false],
    ["mode", "eco", true],
    ["mode", "normal", false],
    ["mode", "turbo", false],
    ["mode", "heat", false],
    ["mode", "another", false],
    ["frequency", 100, false],
    ["reboot", true, false],
    ["fan", 100, false],
  ])("setting %s to %s: %s", async (key, value, expected) => {
    expect(lowers(controls, key, value)).toBe(expected);
    const taken: unknown[] = [];
    const rig: Rig = {
      read: () => Promise.reject(new Error("not read")),
      set: async (...setting) => {
        taken.push(setting.slice(0, 2));
        return "done";
      },
      pools: { add: async () => "added" },
      close: () => undefined,
    };
    const guarded = loweringOnly(rig, controls);
    const set = guarded.set(key, value, new AbortController().signal);
    if (expected) await set;
    else await expect(set).rejects.toMatchObject({ code: "service.no.active" });
    expect(taken).toEqual(expected ? [[key, value]] : []);
    expect(guarded.pools).toEqual({});
  });

  test("is not known of a setting whose present value is not known", () => {
    const unknown = controls.map((each) => ({ ...each, value: null }));
    expect((["power_limit", "throttle"] as const).map((key) => lowers(unknown, key, 1))).toEqual([false, false]);
    expect([lowers(unknown, "mode", "eco"), lowers(unknown, "mining", false)]).toEqual([false, true]);
  });
});

describe("a command is for safety", () => {
  const safety = { kind: "rule", key: "hot", run: 1, safety: true } as const;
  const rule = { kind: "rule", key: "hot", run: 1 } as const;
  const set = (property: string, value: string) => ["set", { property, value }] as const;
  const maximum = maximumActorFor("Den");
  test.each([
    ["rule:hot", safety, ["stop", {}] as const, true],
    ["rule:hot", safety, set("power_target", "0"), true],
    ["rule:hot", safety, set("power_limit", "900"), true],
    ["rule:hot", safety, ["plug", { plug: "off" }] as const, true],
    ["rule:hot", safety, ["start", {}] as const, false],
    ["rule:hot", safety, ["plug", { plug: "on" }] as const, false],
    ["rule:hot", safety, ["reboot", {}] as const, false],
    ["rule:hot", safety, set("frequency", "1"), false],
    ["rule:hot", rule, ["stop", {}] as const, false],
    ["schedule:night", { ...rule, kind: "schedule" } as const, ["stop", {}] as const, false],
    ["anna", null, ["stop", {}] as const, false],
    ["service for the heating of Den", null, set("power_target", "0"), false],
    [maximum, null, set("power_target", "500"), true],
    [maximum, null, ["start", {}] as const, false],
  ])("%s, %j, %j: %s", (actor, cause, [action, parameters], expected) => {
    expect(isForSafety({ actor, cause, action, parameters })).toBe(expected);
  });
});
