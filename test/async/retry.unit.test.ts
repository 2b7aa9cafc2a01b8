import { beforeEach, describe, expect, jest, test } from "@jest/globals";
import { backOffMs, jittered, retry } from "../../src/async/index.ts";
import { fakeTimers } from "../fake-timers.ts";

beforeEach(fakeTimers);

const delays = { firstMs: 1_000, longestMs: 60_000 };

test("the wait doubles with each failure, up to the longest", () => {
  expect([1, 2, 3, 6, 7, 2_000].map((failures) => backOffMs(failures, delays))).toEqual([
    1_000, 2_000, 4_000, 32_000, 60_000, 60_000,
  ]);
});

test("a jittered wait is between half of it and all of it", () => {
  const waits = Array.from({ length: 200 }, () => jittered(1_000));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(500);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
  expect(new Set(waits).size).toBeGreaterThan(100);
});

describe("retry", () => {
  test("returns the first success, and reports each failure", async () => {
    const failures: unknown[] = [];
    let attempts = 0;
    const work = async (): Promise<string> => {
      attempts += 1;
      if (attempts < 4) throw new Error(`failure ${attempts}`);
      return "open";
    };
    const done = retry(work, (error) => failures.push(String(error)), delays, new AbortController().signal);
    // 1, 2 and 4 s at most.
    await jest.advanceTimersByTimeAsync(7_000);
    await expect(done).resolves.toBe("open");
    expect(failures).toEqual(["Error: failure 1", "Error: failure 2", "Error: failure 3"]);
  });

  test("ends with null once aborted, without reporting the failure that follows", async () => {
    const ended = new AbortController();
    const failures: unknown[] = [];
    const done = retry(
      async () => {
        throw new Error("closed");
      },
      (error) => failures.push(error),
      delays,
      ended.signal,
    );
    await jest.advanceTimersByTimeAsync(10);
    ended.abort();
    await expect(done).resolves.toBeNull();
    expect(failures).toHaveLength(1);
  });

  test("rejects with what the report of a failure throws", async () => {
    const refuse = (error: unknown): void => {
      throw error;
    };
    const work = () => Promise.reject(new TypeError("a fault of the program"));
    await expect(retry(work, refuse, delays, new AbortController().signal)).rejects.toThrow("a fault of the program");
  });
});
