import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { shareOf, within } from "../../src/service/power/follow.ts";
import { type Follower, mayRise, share, stopFollowing } from "../../src/service/power/follow-law.ts";
import { highestWithin, settingOf } from "../../src/service/power/loop-rig.ts";
import { stoppedClock } from "../clock.ts";
import { breaches, type Making, PureRig } from "./power-rigs.ts";

const rules = { minOn: 300, minOff: 300, changesPerHour: 6 };
const makings: readonly Making[] = [
  { full: 3200, throttle: { min: 30 } },
  { full: 3200, limit: { min: 1000, step: 50 } },
  { full: 1500, modes: [600, 1000, 1500] },
  { full: 800 },
];

const rigsOf = (now: () => number, some: readonly Making[] = makings) =>
  some.map((making, index) => new PureRig(index + 1, making, rules, now));
const followers = (rigs: readonly PureRig[]): Follower[] => rigs.map((rig) => rig.follower());
const steady = (watts: number) => ({ now: watts, steady: watts });

describe("the share of a surplus", () => {
  test("goes to the rigs in their order, each the highest of its settings that is covered", () => {
    const rigs = followers(rigsOf(stoppedClock().now));
    expect(share(rigs, steady(3100))).toEqual([{ id: 1, watts: 3072 }]);
    expect(share(rigs, steady(4800))).toEqual([
      { id: 1, watts: 3200 },
      { id: 2, watts: 1600 },
    ]);
    expect(share(rigs, steady(900))).toEqual([{ id: 3, watts: 600 }]);
    expect(share(rigs, steady(700))).toEqual([{ id: 3, watts: 600 }]);
    expect(share(rigs, steady(500))).toEqual([]);
    expect(share(rigs.toReversed(), steady(900))).toEqual([{ id: 4, watts: 800 }]);
  });

  test("leaves no room with more than its maximum", async () => {
    const clock = stoppedClock();
    const rigs = rigsOf(clock.now, [makings[0] ?? { full: 0 }, { full: 800 }, { full: 800 }]);
    const room = { key: "den", watts: 2000 };
    const inRoom = () => followers(rigs).map((rig) => (rig.id === 2 ? rig : { ...rig, room }));
    expect(share(inRoom(), steady(9000))).toEqual([
      { id: 1, watts: 1984 },
      { id: 2, watts: 800 },
    ]);
    for (const { id } of rigs) await rigs[id - 1]?.take({ id, watts: 800 });
    clock.pass(3600);
    const lower = inRoom().map((rig) => ({ ...rig, ...(rig.id === 2 ? {} : { room: { key: "den", watts: 1000 } }) }));
    expect(share(lower, steady(9000))).toEqual([
      { id: 1, watts: 992 },
      { id: 3, watts: 0 },
    ]);
  });

  test("goes up only to what there was all the time, and down at once", async () => {
    const clock = stoppedClock();
    const rigs = rigsOf(clock.now, [{ full: 1000, throttle: { min: 20 } }]);
    expect(share(followers(rigs), { now: 900, steady: 600 })).toEqual([{ id: 1, watts: 600 }]);
    await rigs[0]?.take({ id: 1, watts: 600 });
    clock.pass(10);
    expect(share(followers(rigs), { now: 900, steady: 600 })).toEqual([]);
    expect(share(followers(rigs), { now: 450, steady: 450 })).toEqual([{ id: 1, watts: 450 }]);
    expect(share(followers(rigs), { now: 100, steady: 100 })).toEqual([]);
    clock.pass(300);
    expect(share(followers(rigs), { now: 100, steady: 100 })).toEqual([{ id: 1, watts: 0 }]);
    expect(stopFollowing(followers(rigs))).toEqual([{ id: 1, watts: 0 }]);
  });

  test("does not give the draw of a rig that may not be changed to the others", async () => {
    const clock = stoppedClock();
    const rigs = rigsOf(clock.now, [{ full: 1000 }, { full: 500 }]);
    await rigs[1]?.take({ id: 2, watts: 500 });
    clock.pass(60);
    // The second would have to make room for the first, and has not mined for long enough.
    expect(share(followers(rigs), steady(1200))).toEqual([]);
    expect(share(followers(rigs), steady(1600))).toEqual([{ id: 1, watts: 1000 }]);
    const held = followers(rigs).map((rig) => ({ ...rig, free: false }));
    expect(share(held, steady(5000))).toEqual([]);
  });

  const shares = fc.record({
    now: fc.integer({ min: -2000, max: 12_000 }),
    steady: fc.integer({ min: -2000, max: 12_000 }),
  });

  test("never exceeds what is available, and switches no rig too often", async () => {
    const turns = fc.array(fc.record({ watts: shares, seconds: fc.integer({ min: 1, max: 900 }) }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(turns, async (all) => {
        const clock = stoppedClock();
        const rigs = rigsOf(clock.now);
        for (const { watts, seconds } of all) {
          clock.pass(seconds);
          const before = followers(rigs);
          const demands = share(before, watts);
          for (const demand of demands) await rigs.find(({ id }) => id === demand.id)?.take(demand);
          const presentOf = (id: number) => before.filter((rig) => rig.id === id).reduce((_, rig) => settingOf(rig), 0);
          if (!demands.some(({ id, watts: to }) => to > presentOf(id))) continue;
          const others = before.filter(({ id }) => !demands.some((demand) => demand.id === id));
          const given = demands.reduce((sum, demand) => sum + demand.watts, 0);
          expect(given + others.reduce((sum, rig) => sum + settingOf(rig), 0)).toBeLessThanOrEqual(watts.now + 1e-6);
        }
        for (const rig of rigs) expect(breaches(rig, rules)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test("of all rigs that may be changed is covered at once", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 12_000 }), (watts) => {
        const demands = share(followers(rigsOf(stoppedClock().now)), steady(watts));
        const given = demands.reduce((sum, demand) => sum + demand.watts, 0);
        expect(given).toBeLessThanOrEqual(watts + 1e-6);
        // Nobody who stands could still be served with what is left.
        const left = watts - given;
        const standing = followers(rigsOf(stoppedClock().now)).filter(
          ({ id }) => !demands.some((each) => each.id === id),
        );
        for (const { ladder } of standing) expect(highestWithin(ladder, left)).toBe(0);
      }),
    );
  });
});

describe("changes that wear a rig", () => {
  test("upwards are spread over the hour, and one is kept for going down", () => {
    const now = 10_000_000;
    const ago = (...minutes: number[]) => ({ made: minutes.map((each) => now - each * 60_000), atMost: 6 });
    expect(mayRise(ago(), now)).toBe(true);
    expect(mayRise(ago(13), now)).toBe(true);
    expect(mayRise(ago(11), now)).toBe(false);
    expect(mayRise(ago(59, 50, 40, 30, 20), now)).toBe(false);
    expect(mayRise(ago(61, 59, 50, 40, 30), now)).toBe(true);
    expect(mayRise({ made: [now - 3_500_000], atMost: 1 }, now)).toBe(false);
    expect(mayRise({ made: [now - 3_700_000], atMost: 1 }, now)).toBe(true);
  });
});

describe("what there has been", () => {
  const at = (...pairs: [number, number][]) => pairs.map(([time, watts]) => ({ at: time, watts }));

  test("is the least since, with the value that held then", () => {
    expect(shareOf(at([0, 500], [100, 900]), 60)).toEqual({ now: 900, steady: 500 });
    expect(within(at([0, 100], [50, 500], [100, 900]), 60)).toEqual(at([50, 500], [100, 900]));
  });

  test("is nothing steady while less of it is known", () => {
    expect(shareOf(at([70, 500], [100, 900]), 60)).toEqual({ now: 900, steady: Number.NEGATIVE_INFINITY });
  });
});

/** W left of the roof beside the house, by the minute: a day with clouds from noon on. */
function surplusAt(minute: number): number {
  const hour = minute / 60;
  const sun = Math.max(0, Math.sin(((hour - 6) / 12) * Math.PI)) * 7_500;
  const cloud = hour > 12 && Math.sin(minute / 13) > 0.72 ? 0.35 : 1;
  const house = 350 + (hour > 17 && hour < 20 ? 900 : 0) + (Math.floor(minute / 30) % 7 === 0 ? 400 : 0);
  return sun * cloud - house;
}

/** Wh of a day, by the minute, and what became of the rigs. */
async function dayOfSun(makings: readonly Making[]) {
  const clock = stoppedClock(Date.UTC(2026, 5, 21));
  const rigs = rigsOf(clock.now, makings);
  const day = { drawn: 0, could: 0, imported: 0, rigs };
  let samples: ReturnType<typeof within> = [];
  let toldAt = 0;
  for (let minute = 0; minute < 1440; minute += 1) {
    clock.pass(60);
    const known = followers(rigs);
    const surplus = surplusAt(minute);
    const drawing = known.reduce((sum, { draw }) => sum + draw, 0);
    day.drawn += drawing / 60;
    day.could += coveredBy(known, surplus) / 60;
    // The meter sees what is left beside the rigs.
    const exported = surplus - drawing;
    day.imported += Math.max(0, Math.min(drawing, -exported)) / 60;
    const since = clock.now() - 120_000;
    if (clock.now() >= toldAt + 30_000)
      samples = within([...samples, { at: clock.now(), watts: exported + drawing }], since);
    if (samples.length === 0) continue;
    const demands = share(known, shareOf(samples, since));
    for (const demand of demands) await rigs.find(({ id }) => id === demand.id)?.take(demand);
    if (demands.length > 0) [samples, toldAt] = [[], clock.now()];
  }
  return day;
}

describe("a simulated day of sun", () => {
  test.each([
    ["a throttle, a limit, modes and a rig that can only be stopped", makings],
    ["a throttle", [{ full: 6000, throttle: { min: 20 } }]],
    ["limits", [3200, 3200].map((full) => ({ full, limit: { min: 900, step: 50 } }))],
    ["modes", [3400, 1700].map((full) => ({ full, modes: [full / 2, full] }))],
    ["rigs that can only be stopped", [1500, 1200, 900, 600].map((full) => ({ full }))],
  ])("is followed within 5 % by %s, and no rig is switched oftener than allowed", async (_, some) => {
    const { drawn, could, imported, rigs } = await dayOfSun(some);
    for (const rig of rigs) expect(breaches(rig, rules)).toEqual([]);
    expect(could).toBeGreaterThan(20_000);
    expect(Math.abs(drawn / could - 1)).toBeLessThan(0.05);
    expect(imported / drawn).toBeLessThan(0.05);
  });
});

/** W that the ladders take at most of a surplus, in their order, as if every change were at once and free. */
function coveredBy(rigs: readonly Follower[], surplus: number): number {
  return rigs.reduce(
    ({ left, taken }, { ladder }) => {
      const watts = highestWithin(ladder, left);
      return { left: left - watts, taken: taken + watts };
    },
    { left: surplus, taken: 0 },
  ).taken;
}
