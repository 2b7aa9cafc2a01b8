import { describe, expect, test } from "@jest/globals";
import { weeklyWindows } from "../../../src/service/automation/rules/windows.ts";
import { openRuleBench, RecordedRuns, settled, twoClocks } from "./rule-bench.ts";

const night = {
  key: "night",
  weekly: { days: ["mon-fri"], from: "22:00", to: "06:00", timeZone: "Europe/Berlin" },
  do: [{ set: "power_target", value: "100%" }],
  onEnd: [{ set: "power_target", value: "30%" }],
};
const told = ["night: 1: set power_target", "night: 1: set power_target"];
/** Changes the first schedule, as PATCH does. */
async function define({ store, automation }: Awaited<ReturnType<typeof openRuleBench>>, definition: object) {
  await store.schedules.change(1, { definition: { ...definition } });
  automation.reload();
}
const utc = (text: string) => Date.parse(`${text}:00Z`);

describe("a schedule", () => {
  test("begins and ends by its time zone, on its days", async () => {
    // Sunday.
    const clocks = twoClocks(utc("2026-03-01T12:00"));
    const bench = await openRuleBench({ schedules: [night], clocks });
    await bench.pass(86_400, 60);
    expect(bench.runs.requests).toHaveLength(0);
    await bench.pass(6 * 86_400, 60);
    const values = bench.runs.requests.map(({ steps }) => Reflect.get(steps[0] ?? {}, "value"));
    expect(values).toEqual(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? "100%" : "30%")));
    expect(new Set(bench.runs.requests.map(({ occurrence }) => occurrence)).size).toBe(10);
  });

  test("is as long as the night on days of 23 and 25 hours", () => {
    const hours = (at: string) => {
      const span = weeklyWindows({ from: "22:00", to: "06:00", timeZone: "Europe/Berlin" }, undefined).last(utc(at));
      return ((span?.end ?? 0) - (span?.start ?? 0)) / 3_600_000;
    };
    expect([hours("2026-03-28T23:00"), hours("2026-10-24T23:00"), hours("2026-06-10T23:00")]).toEqual([7, 9, 8]);
    // 02:30 does not exist on one day, and comes twice on another: it begins once on each.
    const half = weeklyWindows({ from: "02:30", to: "04:00", timeZone: "Europe/Berlin" }, undefined);
    expect([half.next(utc("2026-03-28T22:00"))?.start, half.next(utc("2026-10-24T22:00"))?.start]).toEqual([
      utc("2026-03-29T01:00"),
      utc("2026-10-25T00:30"),
    ]);
    expect(half.next(utc("2026-10-25T00:30"))?.start).toBe(utc("2026-10-26T01:30"));
    // Days across the end of the week.
    const weekend = weeklyWindows({ days: ["fri-mon"], from: "00:00", to: "00:00" }, "UTC");
    expect(weekend.next(utc("2026-03-03T12:00"))).toEqual({
      start: utc("2026-03-06T00:00"),
      end: utc("2026-03-07T00:00"),
    });
  });

  test("whose beginning was missed runs once if its end is still to come", async () => {
    const clocks = twoClocks(utc("2026-03-02T12:00"));
    const runs = new RecordedRuns();
    const first = await openRuleBench({ schedules: [night], clocks, runs });
    await first.pass(60);
    await first.close();
    clocks.pass(14 * 3_600_000);
    for (let start = 0; start < 2; start += 1) {
      const again = await openRuleBench({ schedules: [night], clocks, runs, store: first.store });
      await again.pass(60);
      await again.close();
    }
    expect(runs.told).toEqual(told.slice(0, 1));
    const last = await openRuleBench({ schedules: [night], clocks, runs, store: first.store });
    await last.pass(4 * 3_600, 60);
    expect(runs.told).toEqual(told);
  });

  test("that was missed whole says so", async () => {
    const clocks = twoClocks(utc("2026-03-02T12:00"));
    const first = await openRuleBench({
      schedules: [night, { key: "at-three", cron: "0 3 * * *", do: night.do }],
      clocks,
    });
    await first.pass(60);
    await first.close();
    clocks.pass(24 * 3_600_000);
    const second = await openRuleBench({
      schedules: [night, { key: "at-three", cron: "0 3 * * *", do: night.do }],
      clocks,
      store: first.store,
    });
    await second.pass(60);
    expect(second.runs.told).toEqual([]);
    expect([await second.scheduleTraces(1), await second.scheduleTraces(2)]).toEqual([
      ["missed: the service was not running when it began"],
      ["missed: the service was not running when it began"],
    ]);
    await second.pass(24 * 3_600, 60);
    expect(second.runs.told.filter((each) => each.startsWith("at-three"))).toHaveLength(1);
  });

  test("follows the price, keeps on while it is unknown, and shows what is to come", async () => {
    const clocks = twoClocks(utc("2026-03-02T00:00"));
    // Cheap from 02:00 to 05:00, unknown from 03:00 to 04:00.
    const price = (at: number) => {
      const hour = new Date(at).getUTCHours();
      return hour === 3 && at < utc("2026-03-02T12:00") ? null : hour >= 2 && hour < 5 ? -0.01 : 0.2;
    };
    const bench = await openRuleBench({
      schedules: [{ key: "cheap", price: { below: 0.08 }, do: [{ action: "start" }], onEnd: [{ action: "stop" }] }],
      clocks,
      price,
    });
    await bench.pass(4.5 * 3_600, 60);
    expect(bench.runs.told).toEqual(["cheap: 1: action start"]);
    await bench.pass(3_600, 60);
    expect(bench.runs.told).toEqual(["cheap: 1: action start", "cheap: 1: action stop"]);
    const [cheap] = bench.automation.schedules.all;
    if (cheap === undefined) throw new Error("there is no schedule");
    expect(bench.automation.schedules.upcoming(cheap, utc("2026-03-04T00:00"), 10)).toEqual([
      { start: utc("2026-03-03T02:00"), end: utc("2026-03-03T05:00") },
    ]);
  });

  test("does nothing at miners in maintenance", async () => {
    const clocks = twoClocks(utc("2026-03-02T20:59"));
    const bench = await openRuleBench({
      schedules: [night],
      miners: 3,
      clocks,
      maintenance: [{ name: "new fans", racks: ["r1"], until: "2026-03-03T00:00:00Z" }],
    });
    await bench.pass(120);
    expect(bench.runs.told).toEqual(["night: 3: set power_target"]);
    expect(await bench.scheduleTraces(1)).toEqual(["done: begins; 2 miners are in maintenance"]);
  });

  test("that is disabled while it is active ends at its time, and begins again once it is enabled", async () => {
    const clocks = twoClocks(utc("2026-03-02T20:00"));
    const bench = await openRuleBench({ schedules: [night], clocks });
    await bench.pass(2 * 3_600, 60);
    await define(bench, { ...night, enabled: false });
    // From 23:00 to 05:30 in Berlin.
    await bench.pass(6.5 * 3_600, 60);
    expect(bench.told()).toEqual(["100%"]);
    await bench.pass(3.5 * 3_600, 60);
    expect(bench.told()).toEqual(["100%", "30%"]);
    // Enabled after another night has passed, and in the middle of a third.
    await bench.pass(24 * 3_600, 60);
    await define(bench, night);
    await bench.pass(600, 60);
    await define(bench, { ...night, enabled: false });
    await bench.pass(16 * 3_600, 60);
    expect(bench.told()).toHaveLength(2);
    await define(bench, night);
    await bench.pass(60, 60);
    expect(bench.told()).toEqual(["100%", "30%", "100%"]);
    expect((await bench.scheduleTraces(1)).filter((each) => each.startsWith("missed"))).toEqual([]);
  });

  test("whose times change while it is active ends by the new ones", async () => {
    const clocks = twoClocks(utc("2026-03-02T20:00"));
    const bench = await openRuleBench({ schedules: [night], clocks });
    await bench.pass(2 * 3_600, 60);
    // One hour longer: at 06:00 UTC.
    const longer = { ...night, weekly: { ...night.weekly, to: "07:00" } };
    await define(bench, longer);
    await bench.pass(7.5 * 3_600, 60);
    expect(bench.told()).toEqual(["100%"]);
    await bench.pass(3_600, 60);
    expect(bench.told()).toEqual(["100%", "30%"]);
    await bench.pass(16 * 3_600, 60);
    expect(bench.told()).toEqual(["100%", "30%", "100%"]);
    // Times that do not include this moment end it at once, another time zone too.
    await define(bench, { ...longer, weekly: { ...longer.weekly, timeZone: "Asia/Tokyo", to: "05:00" } });
    await bench.pass(60, 60);
    expect(bench.told()).toEqual(["100%", "30%", "100%", "30%"]);
    expect((await bench.scheduleTraces(1)).filter((each) => each.startsWith("missed"))).toEqual([]);
  });

  test("does not call a time missed that it was given after it", async () => {
    const clocks = twoClocks(utc("2026-03-02T12:00"));
    const bench = await openRuleBench({ schedules: [night], clocks });
    await bench.pass(86_400, 60);
    const morning = { ...night, weekly: { ...night.weekly, from: "08:00", to: "10:00" } };
    await define(bench, morning);
    await bench.pass(60, 60);
    expect((await bench.scheduleTraces(1)).filter((each) => each.startsWith("missed"))).toEqual([]);
    // The same in the file, between two starts.
    await bench.close();
    const noon = { ...night, weekly: { ...night.weekly, from: "10:30", to: "12:30" } };
    const again = await openRuleBench({ schedules: [noon], clocks, store: bench.store, runs: bench.runs });
    await again.pass(60, 60);
    expect((await again.scheduleTraces(1)).filter((each) => each.startsWith("missed"))).toEqual([]);
    expect(again.told()).toEqual(["100%", "30%"]);
  });

  test("that gets another time zone of the service while it is active ends by it", async () => {
    const clocks = twoClocks(utc("2026-03-02T20:00"));
    const { timeZone: _, ...times } = night.weekly;
    const anywhere = { ...night, weekly: times };
    const bench = await openRuleBench({ schedules: [anywhere], clocks, zone: "Europe/Berlin" });
    await bench.pass(2 * 3_600, 60);
    await bench.close();
    const utcBench = await openRuleBench({
      schedules: [anywhere],
      clocks,
      zone: "UTC",
      store: bench.store,
      runs: bench.runs,
    });
    await utcBench.pass(7.5 * 3_600, 60);
    expect(utcBench.told()).toEqual(["100%"]);
    await utcBench.pass(3_600, 60);
    expect(utcBench.told()).toEqual(["100%", "30%"]);
  });

  test("ends and begins by another time zone as soon as the service has it", async () => {
    const { timeZone: _, ...times } = night.weekly;
    const bench = await openRuleBench({
      schedules: [{ ...night, weekly: times }],
      clocks: twoClocks(utc("2026-03-02T20:00")),
      zone: "Europe/Berlin",
    });
    await bench.pass(2 * 3_600, 60);
    bench.move("UTC");
    await bench.pass(7.5 * 3_600, 60);
    expect(bench.told()).toEqual(["100%"]);
    bench.move("Asia/Tokyo");
    await bench.pass(60, 60);
    expect(bench.told()).toEqual(["100%", "30%"]);
  });

  test("that is removed while it is active ends then, from the store and from the file", async () => {
    const clocks = twoClocks(utc("2026-03-02T20:00"));
    const bench = await openRuleBench({ schedules: [night, { ...night, key: "file" }], clocks });
    await bench.pass(2 * 3_600, 60);
    await bench.store.schedules.remove(1);
    bench.automation.reload();
    await bench.store.ruleLog.forget("schedule", 1);
    await settled();
    expect(bench.told()).toEqual(["100%", "100%", "30%"]);
    await bench.close();
    for (let start = 0; start < 2; start += 1) {
      const without = await openRuleBench({ clocks, store: bench.store, runs: bench.runs });
      await without.pass(60, 60);
      await without.close();
    }
    expect(bench.told()).toEqual(["100%", "100%", "30%", "30%"]);
    // Declared again the next day it has nothing to end.
    clocks.pass(10 * 3_600_000);
    const back = await openRuleBench({
      schedules: [{ ...night, key: "file" }],
      clocks,
      store: bench.store,
      runs: bench.runs,
    });
    await back.pass(60, 60);
    expect(back.told()).toHaveLength(4);
  });

  test("of a creator who is no longer an administrator ends without its steps", async () => {
    const clocks = twoClocks(utc("2026-03-02T20:00"));
    const bench = await openRuleBench({ clocks });
    const user = await bench.store.users.add({
      name: "ann",
      keyHash: null,
      privilege: "administrator",
      groups: null,
      pools: null,
    });
    await bench.store.schedules.add({ name: "night", makerId: user.id, definition: night });
    bench.automation.reload();
    await bench.pass(2 * 3_600, 60);
    expect(bench.told()).toEqual(["100%"]);
    await bench.store.users.change(user.id, { privilege: "view" });
    await bench.pass(10 * 3_600, 60);
    expect(bench.told()).toEqual(["100%"]);
    expect(bench.automation.schedules.all[0]?.active).toBeNull();
    expect(await bench.scheduleTraces(1)).toContain("missed: its creator was not an administrator when it ended");
  });

  test("does what maintenance kept it from once that is over, also after a restart", async () => {
    const clocks = twoClocks(utc("2026-03-02T20:30"));
    const options = { schedules: [night], miners: 3, clocks };
    // Miners 1 and 2 are in maintenance over its beginning, then over its end.
    const evening = { name: "fans", racks: ["r1"], until: "2026-03-02T22:00:00Z" };
    const bench = await openRuleBench({ ...options, maintenance: [evening] });
    await bench.pass(3_600, 60);
    expect(bench.runs.told).toEqual(["night: 3: set power_target"]);
    await bench.pass(3_600, 60);
    expect(bench.runs.told).toEqual(["night: 3: set power_target", "night: 1,2: set power_target"]);
    expect(bench.told()).toEqual(["100%", "100%"]);
    await bench.close();
    const morning = { name: "dust", racks: ["r1"], until: "2026-03-03T08:00:00Z" };
    const rest = { ...options, maintenance: [morning], store: bench.store, runs: bench.runs };
    const second = await openRuleBench(rest);
    await second.pass(8 * 3_600, 60);
    expect(second.told()).toEqual(["100%", "100%", "30%"]);
    expect(bench.runs.told.at(-1)).toBe("night: 3: set power_target");
    await second.close();
    const third = await openRuleBench(rest);
    await third.pass(3 * 3_600, 60);
    expect(third.told()).toEqual(["100%", "100%", "30%", "30%"]);
    expect(bench.runs.told.at(-1)).toBe("night: 1,2: set power_target");
    await third.close();
    const fourth = await openRuleBench(rest);
    await fourth.pass(3_600, 60);
    expect(fourth.told()).toHaveLength(4);
  });

  test("ends nothing where maintenance kept it from beginning", async () => {
    const clocks = twoClocks(utc("2026-03-02T20:59"));
    const bench = await openRuleBench({
      schedules: [night],
      miners: 3,
      clocks,
      maintenance: [{ name: "new fans", racks: ["r1"], until: "2026-03-03T08:00:00Z" }],
    });
    await bench.pass(14 * 3_600, 60);
    expect(bench.runs.told).toEqual(["night: 3: set power_target", "night: 3: set power_target"]);
  });
});
