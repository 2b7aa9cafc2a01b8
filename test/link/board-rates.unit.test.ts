import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type RigReadings, unknownBoard, unknownReadings } from "../../src/contract/readings.ts";
import { withCheckedRates } from "../../src/link/board-rates.ts";
import type { DeviceReading, Reading } from "../../src/link/driver.ts";
import { unknownDevice } from "../../src/link/drivers/shared/board-device.ts";

const device = (hashrate: number | null): DeviceReading => ({
  ...unknownDevice,
  kind: "asic",
  name: "Board",
  hashrate,
  hashrateAverage: hashrate,
});

function reading(boards: readonly (number | null)[], readings: Partial<RigReadings>): Reading {
  return {
    identity: { make: null, model: null, firmware: null, mac: null, hostname: null, serial: null },
    readings: {
      ...unknownReadings(),
      mining: true,
      ...readings,
      boards: boards.map((hashrate, slot) => ({ ...unknownBoard(slot), hashrate })),
    },
    pools: [],
    devices: boards.map(device),
    controls: [],
    poolActions: [],
    software: null,
    logInterval: null,
    workUtility: null,
  };
}

const checked = (boards: readonly (number | null)[], readings: Partial<RigReadings>): RigReadings =>
  withCheckedRates(reading(boards, readings)).readings;

const sumOf = ({ boards }: RigReadings): number => boards.reduce((sum, { hashrate }) => sum + (hashrate ?? 0), 0);

/** Rates of boards as they are, and how far the rig's own total may be from their sum. */
const rates = fc.array(fc.double({ min: 1, max: 1e14, noNaN: true }), { minLength: 1, maxLength: 8 });
const total = (boards: readonly number[]): number => boards.reduce((sum, rate) => sum + rate, 0);
const slightlyOff = fc.double({ min: 0.81, max: 1.24, noNaN: true });
const relative = (a: number, b: number): number => Math.abs(a / b - 1);

describe("a factor of 1000 between the boards and the rig is corrected and noted", () => {
  test("on the boards, whatever they hash, where nothing shows that the rig's own rate is wrong", () => {
    fc.assert(
      fc.property(rates, slightlyOff, fc.constantFrom(1000, 1 / 1000), (boards, off, factor) => {
        const hashrate = total(boards) * off;
        const wrong = boards.map((rate) => rate * factor);
        const after = withCheckedRates(reading(wrong, { hashrate, hashrateAverage: hashrate }));
        expect(after.readings.hashrate).toBe(hashrate);
        for (const [index, rate] of boards.entries()) {
          expect(relative(after.readings.boards[index]?.hashrate ?? 0, rate)).toBeLessThan(1e-9);
          expect(relative(after.devices[index]?.hashrate ?? 0, rate)).toBeLessThan(1e-9);
        }
        expect(after.readings.notes).toEqual([expect.stringContaining("factor of 1000")]);
      }),
    );
  });

  test("on the rig's own rates, present and average, where what it should reach agrees with the boards", () => {
    fc.assert(
      fc.property(rates, slightlyOff, fc.constantFrom(1000, 1 / 1000), (boards, off, factor) => {
        const right = total(boards) * off;
        const hashrateExpected = total(boards) * 1.3;
        const wrong = { hashrate: right * factor, hashrateAverage: right * factor, hashrateExpected };
        const after = checked(boards, wrong);
        expect(relative(after.hashrate ?? 0, right)).toBeLessThan(1e-9);
        expect(relative(after.hashrateAverage ?? 0, right)).toBeLessThan(1e-9);
        expect(sumOf(after)).toBe(total(boards));
        expect(after.notes).toEqual([expect.stringContaining("factor of 1000")]);
      }),
    );
  });

  test("on the present rate alone, where its average agrees with the boards", () => {
    const after = checked([40e12, 60e12], { hashrate: 100e9, hashrateAverage: 99e12 });
    expect(after).toMatchObject({ hashrate: 100e12, hashrateAverage: 99e12, notes: [expect.any(String)] });
  });

  test("on the side that no rig of its kind could reach, whatever its expected rate", () => {
    const boards = [4_540e9, 4_550e9];
    const scrypt = { algorithm: "scrypt", hashrate: 9.1e9, hashrateExpected: 9_500e9 };
    expect(checked(boards, scrypt)).toMatchObject({
      hashrate: 9.1e9,
      boards: [{ hashrate: 4.54e9 }, { hashrate: 4.55e9 }],
    });
    const sha256 = { algorithm: "sha256", hashrate: 100e15, hashrateExpected: 100e15 };
    expect(checked([50e12, 50e12], sha256)).toMatchObject({ hashrate: 100e12, boards: [{}, { hashrate: 50e12 }] });
  });

  test("on a rig that counts solutions", () => {
    expect(checked([210, 210], { hashrate: 420_000 }).boards.map(({ hashrate }) => hashrate)).toEqual([210e3, 210e3]);
  });

  test("without rounding errors of binary fractions", () => {
    expect(checked([3_120_500_000_000], { hashrate: 3.1e9 }).boards[0]?.hashrate).toBe(3_120_500_000);
  });

  test("once: corrected rates stay as they are", () => {
    fc.assert(
      fc.property(rates, fc.constantFrom(1000, 1, 1 / 1000), slightlyOff, (boards, factor, off) => {
        const once = withCheckedRates(reading(boards, { hashrate: total(boards) * factor * off }));
        const { hashrate, boards: after } = withCheckedRates(once).readings;
        expect({ hashrate, after }).toEqual({ hashrate: once.readings.hashrate, after: once.readings.boards });
      }),
    );
  });
});

describe("any other disagreement over 20 % is a note and changes nothing", () => {
  test("whatever the rig hashes", () => {
    const far = fc.oneof(
      fc.double({ min: 0.01, max: 0.79, noNaN: true }),
      fc.double({ min: 1.21, max: 100, noNaN: true }),
    );
    fc.assert(
      fc.property(rates, far, (boards, off) => {
        const before = reading(boards, { hashrate: total(boards) / off });
        const after = withCheckedRates(before);
        expect(after.readings.notes).toEqual([expect.stringContaining(`${Math.round(off * 100)} %`)]);
        expect({ ...after, readings: { ...after.readings, notes: [] } }).toEqual(before);
      }),
    );
  });

  test("boards that hash on a rig that reports no hash rate", () => {
    expect(checked([1e12], { hashrate: 0, mining: null }).notes).toEqual([expect.stringContaining("none")]);
  });
});

describe("nothing is said", () => {
  test("of a disagreement of up to 20 %", () => {
    fc.assert(
      fc.property(rates, fc.double({ min: 0.81, max: 1.19, noNaN: true }), (boards, off) => {
        const before = reading(boards, { hashrate: total(boards) / off });
        expect(withCheckedRates(before)).toBe(before);
      }),
    );
  });

  test.each<[string, (number | null)[], Partial<RigReadings>]>([
    ["where a board does not tell its rate", [1e12, null], { hashrate: 5e12 }],
    ["where there are no boards", [], { hashrate: 5e12 }],
    ["where the rig does not tell its own", [1e12], { hashrate: null }],
    ["while it is stopped", [1e12], { hashrate: 0, mining: false }],
    ["of boards that average, while it ramps up", [20e12, 20e12], { hashrate: 100e12, hashrateAverage: 38e12 }],
    ["of boards at their present rate, while it ramps up", [99e12], { hashrate: 60e12, hashrateAverage: 100e12 }],
  ])("%s", (_, boards, readings) => {
    const before = reading(boards, readings);
    expect(withCheckedRates(before)).toBe(before);
  });
});
