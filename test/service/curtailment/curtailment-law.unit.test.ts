import { describe, expect, test } from "@jest/globals";
import {
  givenBack,
  rampAllowance,
  type SheddingRig,
  shed,
  spreadOver,
} from "../../../src/service/curtailment/curtailment-law.ts";

const rig = (id: number, changes: Partial<SheddingRig> = {}): SheddingRig => ({
  id,
  draw: 3_000,
  expected: 3_000,
  lowest: 2_000,
  within: (watts) => Math.max(2_000, Math.floor(watts / 100) * 100),
  stops: true,
  ...changes,
});
const aim = { target: 0, level: "setpoint", tolerance: 50, allowance: Number.POSITIVE_INFINITY } as const;

describe("what each rig is to take", () => {
  test("rigs are lowered in their order before any is stopped", () => {
    const rigs = [rig(1), rig(2), rig(3)];
    expect(shed(rigs, 0, { ...aim, target: 9_000 })).toEqual([]);
    expect(shed(rigs, 0, { ...aim, target: 8_450 })).toEqual([{ id: 1, watts: 2_400 }]);
    expect(shed(rigs, 0, { ...aim, target: 7_500 })).toEqual([
      { id: 1, watts: 2_000 },
      { id: 2, watts: 2_500 },
    ]);
    expect(shed(rigs, 0, { ...aim, target: 5_000 })).toEqual([
      { id: 1, watts: 0 },
      { id: 2, watts: 2_000 },
      { id: 3, watts: 2_000 },
    ]);
  });

  test("with off, rigs are stopped in their order until the rest fits", () => {
    const rigs = [rig(1), rig(2), rig(3)];
    expect(shed(rigs, 0, { ...aim, level: "off", target: 6_500 })).toEqual([{ id: 1, watts: 0 }]);
    expect(shed(rigs, 0, { ...aim, level: "off", target: 5_900 })).toEqual([
      { id: 1, watts: 0 },
      { id: 2, watts: 0 },
    ]);
  });

  test("a rig that cannot be stopped is only lowered, and one that cannot be lowered only stopped", () => {
    const rigs = [rig(1, { stops: false }), rig(2, { lowest: null })];
    expect(shed(rigs, 0, { ...aim, target: 0 })).toEqual([
      { id: 1, watts: 2_000 },
      { id: 2, watts: 0 },
    ]);
  });

  test("what the others take counts, and unknown power is stopped last and never counted", () => {
    const unknown = rig(1, { draw: null, expected: 0, lowest: null });
    const rigs = [unknown, rig(2)];
    expect(shed(rigs, 1_000, { ...aim, target: 1_000 })).toEqual([{ id: 2, watts: 0 }]);
    expect(shed(rigs, 1_000, { ...aim, target: 500 })).toEqual([
      { id: 1, watts: 0 },
      { id: 2, watts: 0 },
    ]);
  });

  test("all: every rig stops, known or not", () => {
    const rigs = [rig(1), rig(2, { draw: null, expected: 0 }), rig(3, { stops: false })];
    expect(shed(rigs, 0, { ...aim, target: null }).map(({ id }) => id)).toEqual([1, 2]);
  });

  test("no more is given up at once than the ramp allows", () => {
    const rigs = [rig(1), rig(2), rig(3)];
    const wanted = { ...aim, level: "off", target: 0 } as const;
    expect(shed(rigs, 0, { ...wanted, allowance: 6_500 }).map(({ id }) => id)).toEqual([1, 2]);
    expect(shed(rigs, 0, { ...wanted, allowance: 2_999 })).toEqual([]);
    expect(rampAllowance(60_000, 1_000)).toBe(1_000);
    expect(rampAllowance(undefined, 0)).toBe(Number.POSITIVE_INFINITY);
  });

  test("a difference that a meter would not show is no reason for a command", () => {
    expect(shed([rig(1)], 0, { ...aim, target: 2_960 })).toEqual([]);
    // Beyond the tolerance, a rig is lowered by more than its readings vary.
    expect(shed([rig(1)], 0, { ...aim, target: 2_948 })).toEqual([{ id: 1, watts: 2_900 }]);
  });
});

test("rigs get back their power as far as there is room for it", () => {
  const held = [
    { id: 1, expected: 0, before: 3_000 },
    { id: 2, expected: 2_000, before: 3_000 },
    { id: 3, expected: 0, before: 3_000 },
  ];
  expect(givenBack(held, 4_500)).toEqual([1, 2]);
  expect(givenBack(held, 2_500)).toEqual([2]);
  expect(givenBack(held, -1)).toEqual([]);
});

test("places take turns", () => {
  const items = ["a1", "a2", "a3", "b1", "c1", "c2"];
  expect(spreadOver(items, (item) => item.charCodeAt(0))).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
  expect(spreadOver([], () => null)).toEqual([]);
});
