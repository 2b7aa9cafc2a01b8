import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { History } from "../../src/contract/resources.ts";
import { Points, rangeOf } from "../../src/service/history/history.ts";
import type { PlainStatement, Statement } from "../../src/store/database.ts";
import { noReserve } from "../../src/store/disk-reserve.ts";
import type { Sample } from "../../src/store/index.ts";
import { openSamples } from "../../src/store/samples.ts";
import { SqliteConnection } from "../../src/store/sqlite-connection.ts";
import { openStore } from "../any-store.ts";
import { stoppedClock } from "../clock.ts";
import { problem, refusal } from "../errors.ts";
import { folders } from "../store/folder.ts";
import { testOfFile } from "../test-of-file.ts";
import { caller, closeBenches, openBench } from "./bench.ts";
import { axeos, closeAll, withOne } from "./command-bench.ts";

afterEach(closeBenches);

const folder = folders();
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const now = 20_000 * day + 7 * hour + 1_234;

const at = (time: number, changes: Partial<Sample> = {}): Sample => ({
  minerId: 1_000_000_001,
  time,
  hashrate: 1e12,
  power: 15,
  temperature: null,
  energy: 100,
  ...changes,
});

/** A service with one miner that is hardly ever read, at a time of its own. */
async function openHistory(time = now) {
  const bench = await openBench({ clock: stoppedClock(time).now });
  const { id } = await bench.service.addMiner({ address: "127.0.0.1:9" }, caller);
  return { ...bench, id, ask: (asked: object) => bench.service.getHistory({ id, ...asked }, caller) };
}

test("samples that the store refuses keep back nothing else that waits to be written", async () => {
  const store = await openStore({ file: ":memory:", now: Date.now });
  let flushes = 0;
  const append = () => Promise.reject(new Error("refused"));
  const refusing = { ...store, samples: { ...store.samples, append } };
  const flush = () => {
    flushes += 1;
    return store.flush();
  };
  await withOne(axeos, { store: { ...refusing, flush } });
  await closeAll();
  expect(flushes).toBeGreaterThan(0);
});

describe("the range", () => {
  test.each([
    [hour, 10],
    [day, 120],
    [7 * day, 900],
    [30 * day, 7_200],
    [730 * day, 172_800],
    [3 * minute, 1],
    [1, 1],
  ])("of %i ms has round steps of %i s", (span, step) => {
    const range = rangeOf({ from: now - span, to: now }, now);
    expect([range.step / 1000, range.mistakes]).toEqual([step, []]);
  });

  test("is the last 24 hours by default, and covers whole steps", () => {
    const { from, to, step } = rangeOf({}, now);
    expect([from % step, to % step]).toEqual([0, 0]);
    expect([now - from - day, to - now]).toEqual([expect.closeTo(0, -6), expect.closeTo(0, -6)]);
    expect(from).toBeLessThanOrEqual(now - day + 1);
    expect(to).toBeGreaterThan(now);
  });

  test("of raw readings is exactly the requested one", () => {
    expect(rangeOf({ from: 5, to: 17, step: 0 }, now)).toEqual({ from: 5, to: 17, step: 0, mistakes: [] });
  });

  test.each<[string, object, string[]]>([
    ["ends before it begins", { from: now, to: now - 1 }, ["from"]],
    ["is empty", { from: now, to: now }, ["from"]],
    ["makes too many points", { from: now - day, to: now, step: 5 }, ["step"]],
    ["has steps of more than ten years", { from: now - 1000, to: now, step: 1e308 }, ["step"]],
    ["has steps of less than a millisecond", { from: now - 1000, to: now, step: 0.0001 }, ["step"]],
    ["has two mistakes", { from: now, to: now - day, step: 0.0001 }, ["from", "step"]],
  ])("is refused when it %s", async (_, asked, paths) => {
    const { ask } = await openHistory();
    expect(await refusal(ask(asked))).toBe(`input.invalid ${paths.join(" ")}`);
  });
});

