import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { ElectricitySettings } from "../../src/config/money.ts";
import { datesIn, localTimeIn } from "../../src/service/money/local-time.ts";
import { meanPrice, merged, PriceCurve, type PricePeriod, tariffOf } from "../../src/service/money/tariff.ts";

const hour = 3_600_000;
const at = (text: string): number => Date.parse(text);

/** A tariff as the file sets it; the curve of its source, where it has one. */
function tariffWith(settings: Record<string, unknown>, { rate = 1, timeZone = "Europe/Berlin" } = {}) {
  const curve = new PriceCurve("double");
  const tariff = tariffOf(ElectricitySettings.parse(settings), {
    timeZone,
    rateOf: (currency) => (currency === "EUR" ? rate : null),
    curveOf: () => curve,
  });
  if (tariff === undefined) throw new Error("no price is set");
  return { tariff, curve, price: (text: string) => tariff.at(at(text)).price };
}

const source = { type: "energy-charts", area: "DE-LU" };

describe("a price of the configuration", () => {
  test("is (price + add) × factor", () => {
    // (0.20 + 0.05) × 1.2 = 0.30
    expect(tariffWith({ price: 0.2, add: 0.05, factor: 1.2 }).price("2026-11-22T12:00:00Z")).toBeCloseTo(0.3, 12);
  });

  test("by zones is that of the first zone that has the local time, else the general one", () => {
    const { price } = tariffWith({
      price: 0.4,
      zones: [
        { days: ["sat-sun"], from: "10:00", to: "16:00", price: -0.02 },
        { days: ["mon-fri"], from: "22:00", to: "06:00", price: 0.2 },
      ],
    });
    // 2026-11-22 is a Sunday; Berlin is an hour ahead of UTC.
    expect(price("2026-11-22T08:59:00Z")).toBe(0.4);
    expect(price("2026-11-22T09:00:00Z")).toBe(-0.02);
    expect(price("2026-11-22T14:59:59Z")).toBe(-0.02);
    expect(price("2026-11-22T15:00:00Z")).toBe(0.4);
    // Sunday's night belongs to Sunday, Monday's to Monday, and Friday's reaches into Saturday.
    expect(price("2026-11-22T23:00:00Z")).toBe(0.4);
    expect(price("2026-11-23T21:00:00Z")).toBe(0.2);
    expect(price("2026-11-28T04:59:00Z")).toBe(0.2);
    expect(price("2026-11-28T05:00:00Z")).toBe(0.4);
  });

  test("by zones has days of 23 and 25 hours", () => {
    const { tariff } = tariffWith({ price: 1, zones: [{ from: "02:00", to: "03:00", price: 25 }] });
    // On 2026-03-29 the hour from 2 to 3 does not occur: 23 hours of 1. On 2026-10-25 it occurs twice: 23 of 1, 2 of 25.
    expect(meanPrice(tariff, at("2026-03-28T23:00:00Z"), at("2026-03-29T22:00:00Z"))).toBeCloseTo(1, 9);
    expect(meanPrice(tariff, at("2026-10-24T22:00:00Z"), at("2026-10-25T23:00:00Z"))).toBeCloseTo((23 + 50) / 25, 9);
    expect(meanPrice(tariff, at("2026-11-21T23:00:00Z"), at("2026-11-22T23:00:00Z"))).toBeCloseTo((23 + 25) / 24, 9);
  });

  test("outside all zones is unknown without a general one", () => {
    const { price } = tariffWith({ zones: [{ from: "00:00", to: "06:00", price: 0.2 }] });
    expect(price("2026-11-22T12:00:00Z")).toBeNull();
  });
});

