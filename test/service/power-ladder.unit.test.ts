import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Control, ControlValue } from "../../src/contract/readings.ts";
import { range, toggle, trigger } from "../../src/link/controls.ts";
import { ladderOf, type PowerKnowledge, type PowerLadder, powerTarget } from "../../src/service/power/power-ladder.ts";

const fast = { lasting: false, restartsMining: false, seconds: 3 };
const lasting = { lasting: true, restartsMining: true, seconds: 60 };
const mining = toggle("mining", true, fast);
const limit = (value: number | null, step = 10): Control =>
  range("power_limit", { unit: "W", min: 1000, max: 3500, step, value }, lasting);
const throttle = (value: number | null): Control =>
  range("throttle", { unit: "%", min: 40, max: 100, step: 1, value }, fast);
const modes = (value: string, options: Control["options"]): Control => ({
  ...trigger("mode", lasting),
  kind: "choice",
  value,
  options,
});
const presets = (value: string) =>
  modes(value, [
    { watts: 2400, label: "2400 W" },
    { watts: 1200, label: "1200 W" },
    { watts: 3200, label: "3200 W" },
  ]);
const nothing: PowerKnowledge = { full: null, modes: {} };
const ladder = (controls: readonly Control[], known = nothing, on: boolean | null = true): PowerLadder => {
  const found = ladderOf({ controls, mining: on }, known);
  if (found === null) throw new Error("there is no ladder");
  return found;
};
const settings = (of: PowerLadder, watts: number) => of.choose(watts).settings.map(({ key, value }) => [key, value]);

describe("a rig's power", () => {
  test("is absent if nothing controls the power, or the draw is unknown", () => {
    expect(ladderOf({ controls: [trigger("reboot", fast)], mining: true }, nothing)).toBeNull();
    expect(ladderOf({ controls: [mining], mining: true }, nothing)).toBeNull();
    expect(ladderOf({ controls: [throttle(100)], mining: true }, nothing)).toBeNull();
  });

  test("is on or off where it can only be stopped", () => {
    const found = ladder([mining], { full: 1330, modes: {} });
    expect(found).toMatchObject({ stops: true, lowest: 1330, highest: 1330, present: 1330 });
    expect(powerTarget(found, { controls: [mining], mining: true }, null)[0]).toMatchObject({
      kind: "choice",
      unit: "W",
      options: [
        { watts: 0, label: "off" },
        { watts: 1330, label: "on" },
      ],
      value: 1330,
    });
    expect(ladder([mining], { full: 1330, modes: {} }, false).present).toBe(0);
    expect(ladder([mining], { full: 1330, modes: {} }, null).present).toBeNull();
  });

  test("follows its limit, in the limit's own steps and never above the target", () => {
    const found = ladder([mining, limit(3000)]);
    expect(found).toMatchObject({ lowest: 1000, highest: 3500, levels: null, present: 3000 });
    expect(settings(found, 2347)).toEqual([["power_limit", 2340]]);
    expect(settings(found, 3000)).toEqual([]);
    expect(found.choose(9999).watts).toBe(3500);
    expect(powerTarget(found, { controls: [mining, limit(3000)], mining: true }, null)[0]).toMatchObject({
      kind: "range",
      min: 0,
      max: 3500,
      value: 3000,
      restartsMining: true,
      seconds: 60,
    });
  });

  test("follows its modes where they say what they draw, or were seen to draw", () => {
    expect(settings(ladder([mining, presets("3200 W")]), 2500)).toEqual([["mode", "2400 W"]]);
    const words = modes("high", ["low", "normal", "high"]);
    expect(ladderOf({ controls: [words], mining: true }, nothing)).toBeNull();
    const seen = ladder([words], { full: null, modes: { low: 2000, high: 3600 } });
    expect(settings(seen, 3000)).toEqual([["mode", "low"]]);
    expect(seen.levels).toEqual([
      { watts: 2000, label: "low" },
      { watts: 3600, label: "high" },
    ]);
  });

  test("is throttled before what lasts is changed", () => {
    const found = ladder([mining, limit(3000), throttle(100)]);
    expect(settings(found, 1500)).toEqual([["throttle", 50]]);
    expect(found.lowest).toBe(1000);
    expect(settings(found, 1100)).toEqual([["power_limit", 1100]]);
    expect(settings(ladder([mining, limit(2000), throttle(60)]), 3000)).toEqual([
      ["throttle", 100],
      ["power_limit", 3000],
    ]);
  });

  test("uses the limit before modes whose power is unknown", () => {
    const words = modes("high", ["low", "normal", "high"]);
    const seen = { full: null, modes: { low: 2000, high: 3600 } };
    expect(settings(ladder([mining, limit(3000), words], seen), 1500)).toEqual([["power_limit", 1500]]);
  });

  test("takes presets as the steps that they are, where the limit only chooses among them", () => {
    const found = ladder([mining, limit(3000), presets("3200 W")]);
    expect(settings(found, 1500)).toEqual([["mode", "1200 W"]]);
    expect(found.levels).toHaveLength(3);
  });

  const control = fc.oneof(
    fc.constant<Control[]>([mining]),
    fc
      .record({ value: fc.integer({ min: 1000, max: 3500 }), step: fc.integer({ min: 1, max: 250 }) })
      .map((of) => [limit(of.value, of.step)]),
    fc.integer({ min: 40, max: 100 }).map((value) => [throttle(value)]),
    fc.constantFrom("2400 W", "1200 W", "3200 W").map((value) => [presets(value)]),
  );
  const controls = fc
    .array(control, { maxLength: 4 })
    .map((lists) => [...new Map(lists.flat().map((each) => [each.key, each])).values()]);
  const known = fc.record({ full: fc.option(fc.integer({ min: 500, max: 4000 })), modes: fc.constant({}) });

  test("is never set above the target, from the lowest power on, and a higher target never gives less", () => {
    fc.assert(
      fc.property(controls, known, fc.nat(5000), fc.nat(5000), (offered, seen, a, b) => {
        const found = ladderOf({ controls: offered, mining: true }, seen);
        if (found === null) return;
        const [less, more] = [found.choose(Math.min(a, b)), found.choose(Math.max(a, b))];
        for (const [asked, chosen] of [
          [Math.min(a, b), less],
          [Math.max(a, b), more],
        ] as const) {
          if (asked >= found.lowest) expect(chosen.watts).toBeLessThanOrEqual(asked + 1e-6);
          expect(chosen.watts).toBeLessThanOrEqual(found.highest + 1e-6);
        }
        expect(more.watts).toBeGreaterThanOrEqual(less.watts - 1e-6);
      }),
      { numRuns: 2_000 },
    );
  });

  test("needs no further setting once it is set", () => {
    const worn = (list: readonly Control[], changes: readonly (readonly [string, ControlValue])[]): Control[] =>
      list.map((each) => ({ ...each, value: changes.find(([key]) => key === each.key)?.[1] ?? each.value }));
    fc.assert(
      fc.property(controls, fc.nat(5000), (offered, asked) => {
        const found = ladderOf({ controls: offered, mining: true }, nothing);
        if (found === null) return;
        const changes = found.choose(asked).settings.map(({ key, value }) => [key, value] as const);
        const after = ladderOf({ controls: worn(offered, changes), mining: true }, nothing);
        expect(after?.choose(asked).watts).toBeLessThanOrEqual(Math.max(asked, found.lowest) + 1e-6);
      }),
    );
  });
});
