import { expect, test } from "@jest/globals";
import { runPaced } from "../../src/service/commands/run-paced.ts";

/** Lets all that can go on without time go on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Work that ends when the test says so, and a clock that moves when it says so. */
function bench(items: number[], parallel: number, delayMs = 0) {
  const stop = new AbortController();
  const started: number[] = [];
  const ends = new Map<number, () => void>();
  const rests: { ms: number; over: () => void }[] = [];
  const wait = (ms: number, signal: AbortSignal) =>
    new Promise<void>((over) => {
      rests.push({ ms, over });
      signal.addEventListener("abort", () => over());
    });
  const ended = runPaced(items, { parallel, delayMs, signal: stop.signal, wait }, (item) => {
    started.push(item);
    return new Promise<void>((resolve) => ends.set(item, resolve));
  });
  const end = async (item: number) => {
    ends.get(item)?.();
    await settled();
  };
  return { stop, started, rests, end, ended };
}

test("so many are at work at once, and a slow one keeps only its place", async () => {
  const { started, end, ended } = bench([1, 2, 3, 4, 5], 2);
  await settled();
  expect(started).toEqual([1, 2]);
  await end(2);
  await end(3);
  expect(started).toEqual([1, 2, 3, 4]);
  await end(4);
  await end(5);
  await end(1);
  await ended;
  expect(started).toEqual([1, 2, 3, 4, 5]);
});

test("two starts are at least the delay apart, and no wait follows the last", async () => {
  const { started, rests, end, ended } = bench([1, 2, 3], 3, 5_000);
  await settled();
  expect([started, rests.map(({ ms }) => ms)]).toEqual([[1], [5_000]]);
  await end(1);
  expect(started).toEqual([1]);
  rests[0]?.over();
  await settled();
  expect(started).toEqual([1, 2]);
  rests[1]?.over();
  await settled();
  await end(2);
  await end(3);
  await ended;
  expect([started, rests.length]).toEqual([[1, 2, 3], 2]);
});

test("nothing is started once it is stopped, and what has begun is waited for", async () => {
  const { stop, started, end, ended } = bench([1, 2, 3], 1, 5_000);
  await settled();
  stop.abort();
  let over = false;
  void ended.then(() => {
    over = true;
  });
  await settled();
  expect(over).toBe(false);
  await end(1);
  await ended;
  expect(started).toEqual([1]);
});

test("of nothing is done at once", async () => {
  await expect(bench([], 4).ended).resolves.toBeUndefined();
});