describe("a price of a source", () => {
  const start = at("2026-11-22T00:00:00Z");
  const hourly = (values: readonly number[]): PricePeriod[] =>
    values.map((value, index) => ({ start: start + index * hour, end: start + (index + 1) * hour, value }));

  test("may be negative, is converted, and has surcharge and factor", () => {
    const { curve, price } = tariffWith({ source, add: 0.1, factor: 2 }, { rate: 10 });
    curve.take(hourly([-0.05, 0.08]), "EUR", start);
    // (-0.05 × 10 + 0.1) × 2 = -0.8; (0.08 × 10 + 0.1) × 2 = 1.8
    expect(price("2026-11-22T00:59:59Z")).toBeCloseTo(-0.8, 12);
    expect(price("2026-11-22T01:00:00Z")).toBeCloseTo(1.8, 12);
  });

  test("is unknown in a gap, after its end, and in a currency without a rate", () => {
    const { curve, price, tariff } = tariffWith({ source });
    const [first, , third] = hourly([1, 2, 3]);
    curve.take(
      [first, third].filter((each) => each !== undefined),
      "EUR",
      start,
    );
    expect([price("2026-11-22T00:30:00Z"), price("2026-11-22T01:30:00Z"), price("2026-11-22T02:30:00Z")]).toEqual([
      1,
      null,
      3,
    ]);
    expect(price("2026-11-22T03:00:00Z")).toBeNull();
    expect(meanPrice(tariff, start, start + hour)).toBe(1);
    expect(meanPrice(tariff, start, start + hour + 1)).toBeNull();
    curve.take(hourly([1]), "SEK", start);
    expect(price("2026-11-22T00:30:00Z")).toBeNull();
  });

  test("of a span is weighted by time", () => {
    const { curve, tariff } = tariffWith({ source });
    curve.take(hourly([0.1, 0.4]), "EUR", start);
    // Half an hour at 0.1 and one at 0.4: (0.5 × 0.1 + 1 × 0.4) / 1.5 = 0.3
    expect(meanPrice(tariff, start + hour / 2, start + 2 * hour)).toBeCloseTo(0.3, 12);
  });

  test("is kept for two days and replaced by newer ones", () => {
    const { curve } = tariffWith({ source });
    curve.take(hourly([1, 2, 3]), "EUR", start);
    curve.take([{ start: start + hour, end: start + 2 * hour, value: 9 }], "EUR", start + hour);
    expect(curve.periods.map(({ value }) => value)).toEqual([1, 9, 3]);
    curve.take([], "EUR", start + 50 * hour);
    expect(curve.periods.map(({ value }) => value)).toEqual([3]);
  });
});

test("periods never overlap, are sorted, and the newer ones count", () => {
  const period = fc
    .record({ start: fc.integer({ min: 0, max: 60 }), length: fc.integer({ min: 1, max: 20 }), value: fc.integer() })
    .map(({ start, length, value }) => ({ start, end: start + length, value }));
  fc.assert(
    fc.property(fc.array(period, { maxLength: 12 }), fc.array(period, { maxLength: 12 }), (older, newer) => {
      const before = merged([], older);
      const all = merged(before, newer);
      for (const [index, { start, end }] of all.entries()) {
        expect(end).toBeGreaterThan(start);
        expect(start).toBeGreaterThanOrEqual(all[index - 1]?.end ?? 0);
      }
      const valueAt = (periods: readonly PricePeriod[], time: number) =>
        periods.find(({ start, end }) => start <= time && time < end)?.value;
      const clean = merged([], newer);
      for (let time = 0; time < 80; time += 1)
        expect(valueAt(all, time)).toBe(valueAt(clean, time) ?? valueAt(before, time));
      for (const each of newer) expect(valueAt(clean, each.start)).toBeDefined();
    }),
  );
});

describe("local dates", () => {
  const berlin = localTimeIn("Europe/Berlin");
  const hours = (from: string, to: string) =>
    datesIn(berlin, at(from), at(to)).map(({ date, from: start, to: end }) => [date, (end - start) / hour]);

  test("have 24 hours, 23 when the clocks go ahead and 25 when they go back", () => {
    expect(hours("2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z")).toEqual([
      ["2026-03-28", 11],
      ["2026-03-29", 23],
      ["2026-03-30", 14],
    ]);
    expect(hours("2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z")).toEqual([
      ["2026-10-24", 10],
      ["2026-10-25", 25],
      ["2026-10-26", 13],
    ]);
  });

  test("cover a span without gaps in any zone", () => {
    const zones = ["UTC", "America/Sao_Paulo", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia"];
    const instant = fc.integer({ min: at("2020-01-01T00:00:00Z"), max: at("2030-01-01T00:00:00Z") });
    fc.assert(
      fc.property(fc.constantFrom(...zones), instant, fc.integer({ min: 1, max: 80 * hour }), (zone, from, span) => {
        const local = localTimeIn(zone);
        const parts = datesIn(local, from, from + span);
        expect(parts[0]?.from).toBe(from);
        expect(parts.at(-1)?.to).toBe(from + span);
        for (const [index, part] of parts.entries()) {
          expect(local(part.from).date).toBe(part.date);
          expect(local(part.to - 1).date).toBe(part.date);
          if (index > 0) expect(part.from).toBe(parts[index - 1]?.to);
        }
      }),
      { numRuns: 60 },
    );
  });
});
