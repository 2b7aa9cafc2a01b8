import { jest } from "@jest/globals";
import { onTestFinished } from "./finished.ts";

const all = [
  ...(["Date", "hrtime", "performance", "nextTick", "queueMicrotask", "setImmediate", "clearImmediate"] as const),
  ...(["setInterval", "clearInterval", "setTimeout", "clearTimeout", "requestAnimationFrame"] as const),
  ...(["cancelAnimationFrame", "requestIdleCallback", "cancelIdleCallback", "Temporal"] as const),
] as const;

/** Fakes these until the end of the test; all others stay real. */
export function fakeOnly(...faked: readonly (typeof all)[number][]): void {
  jest.useFakeTimers({ doNotFake: all.filter((each) => !faked.includes(each)) });
  onTestFinished(() => void jest.useRealTimers());
}

/** Fakes all timers and clocks until the end of the test, but not what promises and streams run on. */
export function fakeTimers(): void {
  fakeOnly(...all.filter((each) => each !== "nextTick" && each !== "queueMicrotask"));
}
