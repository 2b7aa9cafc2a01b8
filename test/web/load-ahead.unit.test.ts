import { expect, jest, test } from "@jest/globals";
import { loadAhead } from "../../src/web/load-ahead.ts";
import { fakeTimers } from "../fake-timers.ts";
import { onTestFinished } from "../finished.ts";

/** A browser that is idle when the test says so. */
function stubIdle(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const requestIdleCallback = (run: () => void): void => void waiting.push(run);
  Object.assign(globalThis, { requestIdleCallback, window: { requestIdleCallback } });
  onTestFinished(() => {
    for (const name of ["requestIdleCallback", "window"]) Reflect.deleteProperty(globalThis, name);
  });
  return async () => {
    waiting.shift()?.();
    await jest.advanceTimersByTimeAsync(0);
  };
}

/** Pages that note when they are loaded; the file of one of them may be missing. */
function pagesOf(missing?: number): { loaded: number[]; pages: { load: () => Promise<never> }[] } {
  const loaded: number[] = [];
  const pages = [1, 2, 3].map((page) => ({
    load: async () => {
      loaded.push(page);
      if (page === missing) throw new Error("The file is not there.");
      return undefined as never;
    },
  }));
  return { loaded, pages };
}

test("pages are loaded one after another, each when the browser is idle, 20 s after the first figures", async () => {
  fakeTimers();
  const idle = stubIdle();
  const { loaded, pages } = pagesOf();
  void loadAhead(pages);
  await jest.advanceTimersByTimeAsync(19_999);
  await idle();
  expect(loaded).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(loaded).toEqual([]);
  await idle();
  expect(loaded).toEqual([1]);
  await idle();
  await idle();
  expect(loaded).toEqual([1, 2, 3]);
});

test("a browser that does not say when it is idle waits a little before each page", async () => {
  fakeTimers();
  Object.assign(globalThis, { window: {} });
  onTestFinished(() => void Reflect.deleteProperty(globalThis, "window"));
  const { loaded, pages } = pagesOf();
  void loadAhead(pages);
  await jest.advanceTimersByTimeAsync(20_199);
  expect(loaded).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(loaded).toEqual([1]);
  await jest.advanceTimersByTimeAsync(200);
  expect(loaded).toEqual([1, 2]);
});

test("after a page that cannot be loaded, no other is tried", async () => {
  fakeTimers();
  const idle = stubIdle();
  const { loaded, pages } = pagesOf(2);
  const done = loadAhead(pages);
  await jest.advanceTimersByTimeAsync(20_000);
  await idle();
  await idle();
  await done;
  await idle();
  expect(loaded).toEqual([1, 2]);
});
