import { expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  advance,
  dueAt,
  type MachineState,
  type Phase,
  type Truth,
} from "../../../src/service/automation/rules/machine.ts";

const begin = (): MachineState => ({ phase: "idle", since: 0, elapsed: 0, at: null });

const steps = fc.array(
  fc.record({
    truth: fc.constantFrom<Truth>(true, false, null),
    /** ms that pass, also backwards for the clock on the wall. */
    passes: fc.integer({ min: 0, max: 200_000 }),
    jumps: fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }),
  }),
  { maxLength: 200 },
);
const delays = fc.record({
  forMs: fc.constantFrom(0, 1, 60_000, 300_000),
  clearForMs: fc.constantFrom(0, 1, 30_000, 600_000),
});

test("never fires twice without clearing, and unknown changes nothing, whatever the readings and the clock do", () => {
  fc.assert(
    fc.property(steps, delays, (given, wait) => {
      const state = begin();
      let [monotonic, wall] = [0, 0];
      let fired = false;
      for (const { truth, passes, jumps } of given) {
        monotonic += passes;
        wall += passes + jumps;
        const before: Phase = state.phase;
        const turn = advance(state, truth, { monotonic, wall }, wait);
        if (truth === null) expect([turn, state.phase]).toEqual([null, before]);
        if (turn === "fire") {
          expect(fired).toBe(false);
          expect(truth).toBe(true);
          fired = true;
        }
        if (turn === "clear") {
          expect(fired).toBe(true);
          expect(truth).toBe(false);
          fired = false;
        }
        expect(state.phase === "firing" || state.phase === "clearing").toBe(fired);
        expect(state.elapsed).toBeGreaterThanOrEqual(0);
        expect(dueAt(state, wait)).toBeGreaterThanOrEqual(monotonic);
      }
    }),
    { numRuns: 500 },
  );
});

test("fires only after its conditions have held for its time without a break", () => {
  fc.assert(
    fc.property(steps, delays, (given, wait) => {
      const state = begin();
      let monotonic = 0;
      let held = 0;
      let last: Truth = false;
      for (const { truth, passes } of given) {
        monotonic += passes;
        // Time counts from one look to the next while both know that they hold.
        if (truth !== false && last === true) held += passes;
        if (truth === false) held = 0;
        if (advance(state, truth, { monotonic, wall: 0 }, wait) === "fire")
          expect(held).toBeGreaterThanOrEqual(wait.forMs);
        if (truth === false) held = 0;
        last = truth;
      }
    }),
    { numRuns: 500 },
  );
});
