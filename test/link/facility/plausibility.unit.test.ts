import { describe, expect, test } from "@jest/globals";
import type { FacilityQuantity } from "../../../src/contract/facility-settings.ts";
import { type Measured, plausibleRanges, rangesWith } from "../../../src/link/facility/facility-link.ts";
import { type JudgedPast, judge, noPast } from "../../../src/link/facility/plausibility.ts";

type Numbers = Partial<Record<FacilityQuantity, number | string>>;

const read = (numbers: Numbers) => ({
  values: new Map(
    Object.entries(numbers).map(([quantity, value]): [FacilityQuantity, Measured] => [
      quantity as FacilityQuantity,
      typeof value === "number" ? { value } : { problem: value },
    ]),
  ),
});
const usual = { power: 3000, energy: 1000, voltage: 230, current: 13 };
const judged = (numbers: Numbers, past: JudgedPast = noPast, at = 0) => judge(read(numbers), plausibleRanges, past, at);

describe("a meter", () => {
  test("is believed, and does not know what it does not measure", () => {
    expect(judged(usual)).toMatchObject({ implausible: [], values: { ...usual, temperature: null } });
  });

  test.each([
    [{ power: "is not a number (NaN)", voltage: 230 }, "power is not a number (NaN)"],
    [{ power: 3000, energy: -5 }, "energy is negative: -5 kWh"],
    [{ power: 0, current: 0, voltage: 0 }, "all its registers are 0"],
    [{ power: 0, energy: 0, voltage: 0, current: 0 }, "all its registers are 0"],
    [{ power: 1e30, voltage: 230 }, "power is 1e+30 W, outside -100000000 to 100000000"],
    [{ power: 3e-40, voltage: 230 }, "power is 3e-40 W, too little to be measured"],
  ] satisfies [Numbers, string][])("with %j is not believed: %s", (numbers, why) => {
    const { implausible, values } = judged(numbers);
    expect(implausible).toEqual([why]);
    expect([values.power, values.energy]).toContain(null);
  });

  test("that draws nothing is believed while it has a voltage", () => {
    expect(judged({ power: 0, current: 0, voltage: 231 }).implausible).toEqual([]);
  });

  test("with only its power may read 0", () => {
    expect(judged({ power: 0 })).toMatchObject({ implausible: [], values: { power: 0 } });
  });

  test("that has no voltage may draw nothing, unless its counter is gone", () => {
    expect(judged({ power: 0, current: 0 })).toMatchObject({ implausible: [], values: { power: 0, current: 0 } });
    expect(judged({ power: 0, energy: 0 })).toMatchObject({ implausible: [], values: { power: 0, energy: 0 } });
    const { past } = judged({ power: 3000, energy: 1000 });
    expect(judged({ power: 0, energy: 0 }, past).implausible).toEqual(["all its registers are 0"]);
  });

  test("that jumps is believed after three consistent reads", () => {
    const reads = [12, 52_000, 5_200_000, 30_000, 45_000, 52_000, 53_000];
    let past = noPast;
    const believed = reads.map((power, read) => {
      const next = judged({ ...usual, power, energy: 1000 + read }, past, read * 10_000);
      past = next.past;
      return next.values.power;
    });
    expect(believed).toEqual([12, null, null, null, null, 52_000, 53_000]);
  });

  test("that jumps is compared with the last believed value until it is back", () => {
    const first = judged(usual);
    const jumped = judged({ ...usual, voltage: 400_00, energy: 2_000_000 }, first.past, 10_000);
    expect(jumped.implausible).toEqual(["energy jumped from 1000 to 2000000 kWh; has its byte order changed?"]);
    const again = judged({ ...usual, energy: 2_000_000 }, jumped.past, 20_000);
    expect(again.implausible).toHaveLength(1);
    expect(judged({ ...usual, energy: 1001 }, again.past, 30_000)).toMatchObject({
      implausible: [],
      values: { energy: 1001 },
    });
  });

  test("may stop and start, from any power to nearly none", () => {
    const first = judged({ ...usual, power: 90_000 });
    const stopped = judged({ ...usual, power: 4 }, first.past, 10_000);
    expect(stopped.implausible).toEqual([]);
    expect(judged({ ...usual, power: 90_000 }, stopped.past, 20_000).implausible).toEqual([]);
  });

  test("is frozen when its counter stands still while its power says 2 kWh", () => {
    let { past } = judged(usual);
    let minutes = 0;
    for (; minutes < 39; minutes += 1) {
      const next = judged(usual, past, (minutes + 1) * 60_000);
      expect(next.implausible).toEqual([]);
      past = next.past;
    }
    const frozen = judged(usual, past, 40.5 * 60_000);
    expect(frozen.implausible).toEqual(["energy has stayed at 1000 kWh while its power says 2.0 kWh: it is frozen"]);
    expect(frozen.values.power).toBeNull();
    expect(judged({ ...usual, energy: 1000.1 }, frozen.past, 42 * 60_000).implausible).toEqual([]);
  });

  test("has the range of its own register", () => {
    const ranges = rangesWith([{ reading: "voltage", min: 180, max: 260 }]);
    expect(judge(read({ ...usual, voltage: 300 }), ranges, noPast, 0).implausible).toEqual([
      "voltage is 300 V, outside 180 to 260",
    ]);
  });
});
