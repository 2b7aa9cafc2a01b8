import { describe, expect, test } from "@jest/globals";
import { meteredShed, meterFrom, meterUntil, withReading } from "../../../src/service/curtailment/metered-energy.ts";
import { RigEnergy } from "../../../src/service/curtailment/rig-energy.ts";
import { metersOf } from "../../../src/service/curtailment/scope-rigs.ts";
import { shortfallOf, withTarget } from "../../../src/service/curtailment/shortfall.ts";
import type { MeterReading } from "../../../src/service/facility/device.ts";
import { PlaceBook } from "../../../src/service/places/place-book.ts";

const gapMs = 7_000;
const device = { settings: { key: "main" }, longestGapMs: gapMs };
const second = 1_000;
const hour = 3_600_000;

/** A meter of 10 kW, read every two seconds, at a place whose rigs take nothing from 0.5 s after the begin on until the end. */
function readingsOf(
  end: number,
  { counter = 0, skip = () => false }: { counter?: number; skip?: (at: number) => boolean } = {},
): MeterReading[] {
  const readings: MeterReading[] = [];
  for (let at = -61; at <= end / second + 4; at += 2) {
    const power = at * second <= 500 || at * second > end ? 10_000 : 0;
    const wattSeconds = 10_000 * (Math.min(at, 0.5) + 100 + Math.max(0, at - end / second));
    const kwh = 1_000 + wattSeconds / 3_600_000;
    const energy = counter === 0 ? null : Math.floor(kwh / counter) * counter;
    if (!skip(at * second)) readings.push({ at: at * second, power, energy });
  }
  return readings;
}

function shedOf(readings: readonly MeterReading[], end: number) {
  let meter = meterFrom(0, readings, device);
  for (const reading of readings)
    if (meter !== null && reading.at > 0 && reading.at <= end) meter = withReading(meter, reading, gapMs);
  return meteredShed(meter === null ? [] : [meterUntil(end, meter, gapMs)], end);
}

/** kWh. */
const truth = (end: number): number => (10_000 * (end - 500)) / hour / 1_000;

describe("what a meter shows of a curtailment", () => {
  test.each([30, 300, 86_400])("of %d s is within 1 % by its energy counter", (seconds) => {
    const end = seconds * second;
    const shed = shedOf(readingsOf(end, { counter: 1e-5 }), end);
    expect(shed).toMatchObject({ by: "counter", seen: 1 });
    expect(Math.abs((shed?.energy ?? 0) / truth(end) - 1)).toBeLessThan(0.001);
  });

  test.each([300, 86_400])("of %d s is within 1 %% by its power", (seconds) => {
    const end = seconds * second;
    const shed = shedOf(readingsOf(end), end);
    expect(shed).toMatchObject({ by: "power", seen: 1 });
    expect(Math.abs((shed?.energy ?? 0) / truth(end) - 1)).toBeLessThan(0.01);
  });

  test("of five minutes is by its power if its counter counts whole kWh", () => {
    expect(shedOf(readingsOf(300_000, { counter: 1 }), 300_000)?.by).toBe("power");
  });

  test("does not bridge a time in which it was silent: the share that it saw is less", () => {
    const skip = (at: number): boolean => at > 100_000 && at < 130_000;
    const shed = shedOf(readingsOf(300_000, { skip }), 300_000);
    expect(shed?.by).toBe("power");
    expect(shed?.seen).toBeCloseTo(0.89, 2);
    expect(shed?.energy).toBeCloseTo(truth(300_000) * 0.89, 2);
  });

  test("is what its counter counted while its readings were missing", () => {
    const skip = (at: number): boolean => at > 100_000 && at < 130_000;
    const shed = shedOf(readingsOf(300_000, { counter: 1e-5, skip }), 300_000);
    expect(shed).toMatchObject({ by: "counter", seen: 1 });
    expect(shed?.energy).toBeCloseTo(truth(300_000), 3);
  });

  test("ends with its last reading if it is silent at the end", () => {
    const shed = shedOf(readingsOf(300_000, { counter: 1e-5, skip: (at) => at > 240_000 }), 300_000);
    expect(shed?.seen).toBeCloseTo(0.8, 1);
  });

  test("is not known if it was silent at the begin", () => {
    expect(shedOf(readingsOf(30_000, { skip: (at) => at > -20_000 && at < 1_000 }), 30_000)).toBeNull();
  });

  test("is right although its counter was reset", () => {
    const reset = readingsOf(300_000, { counter: 1e-5 }).map((each) =>
      each.at > 100_000 && each.energy !== null ? { ...each, energy: each.energy - 1_000 } : each,
    );
    const shed = shedOf(reset, 300_000);
    expect(Math.abs((shed?.energy ?? 0) / truth(300_000) - 1)).toBeLessThan(0.01);
  });
});

test("a counter that counts in steps is not taken to be reset when a curtailment begins", () => {
  const readings = readingsOf(30_000, { counter: 0.01 });
  let meter = meterFrom(0, readings, device);
  for (const reading of readings)
    if (meter !== null && reading.at > 0 && reading.at <= 30_000) meter = withReading(meter, reading, gapMs);
  expect(meter?.byCounter).toMatchObject({ seen: 29_000, error: 0 });
  expect(Math.abs((meter?.byCounter.energy ?? Number.NaN) - 10_000 * (500 / hour))).toBeLessThan(10);
});