describe("history", () => {
  test("has a point for each step with readings: means of what is known, and the first counter", async () => {
    const { store, ask } = await openHistory();
    const start = Math.floor(now / hour) * hour - 2 * hour;
    await store.samples.append([
      at(start, { hashrate: 100, power: null, temperature: 60, energy: null }),
      at(start + 20_000, { hashrate: 200, power: 20, temperature: null, energy: 7 }),
      at(start + 59_999, { hashrate: null, power: 30, temperature: 62, energy: 8 }),
      at(start + 2 * minute, { hashrate: null, power: null, temperature: null, energy: null }),
    ]);
    const asked = { from: start, to: start + 3 * minute, step: 60 };
    const history = await ask(asked);
    expect(History.parse(history)).toEqual({
      step: 60,
      points: [
        [start, 150, 25, 61, 7],
        [start + 2 * minute, null, null, null, null],
      ],
    });
    expect((await ask({ ...asked, step: 0 })).points).toHaveLength(4);
    expect((await ask({ ...asked, from: start + 30_000 })).points[0]).toEqual([start, 150, 25, 61, 7]);
  });

  test("is the same as a plain calculation, over what is folded, packed and fresh", async () => {
    const figure = fc.option(fc.integer({ min: 0, max: 1_000 }).map((tenths) => tenths / 8));
    const start = Math.floor((now - 4 * day) / day) * day;
    const samples = fc.uniqueArray(
      fc.record({
        time: fc.integer({ min: start, max: now - 1 }),
        hashrate: figure,
        power: figure,
        temperature: figure,
        energy: fc.option(fc.integer({ min: 0, max: 9_999 })),
      }),
      { selector: ({ time }) => time, minLength: 1, maxLength: 150 },
    );
    const step = fc.constantFrom(600, 1_800, 3_600, 7_200, 43_200, 86_400);
    const bound = fc.integer({ min: start, max: now });
    const { store, id, ask } = await openHistory();
    await fc.assert(
      fc.asyncProperty(samples, step, bound, bound, async (rows, seconds, one, other) => {
        await store.samples.forget(id);
        await store.samples.append(rows.map((row) => at(row.time, row)));
        while (await store.samples.pack(now));
        while (await store.samples.prune(now, { raw: 2, hourly: 730 }));
        const ms = seconds * 1000;
        const [from, to] = [Math.min(one, other), Math.max(one, other) + 1];
        const whole = [Math.floor(from / ms) * ms, Math.ceil(to / ms) * ms] as const;
        const folded = (time: number) => (Math.floor(time / day) + 1) * day <= now - 2 * day;
        const kept = [
          ...plain(
            rows.filter(({ time }) => folded(time)),
            hour,
          ),
          ...rows.filter(({ time }) => !folded(time)),
        ];
        const expected = plain(
          kept.filter(({ time }) => time >= whole[0] && time < whole[1]),
          ms,
        );
        const { points } = await ask({ from, to, step: seconds });
        expect(points).toHaveLength(expected.length);
        points.forEach(([time, ...figures], index) => {
          const { hashrate, power, temperature, energy } = expected[index] ?? expected[0] ?? at(0);
          expect(time).toBe(expected[index]?.time);
          [hashrate, power, temperature, energy].forEach((want, nth) => {
            const got = figures[nth];
            if (want === null || typeof got !== "number") expect(got).toBe(want);
            else expect(Math.abs(got - want)).toBeLessThanOrEqual(Math.abs(want) * 1e-6);
          });
        });
      }),
      { numRuns: 60 },
    );
  });

  test("has no more readings in one answer than can be looked at", async () => {
    const { store, ask } = await openHistory();
    const start = Math.floor(now / day) * day - day;
    await store.samples.append(Array.from({ length: 200_001 }, (_, index) => at(start + index * 400)));
    const asked = { from: start, to: start + day, step: 0 };
    expect((await problem(ask(asked))).message).toContain("about 200001 readings");
    while (await store.samples.pack(now));
    expect(await refusal(ask({ ...asked, step: 60 }))).toBe("input.invalid from");
    const half = { ...asked, to: start + day / 2 };
    expect((await ask({ ...half, step: 60 })).points).toHaveLength(720);
    expect((await problem(ask(half))).errors).toEqual([
      { path: "step", message: "gives about 108000 points, one for each reading; at most 10000 are returned" },
    ]);
    expect((await ask({ ...asked, to: start + hour })).points).toHaveLength(9_000);
  });

  test("does not move when its hour is packed", async () => {
    const { store, ask } = await openHistory();
    const start = Math.floor(now / hour) * hour - 3 * hour;
    await store.samples.append([
      at(start, { hashrate: 1.23456789e12, power: 15.2, temperature: 61.7, energy: 1234.5678901 }),
    ]);
    const asked = { from: start, to: now, step: 0 };
    const before = await ask(asked);
    while (await store.samples.pack(now));
    expect(await ask(asked)).toEqual(before);
    expect(before.points).toEqual([[start, 1.234568e12, 15.2, 61.7, 1234.5678901]]);
  });

  test("is of the miners that one sees, with what was read just now, also of a demo miner", async () => {
    const clock = stoppedClock(now);
    const demo = await openBench({ rigs: [{ kind: "axeos", warm: true }], clock: clock.now });
    const bench = await openBench({
      clock: clock.now,
      demo: [{ address: demo.rig(0).address, name: "demo" }],
      rigs: [{ kind: "axeos", warm: true }],
    });
    const id = await bench.add(bench.rig(0).address);
    // The demo has left; started beside a real miner it stays.
    await bench.restart();
    const [miners, raw] = [[id, 1_900_000_001], { step: 0, from: now - hour }];
    for (const miner of miners) {
      await bench.poll(miner);
      const { readings } = await bench.get(miner);
      const { points } = await bench.service.getHistory({ id: miner, ...raw }, caller);
      expect(points.at(-1)?.slice(0, 3)).toEqual([now, expect.closeTo(readings.hashrate ?? 0, -8), expect.anything()]);
    }
    const groups = [(await bench.service.addGroup({ name: "empty", parentId: 0 }, caller)).id];
    const user = await bench.store.users.add({ name: "u", privilege: "view", groups, pools: null, keyHash: null });
    const asUser = { actor: "test", userId: user.id };
    for (const miner of miners)
      expect(await refusal(bench.service.getHistory({ id: miner }, asUser))).toBe("not.found");
    expect(await refusal(bench.service.getHistory({ id: 5 }, caller))).toBe("not.found");
    await bench.service.deleteMiner({ id }, caller);
    expect(await bench.store.samples.read(id, 0, now + day)).toEqual([]);
  });

  testOfFile("of one miner among many is looked up, and never searched for", async () => {
    const file = join(folder(), "rigbridge.db");
    const store = await openStore({ file, now: () => now });
    const miners = 20;
    const start = Math.floor(now / day) * day - 4 * day;
    for (let time = start; time < now; time += 20 * minute)
      await store.samples.append(Array.from({ length: miners }, (_, index) => at(time, { minerId: index + 1 })));
    while (await store.samples.pack(now - 2 * hour));
    while (await store.samples.prune(now, { raw: 2, hourly: 730 }));
    const read = await store.samples.read(7, start, now);
    expect([read[0]?.minerId, read.length]).toEqual([7, await store.samples.count(7, start, now)]);
    await store.close();

    const statements: PlainStatement[] = [];
    class Watched extends SqliteConnection {
      override rows(statement: PlainStatement) {
        statements.push(statement);
        return super.rows(statement);
      }
      override free(given: readonly Statement[]) {
        for (const each of given) if ("text" in each) statements.push(each);
        return super.free(given);
      }
    }
    const connection = new Watched(file, { durability: "normal", busyTimeoutMs: 100, reserve: noReserve });
    const samples = openSamples(connection);
    await samples.read(7, start, now);
    await samples.count(7, start, now);
    await samples.forget(7);
    expect(statements).toHaveLength(9);
    for (const { text, values } of statements) {
      const [, table] = /from (sample\w*) where/.exec(text) ?? [];
      const plan = connection.prepare(`explain query plan ${text}`).all(...values);
      const details = plan.map(({ detail }) => String(detail));
      expect(details.filter((detail) => /^SCAN sample/.test(detail))).toEqual([]);
      expect(details).toContainEqual(expect.stringMatching(new RegExp(`^SEARCH ${table} .*miner_id=\\?`)));
    }
    connection.close();
  });
});

test("points of no samples are none", () => {
  expect([new Points(0).all(), new Points(60_000).all()]).toEqual([[], []]);
});

/** Means of steps, calculated the plain way. */
function plain(rows: readonly Omit<Sample, "minerId">[], step: number): Omit<Sample, "minerId">[] {
  const steps = [...new Set(rows.map(({ time }) => Math.floor(time / step)))].sort((a, b) => a - b);
  return steps.map((each) => {
    const inside = rows.filter(({ time }) => Math.floor(time / step) === each).sort((a, b) => a.time - b.time);
    const average = (key: "hashrate" | "power" | "temperature"): number | null => {
      const known = inside.flatMap((row) => row[key] ?? []);
      return known.length === 0 ? null : known.reduce((sum, figure) => sum + figure, 0) / known.length;
    };
    return {
      time: each * step,
      hashrate: average("hashrate"),
      power: average("power"),
      temperature: average("temperature"),
      energy: inside.find(({ energy }) => energy !== null)?.energy ?? null,
    };
  });
}
