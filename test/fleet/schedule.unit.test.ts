import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { batchMs, DueQueue, longestBackOff, nextOnGrid, nextRead, phaseOf } from "../../src/fleet/schedule.ts";

const phase = fc.double({ min: 0, max: 0.999, noNaN: true });
const interval = fc.integer({ min: 1_000, max: 3_600_000 });
const now = fc.double({ min: 0, max: 1e9, noNaN: true });

describe("the grid of a rig", () => {
  test("has its next place within one interval, never in the past", () => {
    fc.assert(
      fc.property(now, interval, phase, (at, every, place) => {
        const next = nextOnGrid(at, every, place);
        expect(next).toBeGreaterThanOrEqual(at);
        expect(next - at).toBeLessThanOrEqual(every + 1e-3);
      }),
    );
  });

  test("stays where it is, however long the reads take", () => {
    expect(nextOnGrid(10_000, 1_000, 0.25)).toBe(10_250);
    expect(nextOnGrid(10_250, 1_000, 0.25)).toBe(11_250);
    expect(nextOnGrid(10_900, 1_000, 0.25)).toBe(11_250);
    expect(nextOnGrid(17_300, 1_000, 0.25)).toBe(18_250);
  });

  test("is spread evenly: a thousand rigs in a row are nowhere twice as dense as on average", () => {
    const tenths = Array.from({ length: 1_000 }, (_, index) => Math.floor(phaseOf(1_000_000_001 + index) * 10));
    for (let tenth = 0; tenth < 10; tenth += 1) {
      const here = tenths.filter((each) => each === tenth).length;
      expect(here).toBeGreaterThan(90);
      expect(here).toBeLessThan(110);
    }
  });
});

describe("the wait between two batches of reads", () => {
  test("is 100 ms at most, collects 16 reads of a large fleet, and is none for a small one", () => {
    expect([0, 1, 9, 10, 100, 320, 640, 4_000].map(batchMs)).toEqual([0, 0, 0, 100, 100, 50, 25, 4]);
  });
});

describe("a rig that does not answer", () => {
  test("is read on its grid for the first misses, then ever later", () => {
    const waits = [0, 3, 7, 8, 9, 10].map((missed) => Math.round(nextRead(0, 1_000, 1, missed)));
    expect(waits).toEqual([1_000, 1_000, 1_000, 1_000, 1_125, 1_266]);
  });

  test("waits an eighth of the time that it has been away, so one that was off for 40 s is found within 10 s", () => {
    for (const every of [1_000, 2_000, 5_000, 10_000]) {
      let away = 0;
      for (let missed = 1; away < 40_000; missed += 1) {
        const wait = nextRead(away, every, 1, missed) - away;
        expect(wait).toBeLessThanOrEqual(Math.max(every, away / 7 + 1));
        expect(wait).toBeLessThanOrEqual(10_000);
        away += wait;
      }
    }
  });

  test("is tried again within a minute, or its interval if that is longer", () => {
    fc.assert(
      fc.property(now, interval, phase, fc.integer({ min: 3, max: 5_000 }), (at, every, place, missed) => {
        const wait = nextRead(at, every, place, missed) - at;
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(Math.max(longestBackOff, every) + 1e-3);
      }),
    );
  });
});

test("the queue gives what a sorted list would give", () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: 0, max: 100 }) }),
    fc.record({ take: fc.integer({ min: 0, max: 100 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new DueQueue<number>();
      let sorted: number[] = [];
      for (const each of steps) {
        if ("add" in each) {
          queue.add(each.add, each.add);
          sorted = [...sorted, each.add].sort((a, b) => a - b);
        } else {
          const first = sorted[0];
          const isDue = first !== undefined && first <= each.take;
          expect(queue.take(each.take)).toBe(isDue ? sorted.shift() : undefined);
        }
        expect(queue.size).toBe(sorted.length);
        expect(queue.nextAt).toBe(sorted[0] ?? Number.POSITIVE_INFINITY);
      }
    }),
  );
});
