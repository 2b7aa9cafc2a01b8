import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { decide, type Option, type Situation } from "../../../src/service/hosts/switching-law.ts";

const hour = 3_600_000;
const option = (key: string, revenue: number | null, cost: number | null = 0, power: number | null = 100): Option => ({
  key,
  revenue,
  cost,
  power,
});
const situation = (given: Partial<Situation>): Situation => ({
  mode: "profit",
  options: [],
  present: "a",
  since: 0,
  now: hour,
  hysteresis: 0.05,
  minimumStayMs: hour / 2,
  ...given,
});
const chosen = (given: Partial<Situation>) => decide(situation(given)).key;

describe("profit switching", () => {
  test("takes what earns most after electricity", () => {
    const options = [option("a", 5, 1), option("b", 7, 4), option("c", 6, 1)];
    expect(chosen({ options })).toBe("c");
  });

  test("stays where another choice is not clearly better", () => {
    expect(chosen({ options: [option("a", 10), option("b", 10.5)] })).toBe("a");
    expect(chosen({ options: [option("a", 10), option("b", 10.6)] })).toBe("b");
    // Near a profit of 0 a few cents are still no reason.
    expect(chosen({ options: [option("a", 10, 10), option("b", 10, 9.6)] })).toBe("a");
  });

  test("stays for its time, also where the clock was set back", () => {
    const options = [option("a", 5), option("b", 50)];
    expect(chosen({ options, since: hour - hour / 2 + 1 })).toBe("a");
    expect(chosen({ options, since: hour / 2 })).toBe("b");
    expect(chosen({ options, since: 10 * hour })).toBe("a");
  });

  test("takes the smallest loss where all lose", () => {
    expect(chosen({ options: [option("a", 1, 5), option("b", 1, 2)] })).toBe("b");
  });

  test("never takes what is unknown, and goes on where its own profit is", () => {
    expect(chosen({ options: [option("a", 1), option("b", null), option("c", 9, null)] })).toBe("a");
    expect(chosen({ options: [option("a", null), option("b", 50)] })).toBe("a");
    expect(decide(situation({ options: [option("a", null), option("b", null)] }))).toEqual({
      key: null,
      why: "the profit of every choice is unknown",
    });
  });

  test("leaves what is no choice at once", () => {
    expect(chosen({ options: [option("a", 1), option("b", 2)], present: null, since: hour })).toBe("b");
  });
});

test("heat takes what draws most power, whatever it earns", () => {
  const options = [option("a", 50, 1, 100), option("b", 1, 9, 300), option("c", null, null, 200)];
  expect(chosen({ mode: "heat", options })).toBe("b");
  expect(chosen({ mode: "heat", options: [option("a", 1, 1, 300), option("b", 1, 1, 310)] })).toBe("a");
  expect(chosen({ mode: "heat", options: [option("a", 1, 1, null)] })).toBe(null);
});

const figure = fc.option(fc.double({ min: -1e6, max: 1e6, noNaN: true }));
const someOption = fc.record({
  key: fc.constantFrom("a", "b", "c", "d"),
  revenue: figure,
  cost: figure,
  power: figure,
});

test("it never switches twice within its stay, and never to what is unknown", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(someOption, { selector: ({ key }) => key, minLength: 1 }),
      fc.constantFrom("profit" as const, "heat" as const),
      fc.integer({ min: 0, max: 10 * hour }),
      (options, mode, now) => {
        const { key } = decide(situation({ options, mode, now, present: options[0]?.key ?? "" }));
        if (now < hour / 2) expect([options[0]?.key, null]).toContain(key);
        const found = options.find((each) => each.key === key);
        if (found === undefined || found === options[0]) return;
        expect(
          mode === "heat" ? found.power : (found.revenue ?? Number.NaN) - (found.cost ?? Number.NaN),
        ).not.toBeNaN();
        expect(mode === "heat" ? found.power : found.revenue).not.toBeNull();
      },
    ),
  );
});
