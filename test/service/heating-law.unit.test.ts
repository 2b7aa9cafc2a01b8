import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Follower } from "../../src/service/power/follow-law.ts";
import { demandOf, heat, stopHeating } from "../../src/service/power/heating-law.ts";
import { settingOf } from "../../src/service/power/loop-rig.ts";
import { stoppedClock } from "../clock.ts";
import { breaches, type Making, PureRig } from "./power-rigs.ts";

const rules = { minOn: 300, minOff: 300, changesPerHour: 6 };
const plain: Making = { full: 1000 };
const fine: Making = { full: 1000, throttle: { min: 30 } };

const rigsOf = (now: () => number, some: readonly Making[]) =>
  some.map((making, index) => new PureRig(index + 1, making, rules, now));
const followers = (rigs: readonly PureRig[]): Follower[] => rigs.map((rig) => rig.follower());

/** Rigs that mine, and have for an hour. */
async function warm(some: readonly Making[]) {
  const clock = stoppedClock();
  const rigs = rigsOf(clock.now, some);
  for (const rig of rigs) await rig.take({ id: rig.id, watts: rig.follower().ladder.highest });
  clock.pass(3600);
  return { clock, rigs };
}

describe("the demand of a room", () => {
  test("is all at the lower edge of the band, half at the target, nothing at the upper edge", () => {
    const at = (room: number) => demandOf({ target: 21, room, hysteresis: 0.5 });
    expect([15, 20.5, 21, 21.25, 21.5, 30].map(at)).toEqual([1, 1, 0.5, 0.25, 0, 0]);
  });

  test("never rises with the room", () => {
    const celsius = fc.double({ min: -40, max: 60, noNaN: true });
    fc.assert(
      fc.property(celsius, celsius, (a, b) => {
        const [cold, warmer] = [a, b].map((room) => demandOf({ target: 21, room, hysteresis: 0.5 }));
        return Math.sign((cold ?? 0) - (warmer ?? 0)) !== Math.sign(a - b) || a === b || cold === warmer;
      }),
    );
  });
});

