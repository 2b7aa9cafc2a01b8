import { describe, expect, test } from "@jest/globals";
import { DayEfficiency } from "../../src/service/history/day-efficiency.ts";
import type { TakeSample } from "../../src/store/index.ts";

const minute = 60_000;
const day = 1_440 * minute;

interface Sampled {
  readonly time: number;
  readonly hashrate: number;
  readonly power: number;
}

/** Miners with these samples; `reads` counts whose samples were read. */
function efficiencyOf(samples: ReadonlyMap<number, readonly Sampled[]>) {
  let now = 10 * day;
  const reads: number[] = [];
  let failing = false;
  const efficiency = new DayEfficiency({
    minerIds: () => samples.keys(),
    recorderOf: () => ({
      each: async (id: number, from: number, to: number, take: TakeSample) => {
        reads.push(id);
        if (failing) throw new Error("the store is away");
        for (const { time, hashrate, power } of samples.get(id) ?? [])
          if (time >= from && time < to) take(time, hashrate, power, Number.NaN, Number.NaN);
      },
    }),
    now: () => now,
    monotonicNow: () => now,
  });
  const pass = (ms: number): void => {
    now += ms;
  };
  const fail = (): void => {
    failing = true;
  };
  return { efficiency, reads, pass, fail };
}

/** One sample a minute. */
const minutes = (count: number, from: number, hashrate: number, power: number): Sampled[] =>
  Array.from({ length: count }, (_, index) => ({ time: from + index * minute, hashrate, power }));

describe("the efficiency of a miner over a day", () => {
  test("is the median of its samples: a lower power for some hours and stops do not count", async () => {
    const { efficiency } = efficiencyOf(
      new Map([
        [
          1,
          [
            ...minutes(900, 9 * day, 100, 3_000),
            ...minutes(300, 9.7 * day, 80, 1_600),
            ...minutes(200, 9.8 * day, 0, 20),
          ],
        ],
      ]),
    );
    await efficiency.turn();
    expect(efficiency.of(1)).toBe(30);
  });

  test("does not weigh minutes with many samples more", async () => {
    const burst = Array.from({ length: 600 }, (_, index) => ({
      time: 9.5 * day + index * 10,
      hashrate: 100,
      power: 9_000,
    }));
    const { efficiency } = efficiencyOf(new Map([[1, [...minutes(100, 9 * day, 100, 3_000), ...burst]]]));
    await efficiency.turn();
    expect(efficiency.of(1)).toBe(30);
  });

  test("is not known without an hour of mining in the last day", async () => {
    const { efficiency } = efficiencyOf(
      new Map([[1, [...minutes(500, 8 * day, 100, 3_000), ...minutes(59, 9.5 * day, 100, 3_000)]]]),
    );
    await efficiency.turn();
    expect(efficiency.of(1)).toBeNull();
  });

  test("is computed once an hour, some miners with each turn, and stays while the store is away", async () => {
    const samples = new Map(
      Array.from({ length: 7_200 }, (_, id) => [id, id === 0 ? minutes(100, 9.5 * day, 100, 3_000) : []]),
    );
    const { efficiency, reads, pass, fail } = efficiencyOf(samples);
    await efficiency.turn();
    expect(reads).toHaveLength(2);
    for (let turns = 0; turns < 3_599; turns += 1) {
      pass(1_000);
      await efficiency.turn();
    }
    expect(new Set(reads).size).toBe(7_200);
    expect(efficiency.of(0)).toBe(30);
    fail();
    pass(3_600_000);
    for (let turns = 0; turns < 3_600; turns += 1) await efficiency.turn();
    expect(reads.length).toBeGreaterThan(14_000);
    expect(efficiency.of(0)).toBe(30);
  });
});
