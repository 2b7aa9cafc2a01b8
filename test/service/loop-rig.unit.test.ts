import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { highestWithin, targetValue } from "../../src/service/power/loop-rig.ts";
import { powerCommandOf, powerHold } from "../../src/service/power/precedence.ts";
import type { StoredCommand } from "../../src/store/index.ts";
import { stoppedClock } from "../clock.ts";
import { type Making, PureRig } from "./power-rigs.ts";

const minute = 60_000;
const at = 1_800_000_000_000;

describe("a rig is left alone", () => {
  const person = { at, open: false, by: "person", who: "anna", stops: false } as const;
  const stop = { ...person, stops: true };
  const loop = { ...person, by: "loop", who: "service for Den" } as const;

  test.each([
    ["without any command", null, false, 0, null],
    ["that a person has stopped", stop, false, 100_000, "person"],
    ["that a person has stopped, and that was started at the rig itself", stop, true, 61, null],
    ["that a person has set", person, true, 59, "person"],
    ["that a person has set an hour ago", person, true, 60, null],
    ["that the loop has stopped", { ...loop, stops: true }, false, 100_000, null],
    ["that the loop has started just now", loop, false, 10, null],
    ["that the loop has started, and that does not mine", loop, false, 11, "rig"],
    ["that a person has started long ago, and that does not mine", person, false, 61, "rig"],
    ["that mines as the loop has set it", loop, true, 100_000, null],
  ] as const)("or not: one %s", (_, word, mining, minutes, by) => {
    const wish = { rank: "loop", stops: false } as const;
    expect(powerHold(word, wish, mining, at + minutes * minute)?.by ?? null).toBe(by);
  });
});

describe("a command about a rig's power", () => {
  const command = (action: string, parameters = {}, more: Partial<StoredCommand> = {}): StoredCommand => ({
    id: 1,
    minerId: 1,
    minerName: "rig",
    actor: "http",
    action,
    parameters,
    cause: null,
    state: "done",
    message: "",
    time: at,
    updated: at,
    ...more,
  });

  test.each([
    ["stop", {}, true],
    ["start", {}, false],
    ["set_mode", { mode: "eco" }, false],
    ["set_power_limit", { watts: 900 }, false],
    ["set", { property: "mining", value: "Off" }, true],
    ["set", { property: "power_target", value: "0" }, true],
    ["set", { property: "power_target", value: "700" }, false],
    ["set", { property: "throttle", value: "0" }, false],
  ])("%s %j", (action, parameters, stops) => {
    expect(powerCommandOf(command(action, parameters))).toEqual({ at, open: false, by: "person", who: "http", stops });
  });

  test.each([
    ["reboot", {}],
    ["set", { property: "fan", value: "0" }],
    ["set_target_temperature", { temperature: 20 }],
    ["pool_switch", { pool: 1 }],
  ])("but not %s %j", (action, parameters) => {
    expect(powerCommandOf(command(action, parameters))).toBeNull();
  });

  test("but not when it failed, and it is not manual when a loop sends it", () => {
    expect(powerCommandOf(command("stop", {}, { state: "failed" }))).toBeNull();
    expect(powerCommandOf(command("stop", {}, { state: "sent" }))?.open).toBe(true);
    expect(powerCommandOf(command("stop", {}, { actor: "service for Den" }))?.by).toBe("loop");
    expect(powerCommandOf(command("stop", {}, { actor: "http for Den" }))?.by).toBe("person");
  });
});

test("a target value makes the rig's ladder choose the same setting", () => {
  const makings: Making[] = [
    { full: 3217, throttle: { min: 30 } },
    { full: 17, throttle: { min: 10 } },
    { full: 3200, limit: { min: 1000, step: 50 } },
    { full: 1500, modes: [600, 1000, 1500] },
    { full: 17 },
  ];
  const rules = { minOn: 0, minOff: 0, changesPerHour: 6 };
  const ladders = makings.map((making) => new PureRig(1, making, rules, stoppedClock().now).follower().ladder);
  fc.assert(
    fc.property(fc.constantFrom(...ladders), fc.double({ min: 0, max: 4000, noNaN: true }), (ladder, watts) => {
      const setting = highestWithin(ladder, watts);
      expect(setting).toBeLessThanOrEqual(watts + 1e-6);
      if (setting > 0) expect(ladder.choose(targetValue(ladder, setting)).watts).toBe(setting);
      expect(targetValue(ladder, setting)).toBeLessThanOrEqual(Math.ceil(ladder.highest));
    }),
  );
});
