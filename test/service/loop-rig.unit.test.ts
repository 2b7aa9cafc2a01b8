import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { highestWithin, targetValue } from "../../src/service/power/loop-rig.ts";
import { stoppedClock } from "../clock.ts";
import { type Making, PureRig } from "./power-rigs.ts";

test("a target value makes the rig's ladder choose the same setting", () => {
  const makings: Making[] = [
    { full: 3217, throttle: { min: 30 } },
    { full: 17, throttle: { min: 10 } },
    { full: 3200, limit: { min: 1000, step: 50 } },
    { full: 1500, modes: [600, 1000, 1500] },
    { full: 17 },
  ];
  const rules = { minOn: 0, minOff: 0, changesPerHour: 6 };
  const ladders = makings.map((making) => new PureRig(1, making, rules, stoppedClock().now).follower().ladder);
  fc.assert(
    fc.property(fc.constantFrom(...ladders), fc.double({ min: 0, max: 4000, noNaN: true }), (ladder, watts) => {
      const setting = highestWithin(ladder, watts);
      expect(setting).toBeLessThanOrEqual(watts + 1e-6);
      if (setting > 0) expect(ladder.choose(targetValue(ladder, setting)).watts).toBe(setting);
      expect(targetValue(ladder, setting)).toBeLessThanOrEqual(Math.ceil(ladder.highest));
    }),
  );
});
