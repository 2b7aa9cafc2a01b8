import { expect, test } from "@jest/globals";
import { momentNow, SendDeadline, sendDeadline, sendingBefore } from "../../src/async/send-deadline.ts";
import { fakeOnly } from "../fake-timers.ts";

const minute = 60_000;
const ago = (ms: number) => {
  const { steady, clock } = momentNow();
  return { steady: steady - BigInt(ms) * 1_000_000n, clock: clock - BigInt(ms) };
};

test("a deadline is over until it is moved on, once its time has passed, and when it is ended", () => {
  const deadline = new SendDeadline();
  expect(deadline.isOver).toBe(true);
  deadline.moveTo(ago(minute), 2 * minute);
  expect(deadline.isOver).toBe(false);
  deadline.moveTo(ago(2 * minute), minute);
  expect(deadline.isOver).toBe(true);
  deadline.moveTo(momentNow(), minute);
  deadline.end();
  expect(deadline.isOver).toBe(true);
});

test("it is over by either clock: that of a machine stands still while it sleeps, the other may be set", () => {
  const deadline = new SendDeadline();
  const { steady, clock } = momentNow();
  deadline.moveTo({ steady: ago(2 * minute).steady, clock }, minute);
  expect(deadline.isOver).toBe(true);
  deadline.moveTo({ steady, clock }, minute);
  fakeOnly("Date");
  expect(deadline.isOver).toBe(false);
  Date.now = () => Number(clock) + 3_600_000;
  expect(deadline.isOver).toBe(true);
  Date.now = () => Number(clock) - 3_600_000;
  expect(deadline.isOver).toBe(false);
});

test("another thread sees it as it is now", () => {
  const deadline = new SendDeadline();
  const there = new SendDeadline(deadline.shared);
  deadline.moveTo(momentNow(), minute);
  expect(there.isOver).toBe(false);
  deadline.end();
  expect(there.isOver).toBe(true);
});

test("work has the deadline with which it was begun, also after a wait, and other work has none", async () => {
  const deadline = new SendDeadline();
  const found = sendingBefore(deadline, async () => {
    await Promise.resolve();
    return sendDeadline();
  });
  expect(sendDeadline()).toBeNull();
  expect(await found).toBe(deadline);
  expect(sendingBefore(null, sendDeadline)).toBeNull();
});
