import { describe, expect, test } from "@jest/globals";
import { FacilityDevice } from "../../src/contract/facility-settings.ts";
import { Cover } from "../../src/service/facility/covered-rigs.ts";
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

  test("counts its delay from the start after a rig is unknown", () => {
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

test("devices have their rigs by name, uid and inner groups, found in one pass over all rigs", () => {
  const meter = (key: string, covers: object) => ({
    settings: FacilityDevice.parse({ key, kind: "meter", driver: "shelly", address: "127.0.0.1", ...covers }),
  });
  const devices = [
    meter("by-name", { miners: ["one", "nobody"] }),
    meter("by-uid", { miners: ["uid-2", "uid-3", "two"] }),
    meter("by-group", { groups: ["Site"] }),
    meter("none", {}),
  ];
  const groups = [
    { id: 1, parentId: 0, name: "Site" },
    { id: 2, parentId: 1, name: "Hall" },
    { id: 3, parentId: 0, name: "Other" },
  ];
  const rig = (name: string, groupId: number, uid: string | null, declared: string | null = null) => ({
    facts: { name, groupId },
    rig: { state: { uid }, declared: { uid: declared } },
  });
  let passes = 0;
  const rigs = {
    *[Symbol.iterator]() {
      passes += 1;
      yield* [rig("one", 2, null), rig("two", 3, "uid-2"), rig("three", 1, null, "uid-3")];
    },
  };
  const members = new Cover(devices, groups).membersIn(rigs);
  const names = devices.map((device) => members.get(device)?.map(({ facts }) => facts.name));
  expect([names, passes]).toEqual([[["one"], ["two", "three"], ["one", "three"], []], 1]);
});
