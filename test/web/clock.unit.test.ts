import { expect, jest, test } from "@jest/globals";
import { now, startClock } from "../../src/web/clock.ts";
import { fakeTimers } from "../fake-timers.ts";
import { onTestFinished } from "../finished.ts";

/** A document that is hidden and shown by the test. */
class Page extends EventTarget {
  visibilityState = "visible";

  turn(to: "visible" | "hidden"): void {
    this.visibilityState = to;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

test("the clock moves every second, rests while the page is hidden, and is right as soon as it is shown", () => {
  fakeTimers();
  const page = new Page();
  Object.assign(globalThis, { document: page });
  onTestFinished(() => void Reflect.deleteProperty(globalThis, "document"));
  startClock();
  const start = Date.now();
  const isAt = (ms: number): void => expect(now.value - start).toBe(ms);
  jest.advanceTimersByTime(2000);
  isAt(2000);
  page.turn("hidden");
  jest.advanceTimersByTime(5500);
  isAt(2000);
  page.turn("visible");
  isAt(7500);
  jest.advanceTimersByTime(500);
  isAt(8000);
});
