import { afterEach, describe, expect, test } from "@jest/globals";
import { csvOf, summaryHistoryTable } from "../../src/contract/csv.ts";
import { SummaryHistory } from "../../src/contract/resources.ts";
import type { Caller } from "../../src/contract/service.ts";
import type { FarmSample } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { stoppedClock } from "../clock.ts";
import { problem, refusal } from "../errors.ts";
import { caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = 20_000 * day;

/** Two halls with an ASIC each, and a processor in the second; recorded when a test says so. */
async function openFarm() {
  const clock = stoppedClock(start);
  let record = async (): Promise<void> => undefined;
  const bench = await openBench({
    clock: clock.now,
    rigs: [
      { kind: "axeos", warm: true },
      { kind: "axeos", warm: true },
      { kind: "xmrig", warm: true },
    ],
    historyTurns: (work) => {
      record = work;
      return () => undefined;
    },
    config: { electricity: { price: 0.25 }, groups: [{ name: "East" }, { name: "West", groups: [{ name: "Shelf" }] }] },
  });
  const groups = await bench.service.listGroups({}, caller);
  const group = (name: string): number => groups.find((each) => each.name === name)?.id ?? 0;
  const ids = [
    await bench.add(bench.rig(0).address, { group: "East" }),
    await bench.add(bench.rig(1).address, { group: "West" }),
    await bench.add(bench.rig(2).address, { group: "Shelf" }),
  ];
  const pass = async (minutes: number) => {
    for (let each = 0; each < minutes; each += 1) {
      clock.pass(60);
      await record();
    }
  };
  const ask = async (asked: object = {}, who: Caller = caller) =>
    SummaryHistory.parse(await bench.service.getSummaryHistory({ from: start, step: 0, ...asked }, who));
  return { bench, clock, ids, group, pass, ask, record: () => record() };
}

describe("the history of the farm", () => {
  test("has the sums of every minute, by group, and the hash rate of one algorithm at a time", async () => {
    const { bench, ids, group, pass, ask } = await openFarm();
    await pass(2);
    const miners = await Promise.all(ids.map((id) => bench.get(id)));
    const readings = miners.map((miner) => miner.readings);
    const sum = (some: readonly (number | null)[]) => some.reduce<number>((total, each) => total + (each ?? 0), 0);
    const power = sum(readings.map((each) => each.power));
    const asics = sum(readings.slice(0, 2).map((each) => each.hashrate));
    const cost = sum(miners.map(({ money }) => money.costPerDay));
    const all = await ask();
    expect(all).toMatchObject({ step: 0, algorithm: "sha256", currency: "USD" });
    expect(all.algorithms).toEqual(["sha256", "randomx"]);
    const near = (figure: number) => expect.closeTo(figure, -Math.log10(figure) + 5);
    const point = (time: number) => [time, near(asics), near(power), 3, 3, null, near(cost), null];
    expect(all.points).toEqual([point(start + minute), point(start + 2 * minute)]);
    expect(await ask({ algorithm: "RandomX" })).toMatchObject({ algorithm: "randomx" });
    const equal = await ask({ group: "West" });
    expect(equal).toMatchObject({ algorithm: "sha256", algorithms: ["sha256", "randomx"] });
    const processor = await ask({ algorithm: "randomx", group: "West" });
    expect(processor.points[0]?.slice(1, 5)).toEqual([near(readings[2]?.hashrate ?? 0), expect.any(Number), 2, 2]);
    expect((await ask({ group: group("East") })).points[0]?.slice(3, 5)).toEqual([1, 1]);
    expect((await ask({ group: 0 })).points).toEqual([]);
    expect(await refusal(ask({ group: "North" }))).toBe("input.invalid group");
    expect(csvOf(summaryHistoryTable(all)).split("\r\n")).toEqual([
      "time,hashrate,power,mining,total,revenue,cost,profit,algorithm,currency",
      expect.stringMatching(/^2024-10-04T00:01:00.000Z,\d+,[\d.]+,3,3,,[\d.]+,,sha256,USD$/),
      expect.stringMatching(/^2024-10-04T00:02:00.000Z,/),
      "",
    ]);
  });

  test("shows what stops as stopped, a gap as a gap, and outlives a restart", async () => {
    const { bench, clock, ids, pass, ask, record } = await openFarm();
    await pass(2);
    await bench.act(ids[0] ?? 0, { action: "stop" });
    await pass(1);
    clock.pass(3600);
    for (const rig of bench.farm.rigs) rig.fault = { name: "delay", ms: 3_000 };
    await bench.restart();
    // Rigs that were not read yet in this run are not recorded as stopped.
    await record();
    for (const rig of bench.farm.rigs) rig.fault = null;
    for (const id of ids) await bench.poll(id);
    await pass(2);
    const { points } = await ask();
    const at = (minutes: number) => start + minutes * minute;
    expect(points.map(([time, , , mining, total]) => [time, mining, total])).toEqual([
      [at(1), 3, 3],
      [at(2), 3, 3],
      [at(3), 2, 3],
      [at(4), null, null],
      [at(64), 2, 3],
      [at(65), 2, 3],
    ]);
    expect(points[3]).toEqual([at(4), null, null, null, null, null, null, null]);
    const means = (await ask({ step: 600 })).points;
    expect(means.map(([time, , , mining]) => [(time - start) / minute, mining])).toEqual([
      [0, expect.closeTo(8 / 3)],
      [10, null],
      [60, 2],
    ]);
  });

  test("is of the miners that a user sees", async () => {
    const { bench, group, pass, ask } = await openFarm();
    const { id } = await bench.service.saveUser(
      { id: 0, name: "anna", privilege: "view", groups: [group("West")] },
      caller,
    );
    const anna = { actor: "anna", userId: id };
    await pass(1);
    expect((await ask({}, anna)).points.map((point) => point.slice(3, 5))).toEqual([[2, 2]]);
    expect((await ask({ group: "Shelf" }, anna)).points.map((point) => point.slice(3, 5))).toEqual([[1, 1]]);
    expect(await refusal(ask({ group: group("East") }, anna))).toBe("input.invalid group");
    expect((await ask({ group: 0 }, anna)).points).toEqual([]);
  });

  test("of demo miners ends with the process, and is theirs together with the others'", async () => {
    const clock = stoppedClock(start);
    const demo = await openBench({ rigs: [{ kind: "axeos", warm: true }], clock: clock.now });
    let record = async (): Promise<void> => undefined;
    const bench = await openBench({
      clock: clock.now,
      rigs: [{ kind: "axeos", warm: true }],
      historyTurns: (work) => {
        record = work;
        return () => undefined;
      },
      demo: [{ address: demo.rig(0).address, name: "demo" }],
    });
    const totals = async () =>
      (await bench.service.getSummaryHistory({ from: start, step: 0 }, caller)).points.map((point) => point[4]);
    await bench.poll(1_900_000_001);
    clock.pass(60);
    await record();
    expect(await totals()).toEqual([1]);
    await bench.restart();
    expect(await totals()).toEqual([]);
    await bench.poll(1_900_000_001);
    clock.pass(60);
    await record();
    expect(await totals()).toEqual([1]);
    // The demo leaves, and nothing of it is shown as the farm's.
    await bench.add(bench.rig(0).address);
    expect(await totals()).toEqual([]);
    clock.pass(60);
    await record();
    expect(await totals()).toEqual([1]);
  });

  test("is asked for in bounds, with every mistake at once", async () => {
    const { ask } = await openFarm();
    expect((await ask({ from: start, to: start + hour, step: undefined })).step).toBe(60);
    expect((await ask({ from: start - 30 * day, to: start, step: undefined })).step).toBe(7200);
    expect((await problem(ask({ from: start, to: start - 1, step: 0.0001 }))).errors).toHaveLength(2);
    expect(await refusal(ask({ from: start, to: start + day, step: 5 }))).toBe("input.invalid step");
  });
});

describe("stored sums", () => {
  const sample = (time: number, changes: Partial<FarmSample> = {}): FarmSample => ({
    groupId: -1,
    time,
    power: 100,
    mining: 1,
    total: 2,
    revenue: 3,
    cost: 1,
    profit: 2,
    ...changes,
  });

  test("become hourly means after the days of raw history, and are dropped after those of the means", async () => {
    const store = await openStore({ file: ":memory:", now: () => start });
    const { farmSamples } = store;
    for (let each = 0; each < 90; each += 1) {
      const time = start + each * minute;
      await farmSamples.append({
        currency: "EUR",
        samples: [sample(time, { power: each < 30 ? null : each, mining: each % 2 }), sample(time, { groupId: 7 })],
        hashrates: each < 30 ? [{ groupId: -1, time, algorithm: "sha256", hashrate: 60, miners: 1 }] : [],
      });
    }
    const keep = { raw: 2, hourly: 10 };
    const read = (groupId = -1, currency = "EUR") =>
      farmSamples.read({ groups: [groupId], from: start, to: start + day, step: 0, currency, algorithm: "sha256" });
    await farmSamples.prune(start + 2 * day, keep);
    expect(await read()).toHaveLength(90);
    await farmSamples.prune(start + 2 * day + hour, keep);
    expect([(await read()).length, (await read(7)).length]).toEqual([31, 31]);
    const { groupId: _, ...means } = sample(start, { power: 44.5, mining: 0.5 });
    expect((await read())[0]).toEqual({ ...means, hashrate: 30, ends: start + hour, missing: start + 2.5 * hour });
    const range = { groups: [-1], from: start, to: start + day };
    expect([...(await farmSamples.algorithms(range))]).toEqual([["sha256", 0.5]]);
    expect((await read(-1, "USD"))[0]).toMatchObject({ power: 44.5, revenue: null, profit: null });
    // A clock that is ten years ahead drops nothing that is among the newest.
    await farmSamples.prune(start + 3650 * day, keep);
    await farmSamples.prune(start + 3650 * day, { raw: 2, hourly: 1 / 24 });
    expect((await read()).map(({ time }) => time)).toEqual([start + hour]);
    await farmSamples.forget(7);
    expect([(await read(7)).length, (await read()).length]).toEqual([0, 1]);
    await store.close();
  });
});
