import { beforeEach, describe, expect, jest, test } from "@jest/globals";
import { Semaphore } from "../../src/async/index.ts";
import { fakeTimers } from "../fake-timers.ts";

beforeEach(fakeTimers);

/** Work that goes on until it is ended; `begun` lists what has begun, in order. */
function workbench(): { begun: number[]; work(id: number): () => Promise<void>; end(id: number): Promise<void> } {
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  return {
    begun,
    work: (id) => () => {
      begun.push(id);
      return new Promise((resolve) => ends.set(id, resolve));
    },
    end: async (id) => {
      ends.get(id)?.();
      await jest.advanceTimersByTimeAsync(0);
    },
  };
}

describe("a semaphore", () => {
  test("runs as many at once as it has places, the others in the order in which they came", async () => {
    const { begun, work, end } = workbench();
    const semaphore = new Semaphore(2);
    for (const id of [1, 2, 3, 4]) semaphore.enter(work(id));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(begun).toEqual([1, 2]);
    await end(2);
    await end(1);
    expect(begun).toEqual([1, 2, 3, 4]);
  });

  test("with fewer places starts no more until enough has ended, and with more at once", async () => {
    const { begun, work, end } = workbench();
    const semaphore = new Semaphore(3);
    for (const id of [1, 2, 3, 4, 5, 6]) semaphore.enter(work(id));
    semaphore.resize(1);
    await end(1);
    await end(2);
    expect([begun, semaphore.waiting]).toEqual([[1, 2, 3], 3]);
    await end(3);
    expect(begun).toEqual([1, 2, 3, 4]);
    semaphore.resize(3);
    expect([begun, semaphore.waiting]).toEqual([[1, 2, 3, 4, 5, 6], 0]);
  });

  test("starts no waiting work once it is cleared", async () => {
    const { begun, work, end } = workbench();
    const semaphore = new Semaphore(1);
    for (const id of [1, 2]) semaphore.enter(work(id));
    semaphore.clear();
    await end(1);
    expect(begun).toEqual([1]);
  });

  test("with slack gives the place of slow work to other work, within the limit outside", async () => {
    const { begun, work, end } = workbench();
    const semaphore = new Semaphore(1, { afterMs: 1_000, beside: 2 });
    for (const id of [1, 2, 3, 4, 5, 6]) semaphore.enter(work(id));
    await jest.advanceTimersByTimeAsync(999);
    expect(begun).toEqual([1]);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun).toEqual([1, 2]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(begun).toEqual([1, 2, 3]);
    // Work beside leaves no place behind when it ends, only room beside.
    await end(1);
    expect(begun).toEqual([1, 2, 3]);
    await end(3);
    expect(begun).toEqual([1, 2, 3, 4]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(begun).toEqual([1, 2, 3, 4, 5]);
  });
});