describe("what rigs took above their target", () => {
  const row = { started: 0, reached: null, baseline: 10_000, target: { reduce: 2_000 }, targets: [] };
  /** Each minute: 8 kW until the target is changed after an hour, then 9 and 7 kW. */
  const samples = Array.from({ length: 120 }, (_, minute) => ({
    time: minute * 60_000,
    rigs: minute < 60 ? 8_000 : minute < 66 ? 9_000 : 7_000,
    meter: null,
  }));

  test("is by the target in force, and not before a new one is reached", () => {
    const changed = { ...row, ...withTarget({ ...row, reached: 60_000 }, { reduce: 3_000 }, hour) };
    expect(changed).toMatchObject({ reached: null, targets: [{ from: 60_000, until: hour, watts: 8_000 }] });
    expect(shortfallOf({ ...changed, reached: hour + 360_000 }, samples, 2 * hour)).toBe(0);
    // One that is never reached counts from when it was set: 2 kW for six minutes.
    expect(shortfallOf(changed, samples, 2 * hour)).toBeCloseTo(200);
  });

  test("goes on if a new target means the same power", () => {
    const reached = { ...row, reached: 60_000 };
    expect(withTarget(reached, { limit: 8_000 }, hour)).toMatchObject({ reached: 60_000, targets: [] });
  });
});

describe("the meters of a scope", () => {
  const place = (id: number, name: string, parentId: number | null, meter?: string) => {
    const kind = parentId === null ? "site" : "building";
    const row = { id, kind, name, parentId, uid: `place-${id}`, order: 0, meter } as const;
    return { ...row, owner: "store", key: null, disabled: false } as const;
  };
  const rows = [
    place(1, "Texas", null, "main"),
    place(2, "B1", 1, "b1"),
    place(3, "B2", 1),
    place(4, "Ohio", null, "main"),
  ];
  const places = new PlaceBook({ all: () => rows });

  test.each([
    ["a place inside another adds none", ["Texas", "Texas/B1", "Texas/B2"], ["main"]],
    ["a place that is listed twice counts once", ["Texas/B1", 2], ["b1"]],
    ["a meter of two places counts once", ["Texas", "Ohio"], ["main"]],
    ["there are none if a place has none", ["Texas/B1", "Texas/B2"], []],
  ])("%s", (_, named, keys) => {
    expect(metersOf({ places: named }, { places })).toEqual(keys);
  });
});

describe("the energy of rigs", () => {
  test("does not count the time in which a rig was not in the scope", () => {
    const energy = new RigEnergy(0, undefined);
    const rig = (id: number, at: number, counted: number | null = null) => ({ id, at, watts: 3_600, energy: counted });
    energy.turn(0, [rig(1, 0, 0), rig(2, 0)]);
    energy.turn(10_000, [rig(1, 9_000, 9), rig(2, 10_000)]);
    expect(energy.turn(20_000, [rig(2, 20_000)]).energy).toBe(30);
    expect(energy.turn(30_000, [rig(1, 30_000, 30), rig(2, 30_000)]).energy).toBe(50);
  });

  test("counts each by the times of its own readings", () => {
    const energy = new RigEnergy(0, undefined);
    energy.turn(0, [{ id: 1, at: -8_000, watts: 3_600, energy: null }]);
    energy.turn(1_000, [{ id: 1, at: -8_000, watts: 3_600, energy: null }]);
    // Its power has fallen evenly until it was read, a second before the turn.
    const { energy: wattHours, seen } = energy.turn(6_000, [{ id: 1, at: 5_000, watts: 0, energy: null }]);
    expect([wattHours, seen]).toEqual([2.5, 6_000]);
  });

  test("is what the fleet has counted, with readings that no turn has seen", () => {
    const energy = new RigEnergy(0, undefined);
    energy.turn(0, [{ id: 1, at: -10_000, watts: 3_600, energy: 100 }]);
    expect(energy.turn(2_000, [{ id: 1, at: 2_000, watts: 0, energy: 110.5 }])).toMatchObject({ energy: 0.5 });
  });

  test("does not count the time in which the service did not run", () => {
    const first = new RigEnergy(0, undefined);
    first.turn(0, [{ id: 1, at: 0, watts: 3_600, energy: null }]);
    const stored = first.turn(10_000, [{ id: 1, at: 9_000, watts: 3_600, energy: null }]);
    const second = new RigEnergy(0, stored);
    second.turn(100_000, [{ id: 1, at: 99_000, watts: 3_600, energy: null }]);
    expect(second.turn(110_000, [{ id: 1, at: 109_000, watts: 3_600, energy: null }])).toEqual({
      at: 110_000,
      energy: 20,
      seen: 20_000,
    });
  });

  test("does not count the time in which the machine was asleep, nor one that a clock was set back", () => {
    const energy = new RigEnergy(0, undefined);
    const rig = (at: number) => [{ id: 1, at, watts: 3_600, energy: null }];
    energy.turn(0, rig(0));
    energy.turn(10_000, rig(10_000));
    energy.turn(5_000_000, rig(5_000_000));
    energy.turn(1_000_000, rig(1_000_000));
    expect(energy.turn(1_010_000, rig(1_010_000))).toMatchObject({ energy: 20, seen: 20_000 });
  });
});
