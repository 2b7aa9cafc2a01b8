import { beforeEach, expect, jest, test } from "@jest/globals";
import { idsToFollow, onUnfollowed, show } from "../../src/web/shown-rows.ts";
import { fakeTimers } from "../fake-timers.ts";

let requests = 0;
beforeEach(() => {
  requests = 0;
  fakeTimers();
  onUnfollowed(() => {
    requests += 1;
  });
});

const list = {};
const scrolledTo = (first: number): void => show(list, { visible: [first, first + 1], near: [first - 1, first + 2] });

test("the visible rigs are followed first, then those around them, up to the limit of the service", () => {
  show(list, { visible: [10, 11], near: Array.from({ length: 500 }, (_, id) => id) });
  const ids = idsToFollow();
  expect(ids.slice(0, 4)).toEqual([10, 11, 0, 1]);
  expect([ids.length, new Set(ids).size]).toEqual([300, 300]);
});

test("scrolling asks once, when it has come to rest, and not for what is followed already", () => {
  for (let first = 1_000; first < 1_020; first += 1) scrolledTo(first);
  expect(requests).toBe(0);
  jest.advanceTimersByTime(60_000);
  expect(requests).toBe(1);
  idsToFollow();
  scrolledTo(1_019);
  jest.advanceTimersByTime(60_000);
  expect(requests).toBe(1);
});

test("who asks for another reason before that need not be told to ask", () => {
  scrolledTo(2_000);
  idsToFollow();
  jest.advanceTimersByTime(60_000);
  expect(requests).toBe(0);
});
