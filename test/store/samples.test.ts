import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Sample, Store } from "../../src/store/store.ts";
import { openStore } from "../any-store.ts";
import { testOfFile } from "../test-of-file.ts";
import { folders } from "./folder.ts";

const folder = folders();
const hour = 3_600_000;
const day = 24 * hour;
const start = 20_000 * day;
const end = start + 1_000 * day;
const open = () => openStore({ file: ":memory:", now: () => start });
const at = (time: number, changes: Partial<Sample> = {}): Sample => ({
  minerId: 1,
  time,
  hashrate: 1e9,
  power: 15,
  temperature: null,
  energy: 100,
  ...changes,
});
const packAll = async (store: Store, now: number) => {
  while (await store.samples.pack(now));
};
const keep = { raw: 2, hourly: 730 };
const pruneAll = async (store: Store, now: number) => {
  while (await store.samples.prune(now, keep));
};

describe("samples", () => {
  test("read the same before and after packing, whatever their times and miners", async () => {
    const figure = fc.option(fc.float({ noNaN: true, noDefaultInfinity: true }));
    const samples = fc.uniqueArray(
      fc.record({
        minerId: fc.integer({ min: 1, max: 9 }),
        time: fc.integer({ min: start, max: start + 30 * hour }),
        hashrate: figure,
        power: figure,
        temperature: figure,
        energy: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
      }),
      { selector: ({ minerId, time }) => `${minerId} ${time}`, maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(samples, fc.nat(60), fc.integer({ min: 0, max: 30 }), async (rows, cut, hours) => {
        const store = await open();
        await store.samples.append(rows.slice(0, cut));
        await packAll(store, start + hours * hour);
        await store.samples.append(rows.slice(cut));
        const expected = (minerId: number, from: number, to: number) =>
          rows
            .filter((row) => row.minerId === minerId && row.time >= from && row.time < to)
            .sort((a, b) => a.time - b.time);
        for (const now of [0, start + 20 * hour, end]) {
          await packAll(store, now);
          for (const minerId of [1, 5, 9]) {
            const [from, to] = [start + 3 * hour, start + 17 * hour + 1234];
            expect(normal(await store.samples.read(minerId, from, to))).toEqual(normal(expected(minerId, from, to)));
            expect(normal(await store.samples.read(minerId, 0, end))).toEqual(normal(expected(minerId, 0, end)));
          }
        }
        await store.close();
      }),
      { numRuns: 40 },
    );
  });

  testOfFile("leave the raw table after their hour, in bounded steps", async () => {
    const file = join(folder(), "rigbridge.db");
    const store = await openStore({ file, now: () => start });
    await store.samples.append(Array.from({ length: 10 }, (_, index) => at(start + index, { minerId: index + 1 })));
    await store.samples.append([at(start + hour + 5)]);
    expect(await store.samples.pack(start + hour)).toBe(false);
    expect(await store.samples.pack(start + hour + 300_000)).toBe(true);
    const raw = new DatabaseSync(file);
    const rows = () => raw.prepare("select count(*) as rows from sample").get()?.rows;
    expect(rows()).toBe(7);
    await packAll(store, start + hour + 300_000);
    expect(rows()).toBe(1);
    expect(raw.prepare("select count(*) as rows from sample_hour").get()).toMatchObject({ rows: 10 });
    raw.close();
    await store.close();
  });

  test("older than the raw days become hourly means, and then go", async () => {
    const store = await open();
    await store.samples.append([
      at(start, { hashrate: 100, power: null, energy: null }),
      at(start + 10_000, { hashrate: 300, power: 20, energy: 50 }),
      at(start + hour, { hashrate: 7, power: null, energy: 60 }),
      at(start + 3 * day, { hashrate: 9 }),
    ]);
    await packAll(store, end);
    await pruneAll(store, start + 3 * day - 1);
    expect(await store.samples.read(1, 0, end)).toHaveLength(4);
    await pruneAll(store, start + 3 * day);
    expect(await store.samples.read(1, 0, end)).toEqual([
      at(start, { hashrate: 200, power: 20, energy: 50 }),
      at(start + hour, { hashrate: 7, power: null, energy: 60 }),
      at(start + 3 * day, { hashrate: 9 }),
    ]);
    await store.close();
  });

  test("on the newest days on record are kept, whatever the clock says, and older ones are dropped", async () => {
    const store = await open();
    const days = Array.from({ length: 6 }, (_, index) => start + index * day);
    await store.samples.append(days.map((time) => at(time)));
    const inTenYears = start + 3_650 * day;
    await store.samples.append([at(inTenYears)]);
    await packAll(store, inTenYears + day);
    while (await store.samples.prune(inTenYears + 40 * day, { raw: 2, hourly: 5 }));
    expect((await store.samples.read(1, 0, inTenYears + 1)).map(({ time }) => time)).toEqual([
      ...days.slice(2),
      inTenYears,
    ]);
    while (await store.samples.prune(start + 6 * day, { raw: 2, hourly: 5 }));
    expect(await store.samples.read(1, 0, end)).toHaveLength(4);
    await store.close();
  });

  test("can arrive late in a packed hour and a folded day", async () => {
    const store = await open();
    await store.samples.append([at(start + 5)]);
    await packAll(store, start + 2 * hour);
    await store.samples.append([at(start + 1), at(start + 5, { hashrate: 8 })]);
    await packAll(store, start + 2 * hour);
    expect((await store.samples.read(1, 0, end)).map(({ time, hashrate }) => [time - start, hashrate])).toEqual([
      [1, 1e9],
      [5, 8],
    ]);
    await pruneAll(store, start + 4 * day);
    await store.samples.append([at(start + hour)]);
    await packAll(store, end);
    await pruneAll(store, start + 4 * day);
    expect((await store.samples.read(1, 0, end)).map(({ time }) => time - start)).toEqual([0, hour]);
    await store.close();
  });

  test("of a deleted miner are deleted at every age, and others are kept", async () => {
    const store = await open();
    for (const minerId of [1, 2]) {
      await store.samples.append([at(start, { minerId })]);
      await packAll(store, end);
      await pruneAll(store, start + 4 * day);
      await store.samples.append([at(start + 4 * day, { minerId })]);
      await packAll(store, end);
      await store.samples.append([at(start + 5 * day, { minerId })]);
    }
    await store.samples.forget(1);
    expect(await store.samples.read(1, 0, end)).toEqual([]);
    expect(await store.samples.read(2, 0, end)).toHaveLength(3);
    await store.close();
  });

  testOfFile("are kept while another program locks the file, can be read, and are written with the next", async () => {
    const file = join(folder(), "rigbridge.db");
    let store = await openStore({ file, now: () => start });
    const raw = new DatabaseSync(file);
    raw.exec("begin immediate");
    await store.samples.append([at(start)]);
    expect(await store.samples.read(1, 0, end)).toEqual([at(start)]);
    raw.exec("rollback");
    raw.close();
    await store.samples.append([at(start + 1)]);
    await store.close();
    store = await openStore({ file, now: () => start });
    expect(await store.samples.read(1, 0, end)).toEqual([at(start), at(start + 1)]);
    await store.close();
  });
});

/** -0 and 0 are the same figure. */
const normal = (samples: readonly Sample[]) =>
  samples.map(({ hashrate, power, temperature, energy, ...rest }) => ({
    ...rest,
    figures: [hashrate, power, temperature, energy].map((each) => (each === 0 ? 0 : each)),
  }));
