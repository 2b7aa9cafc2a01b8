import { describe, expect, test } from "@jest/globals";
import { differenceOf, differenceTurn } from "../../src/service/facility/difference.ts";
import { type CooledRig, fanTurn, noFanMemory } from "../../src/service/facility/fan-law.ts";

describe("a fan", () => {
  test.each([
    [["running", "stopped"], false, 60_000, null, true],
    [["running", "unknown"], false, 60_000, null, true],
    [["running"], true, 60_000, null, null],
    [["running"], null, 60_000, null, null],
    [["stopped", "stopped"], true, 60_000, -60_000, false],
    [["stopped", "stopped"], true, 60_000, -59_999, null],
    [["stopped", "stopped"], true, 60_000, null, null],
    [["stopped", "stopped"], true, null, -1e9, null],
    [["stopped", "unknown"], true, 60_000, -1e9, null],
    [["stopped"], false, 60_000, -1e9, null],
    [["stopped"], null, 60_000, -1e9, null],
    [[], true, 60_000, -1e9, null],
  ] satisfies [CooledRig[], boolean | null, number | null, number | null, boolean | null][])(
    "with rigs %j that is on: %j, delay %j ms, stopped since %j is to be: %j",
    (rigs, isOn, delayMs, stoppedSince, wanted) => {
      expect(fanTurn(rigs, isOn, delayMs, { ...noFanMemory, stoppedSince }, 0).wanted).toBe(wanted);
    },
  );

  test("counts its delay anew after a rig is unknown", () => {
    const { memory } = fanTurn(["unknown"], true, 60_000, { ...noFanMemory, stoppedSince: 0 }, 50_000);
    expect(fanTurn(["stopped"], true, 60_000, memory, 70_000).wanted).toBeNull();
  });

  test.each([["unknown"], ["running"]] satisfies [CooledRig][])(
    "does not stop before a rig that was started may have to say so, though it was %s in between",
    (state) => {
      const kept = { ...noFanMemory, keepOnUntil: 300_000 };
      const { memory } = fanTurn([state, "stopped"], true, 0, kept, 10_000);
      expect(fanTurn(["stopped", "stopped"], true, 0, memory, 299_999).wanted).toBeNull();
      expect(fanTurn(["stopped", "stopped"], true, 0, memory, 300_000).wanted).toBe(false);
    },
  );
});

describe("the difference between a meter and its rigs", () => {
  test("does not count unknown rigs as 0 in silence", () => {
    expect(differenceOf(1000, [400, null, 300])).toEqual({ meter: 1000, rigs: 700, total: 3, unknown: 1 });
  });

  test.each([
    [1000, [920], null, 0, { since: null, isNotice: false }],
    [1000, [919], null, 5, { since: 5, isNotice: null }],
    [1000, [919], 5, 900_004, { since: 5, isNotice: null }],
    [1000, [919], 5, 900_005, { since: 5, isNotice: true }],
    [900, [1000], 5, 900_005, { since: null, isNotice: false }],
    [0, [0], 5, 900_005, { since: null, isNotice: false }],
    [1000, [], 5, 900_005, { since: null, isNotice: false }],
    [null, [1000], 5, 900_005, { since: null, isNotice: null }],
  ] as const)("of %j W and %j W since %j at %j is %j", (meter, powers, since, now, turn) => {
    expect(differenceTurn(differenceOf(meter, powers), since, now)).toEqual(turn);
  });
});
