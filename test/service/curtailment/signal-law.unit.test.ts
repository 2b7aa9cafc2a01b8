import { describe, expect, test } from "@jest/globals";
import type { CurtailmentTarget } from "../../../src/contract/curtailment.ts";
import type { StaleAction } from "../../../src/contract/signal-settings.ts";
import { unheard, type Wish, wishOf } from "../../../src/service/curtailment/signals/signal.ts";
import { decide, type SignalState, stateOf } from "../../../src/service/curtailment/signals/signal-law.ts";

const planTarget: CurtailmentTarget = { reduce: 1000 };
const run: Wish = { kind: "run" };
const half = wishOf(50, { quantity: "percent" });
const running = { target: { share: 50 }, until: null, urgent: false };

function act(
  state: SignalState,
  wish: Wish | null,
  {
    onStale = "hold",
    before = null,
    isRunning = false,
  }: { onStale?: StaleAction; before?: string | null; isRunning?: boolean } = {},
): string {
  const decided = decide(state, wish, onStale, isRunning ? running : null, before, planTarget);
  return `${decided.act.kind} ${decided.acted}`;
}

describe("a number", () => {
  test.each([
    [100, "percent", undefined, null],
    [101, "percent", undefined, null],
    [0, "percent", undefined, { all: true }],
    [80, "percent", undefined, { share: 20 }],
    [99.9, "percent", undefined, { share: 1 }],
    [80, "percent", 80, null],
    [0, "watts", 5e6, { all: true }],
    [1e6, "watts", 5e6, { limit: 1e6 }],
    [5e6, "watts", 5e6, null],
  ] as const)("of %d in %s, with runFrom %s, means %j", (number, quantity, runFrom, target) => {
    const wish = wishOf(number, { quantity, runFrom });
    expect(wish.kind === "run" ? null : wish.target).toEqual(target);
  });
});

describe("the state of a signal", () => {
  const freshness = { maxAgeMs: 10_000, onStale: "run" } as const;
  test.each([
    [unheard, 9_000, "unknown"],
    [unheard, 11_000, "stale"],
    [{ ...unheard, wish: run, heard: 5_000 }, 15_000, "run"],
    [{ ...unheard, wish: half, heard: 5_000 }, 15_000, "curtail"],
    [{ ...unheard, wish: half, heard: 5_000 }, 15_001, "stale"],
  ] as const)("%#", (reading, now, state) => {
    expect(stateOf(reading, freshness, { now, openedAt: 0 })).toBe(state);
  });

  test("is never stale where nothing can be", () => {
    expect(stateOf({ ...unheard, wish: run, heard: 0 }, null, { now: 1e12, openedAt: 0 })).toBe("run");
  });
});

describe("a signal", () => {
  test("begins a curtailment once, changes it, and ends it", () => {
    expect(act("curtail", half)).toBe("begin number 50");
    expect(act("curtail", half, { before: "number 50", isRunning: true })).toBe("none number 50");
    expect(act("curtail", wishOf(20, { quantity: "percent" }), { before: "number 50", isRunning: true })).toBe(
      "change number 20",
    );
    expect(act("run", run, { before: "number 50", isRunning: true })).toBe("end run");
    expect(act("run", run, { before: "run" })).toBe("none run");
  });

  test("leaves what a person has ended or changed until it changes itself", () => {
    expect(act("curtail", half, { before: "number 50" })).toBe("none number 50");
    expect(act("curtail", wishOf(20, { quantity: "percent" }), { before: "number 50" })).toBe("begin number 20");
    expect(act("curtail", half, { before: "run" })).toBe("begin number 50");
  });

  test("goes on after a restart with what is running, and changes it only if it says something else", () => {
    expect(act("unknown", null, { isRunning: true })).toBe("none null");
    expect(act("curtail", half, { isRunning: true })).toBe("none number 50");
    expect(act("run", run, { isRunning: true })).toBe("end run");
  });

  test.each([
    ["curtail", false, "begin stale"],
    ["curtail", true, "none number 50"],
    ["run", false, "none number 50"],
    ["run", true, "end run"],
    ["hold", false, "none number 50"],
    ["hold", true, "none number 50"],
  ] as const)("that is stale and has %s, with a curtailment: %s", (onStale, isRunning, expected) => {
    expect(act("stale", half, { onStale, isRunning, before: "number 50" })).toBe(expected);
  });

  test("that is stale begins its curtailment once, and is heard again", () => {
    expect(act("stale", half, { onStale: "curtail", before: "stale" })).toBe("none stale");
    expect(act("run", run, { before: "stale", isRunning: true })).toBe("end run");
    expect(act("curtail", half, { before: "run" })).toBe("begin number 50");
  });

  test("without a target takes that of the plan", () => {
    const event: Wish = { kind: "curtail", id: "e", target: null, until: 5, urgent: false, text: "" };
    expect(decide("curtail", event, "hold", running, null, planTarget)).toEqual({
      act: { kind: "change", target: planTarget, until: 5, urgent: false },
      acted: "e",
    });
  });
});