describe("heating a room with a maximum", () => {
  const within = (rigs: readonly PureRig[], watts: number): Follower[] =>
    followers(rigs).map((rig) => ({ ...rig, room: { key: "den", watts } }));

  test("shares the maximum as all the heat, and starts no rig that does not fit", async () => {
    const cold = rigsOf(stoppedClock().now, [plain, plain]);
    expect(heat(within(cold, 1500), 1)).toEqual([{ id: 1, watts: 1000 }]);
    expect(heat(within(cold, 900), 1)).toEqual([]);
    const { rigs } = await warm([fine, fine]);
    expect(heat(within(rigs, 1200), 1).map(({ watts }) => watts)).toEqual([600, 600]);
    expect(heat(within(rigs, 1000), 0.8).map(({ watts }) => watts)).toEqual([400, 400]);
    expect(heat(within(rigs, 500), 1)).toEqual([
      { id: 1, watts: 500 },
      { id: 2, watts: 0 },
    ]);
  });

  test("never raises the power above the maximum", async () => {
    const making = fc.constantFrom(plain, fine, { full: 1500, limit: { min: 600, step: 50 } });
    await fc.assert(
      fc.asyncProperty(
        fc.array(making, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 0, max: 5000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (some, most, demand) => {
          const { rigs } = await warm(some);
          for (const rig of rigs.slice(1)) await rig.take({ id: rig.id, watts: 0 });
          const set = new Map(heat(within(rigs, most), demand).map(({ id, watts }) => [id, watts]));
          const total = followers(rigs).reduce((sum, rig) => sum + (set.get(rig.id) ?? settingOf(rig)), 0);
          const before = followers(rigs).reduce((sum, rig) => sum + settingOf(rig), 0);
          expect(total).toBeLessThanOrEqual(Math.max(most, before) + 1);
        },
      ),
    );
  });
});

describe("heating", () => {
  test("starts a rig that can only be stopped at the lower edge, and stops it at the upper", async () => {
    const cold = followers(rigsOf(stoppedClock().now, [plain]));
    expect(heat(cold, 0.99)).toEqual([]);
    expect(heat(cold, 1)).toEqual([{ id: 1, watts: 1000 }]);
    const { rigs } = await warm([plain]);
    expect(heat(followers(rigs), 0.01)).toEqual([]);
    expect(heat(followers(rigs), 0)).toEqual([{ id: 1, watts: 0 }]);
  });

  test("shares the band among several, the first in front", async () => {
    const cold = followers(rigsOf(stoppedClock().now, [plain, plain]));
    expect(heat(cold, 0.49)).toEqual([]);
    expect(heat(cold, 0.5)).toEqual([{ id: 1, watts: 1000 }]);
    expect(heat(cold, 1).map(({ id }) => id)).toEqual([1, 2]);
    const { rigs } = await warm([plain, plain]);
    expect(heat(followers(rigs), 0.51)).toEqual([]);
    expect(heat(followers(rigs), 0.5)).toEqual([{ id: 2, watts: 0 }]);
  });

  test("turns a rig that can be held to any power down as the room gets warm, and not for a trifle", async () => {
    const { rigs } = await warm([fine]);
    expect(heat(followers(rigs), 0.97)).toEqual([]);
    expect(heat(followers(rigs), 0.6)).toEqual([{ id: 1, watts: 600 }]);
    expect(heat(followers(rigs), 0.1)).toEqual([{ id: 1, watts: 300 }]);
    expect(heat(followers(rigs), 0)).toEqual([{ id: 1, watts: 0 }]);
  });

  test("demands nothing when nothing needs to change", async () => {
    const { rigs } = await warm([fine, plain]);
    expect(heat(followers(rigs), 1)).toEqual([]);
    const cold = followers(rigsOf(stoppedClock().now, [fine, plain]));
    expect(stopHeating(cold)).toEqual([]);
  });

  test("leaves rigs alone that may not be changed, and counts their heat", async () => {
    const { rigs } = await warm([plain, fine]);
    const [first, second] = followers(rigs);
    if (first === undefined || second === undefined) throw new Error("two rigs");
    expect(heat([{ ...first, free: false }, second], 0.75)).toEqual([{ id: 2, watts: 500 }]);
    expect(stopHeating([{ ...first, free: false }, second])).toEqual([{ id: 2, watts: 0 }]);
  });

  test("holds what cannot be stopped to its least", async () => {
    const { rigs } = await warm([fine]);
    const [rig] = followers(rigs);
    if (rig === undefined) throw new Error("one rig");
    expect(stopHeating([{ ...rig, ladder: { ...rig.ladder, stops: false } }])).toEqual([{ id: 1, watts: 300 }]);
  });

  const mixed: readonly Making[] = [
    fine,
    plain,
    { full: 1500, limit: { min: 600, step: 50 } },
    { full: 900, modes: [500, 900] },
  ];

  test("gives no less for a higher demand, from the same state", async () => {
    const demand = fc.integer({ min: 0, max: 1000 });
    const running = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(demand, demand, running, async (a, b, on) => {
        const clock = stoppedClock();
        const rigs = rigsOf(clock.now, mixed);
        for (const [index, rig] of rigs.entries())
          if (on[index]) await rig.take({ id: rig.id, watts: rig.follower().ladder.lowest });
        clock.pass(4000);
        const known = followers(rigs);
        const given = (thousandths: number) => {
          const demands = new Map(heat(known, thousandths / 1000).map(({ id, watts }) => [id, watts]));
          return known.reduce((sum, rig) => sum + (demands.get(rig.id) ?? settingOf(rig)), 0);
        };
        // W; what is not worth a change of four rigs is less than that.
        const blur = 900;
        expect(given(Math.max(a, b))).toBeGreaterThanOrEqual(given(Math.min(a, b)) - blur);
      }),
      { numRuns: 200 },
    );
  });

  test("switches no rig more often than allowed, whatever the room does", async () => {
    const turns = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 900 })), {
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(turns, async (all) => {
        const clock = stoppedClock();
        const rigs = rigsOf(clock.now, mixed);
        for (const [twentieths, seconds] of all) {
          clock.pass(seconds);
          for (const demand of heat(followers(rigs), twentieths / 20))
            await rigs.find(({ id }) => id === demand.id)?.take(demand);
        }
        for (const rig of rigs) expect(breaches(rig, rules)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

/** A winter's day in a room of 80 W/K with walls of 4 MJ/K: outside -6 to 6 °C, sun through the window at noon. */
async function dayOfHeating(makings: readonly Making[], hysteresis: number) {
  const clock = stoppedClock(Date.UTC(2026, 0, 15));
  const rigs = rigsOf(clock.now, makings);
  let room = 18;
  const rooms: number[] = [];
  for (let minute = 0; minute < 1440; minute += 1) {
    clock.pass(60);
    const hour = minute / 60;
    const outside = -6 * Math.cos(((hour - 2) / 12) * Math.PI);
    const sun = Math.max(0, Math.sin(((hour - 9) / 6) * Math.PI)) * 500;
    const power = rigs.reduce((sum, { draw }) => sum + draw, 0);
    room += ((power + sun - 80 * (room - outside)) * 60) / 4e6;
    // It takes some hours to get warm.
    if (hour >= 4) rooms.push(room);
    const thermometer = Math.round(room * 10) / 10;
    for (const demand of heat(followers(rigs), demandOf({ target: 21, room: thermometer, hysteresis }))) {
      await rigs.find(({ id }) => id === demand.id)?.take(demand);
    }
  }
  return { rigs, least: Math.min(...rooms), most: Math.max(...rooms) };
}

describe("a simulated day of heating", () => {
  test.each([
    ["a rig that can only be stopped", [{ full: 3000 }]],
    ["three that can only be stopped", [{ full: 1000 }, { full: 1000 }, { full: 1000 }]],
    ["a throttle", [{ full: 3000, throttle: { min: 20 } }]],
    [
      "limits",
      [
        { full: 1500, limit: { min: 600, step: 50 } },
        { full: 1500, limit: { min: 600, step: 50 } },
      ],
    ],
    [
      "modes",
      [
        { full: 1500, modes: [700, 1100, 1500] },
        { full: 1500, modes: [700, 1100, 1500] },
      ],
    ],
  ])("keeps the room in its band by %s, and no rig is switched oftener than allowed", async (_, makings) => {
    const day = await dayOfHeating(makings, 0.5);
    for (const rig of day.rigs) expect(breaches(rig, rules)).toEqual([]);
    expect(day.least).toBeGreaterThan(20.5);
    expect(day.most).toBeLessThan(21.5);
  });
});
