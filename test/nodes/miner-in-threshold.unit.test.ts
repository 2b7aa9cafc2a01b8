import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Condition, clear, dueAt, evaluate, type Threshold, type Value } from "../../nodes/miner-in/threshold.ts";

const below: Threshold = { is: "below", limit: 80, hysteresis: 5, hold: 600 };
const above: Threshold = { is: "above", limit: 80, hysteresis: 5, hold: 600 };
const holding: Condition = { kind: "holding", since: 1000 };
const begun: Condition = { kind: "begun", since: 1000 };

describe("a threshold", () => {
  test.each<[string, Threshold, Condition, Value, number, Condition, "begun" | "over" | null]>([
    ["a value on the limit is not below it", below, clear, 80, 2000, clear, null],
    ["a value on the limit is not above it", above, clear, 80, 2000, clear, null],
    ["a value below begins the hold time", below, clear, 79.9, 2000, { kind: "holding", since: 2000 }, null],
    ["a value above begins the hold time", above, clear, 80.1, 2000, { kind: "holding", since: 2000 }, null],
    ["a value above is nothing to `below`", below, clear, 500, 2000, clear, null],
    ["the hold time goes on", below, holding, 10, 1599, holding, null],
    ["the hold time is over", below, holding, 10, 1600, begun, "begun"],
    ["of `above` too", above, holding, 90, 1600, begun, "begun"],
    ["a value within the hysteresis ends the hold time", below, holding, 82, 1600, clear, null],
    ["without a hold time it begins at once", { ...below, hold: 0 }, clear, 1, 5, { kind: "begun", since: 5 }, "begun"],
    ["a begun condition is reported once", below, begun, 10, 9000, begun, null],
    ["within the hysteresis it is not over", below, begun, 84.9, 9000, begun, null],
    ["beyond the hysteresis it is over", below, begun, 85, 9000, clear, "over"],
    ["of `above` the hysteresis lies below", above, begun, 75.1, 9000, begun, null],
    ["and beyond it that is over", above, begun, 75, 9000, clear, "over"],
    ["what is unknown begins nothing", below, clear, "unknown", 2000, clear, null],
    ["what is unknown ends the hold time", below, holding, "unknown", 1600, clear, null],
    ["what is unknown ends nothing that has begun", below, begun, "unknown", 9000, begun, null],
    ["what is stale begins nothing", below, clear, "stale", 2000, clear, null],
    ["what is stale leaves the hold time, and does not complete it", below, holding, "stale", 1600, holding, null],
    ["what is stale ends nothing", below, begun, "stale", 9000, begun, null],
  ])("%s", (_, threshold, condition, value, at, next, event) => {
    expect(evaluate(threshold, condition, value, at)).toEqual({ condition: next, event });
  });

  test("is due again when the hold time ends", () => {
    expect([clear, holding, begun].map((condition) => dueAt(below, condition))).toEqual([null, 1600, null]);
  });
});

const Thresholds = fc.record({
  is: fc.constantFrom("below" as const, "above" as const),
  limit: fc.integer({ min: -5, max: 5 }),
  hysteresis: fc.integer({ min: 0, max: 3 }),
  hold: fc.integer({ min: 0, max: 20 }),
});
const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -9, max: 9 }) },
  fc.constantFrom("stale" as const, "unknown" as const),
);
const Samples = fc.array(fc.record({ wait: fc.integer({ min: 0, max: 9 }), value }), { maxLength: 60 });

interface Seen {
  readonly at: number;
  readonly value: Value;
  readonly event: "begun" | "over" | null;
}

/** All evaluations, in order. */
function run(threshold: Threshold, samples: readonly { readonly wait: number; readonly value: Value }[]): Seen[] {
  let condition = clear;
  let at = 0;
  return samples.map(({ wait, value }) => {
    at += wait;
    const evaluation = evaluate(threshold, condition, value, at);
    condition = evaluation.condition;
    return { at, value, event: evaluation.event };
  });
}

describe("a threshold, for any values,", () => {
  test("alternates between begun and over, starting with begun", () => {
    fc.assert(
      fc.property(Thresholds, Samples, (threshold, samples) => {
        const events = run(threshold, samples).flatMap(({ event }) => (event === null ? [] : [event]));
        expect(events).toEqual(events.map((_, index) => (index % 2 === 0 ? "begun" : "over")));
      }),
    );
  });

  test("begins only if every value of the hold time was beyond the limit, and none was unknown", () => {
    fc.assert(
      fc.property(Thresholds, Samples, (threshold, samples) => {
        const seen = run(threshold, samples);
        for (const [index, { at, event }] of seen.entries()) {
          if (event !== "begun") continue;
          const before = seen.slice(0, index + 1);
          const isBeyond = ({ value }: Seen) =>
            value === "stale" ||
            (typeof value === "number" &&
              (threshold.is === "below" ? value < threshold.limit : value > threshold.limit));
          const unbroken = before.slice(before.findLastIndex((each) => !isBeyond(each)) + 1);
          const first = unbroken.find(({ value }) => typeof value === "number");
          expect(at - (first?.at ?? at)).toBeGreaterThanOrEqual(threshold.hold);
          expect(typeof seen[index]?.value).toBe("number");
        }
      }),
    );
  });

  test("is over only with a value past the hysteresis", () => {
    fc.assert(
      fc.property(Thresholds, Samples, (threshold, samples) => {
        const { is, limit, hysteresis } = threshold;
        for (const { event, value } of run(threshold, samples))
          if (event === "over")
            expect(
              typeof value === "number" && (is === "below" ? value >= limit + hysteresis : value <= limit - hysteresis),
            ).toBe(true);
      }),
    );
  });

  test("begins if values stay beyond the limit for the hold time", () => {
    fc.assert(
      fc.property(Thresholds, Samples, (threshold, samples) => {
        const far = threshold.is === "below" ? -100 : 100;
        const back = -far;
        const after = [
          { wait: 1, value: back },
          { wait: 1, value: far },
          { wait: threshold.hold, value: far },
        ];
        expect(
          run(threshold, [...samples, ...after])
            .slice(-2)
            .some(({ event }) => event === "begun"),
        ).toBe(true);
      }),
    );
  });
});
