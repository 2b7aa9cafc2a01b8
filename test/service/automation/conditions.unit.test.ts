import { describe, expect, test } from "@jest/globals";
import { unknownBoard } from "../../../src/contract/readings.ts";
import type { DeviceReading, PoolReading } from "../../../src/link/driver.ts";
import { unknownDevice } from "../../../src/link/drivers/shared/board-device.ts";
import { openRuleBench, type RuleBenchOptions, twoClocks } from "./rule-bench.ts";

type Bench = Awaited<ReturnType<typeof openRuleBench>>;
type Given = Parameters<Bench["read"]>[1];
type Rest = Parameters<Bench["read"]>[2];

const pool = (status: PoolReading["status"]): PoolReading => ({
  index: 0,
  url: "stratum+tcp://main.example:3333",
  worker: "me",
  status,
  active: status === "enabled",
  priority: 0,
  quota: null,
  accepted: null,
  rejected: null,
  stale: null,
  devFee: false,
});
const device = (status: DeviceReading["status"]): DeviceReading => ({
  ...unknownDevice,
  kind: "asic",
  name: "0",
  status,
});
const boards = (...chips: number[]) =>
  chips.map((count, slot) => ({ ...unknownBoard(slot), hashrate: count, chips: count, chipsExpected: 100 }));

/** A rule with these conditions and what it does with one read, or with several in a row. */
const opened = (when: object, more: Partial<RuleBenchOptions> = {}) =>
  openRuleBench({ rules: [{ key: "r", when, guard: false, do: [{ wait: 1 }] }], ...more });

describe("a condition", () => {
  test.each<[string, object, Given, Rest, Given, Rest]>([
    ["temperature", { reading: "temperature", above: 80 }, { temperature: 81 }, {}, { temperature: 80 }, {}],
    [
      "of the fans",
      { reading: "fanRpm", below: 900 },
      {
        fans: [
          { rpm: 5000, percent: 9 },
          { rpm: 0, percent: 9 },
        ],
      },
      {},
      { fans: [{ rpm: 5000, percent: 9 }] },
      {},
    ],
    [
      "share of expected",
      { reading: "hashrate", below: "80%", of: "hashrateExpected" },
      { hashrate: 79, hashrateExpected: 100 },
      {},
      { hashrate: 81, hashrateExpected: 100 },
      {},
    ],
    [
      "boards",
      { reading: "boards", below: 3 },
      { boards: boards(100, 100, 0) },
      {},
      { boards: boards(100, 99, 98) },
      {},
    ],
    [
      "chips",
      { reading: "chips", below: "95%", of: "chipsExpected" },
      { boards: boards(100, 80) },
      {},
      { boards: boards(100, 95) },
      {},
    ],
    ["uptime", { reading: "uptime", below: 600 }, { uptime: 20 }, {}, { uptime: 700 }, {}],
    ["power", { reading: "power", above: 3500 }, { power: 3600 }, {}, { power: 3400 }, {}],
    ["mode", { reading: "mode", equals: "eco" }, { mode: "eco" }, {}, { mode: "turbo" }, {}],
    ["state", { state: "idle" }, { hashrate: 0, uptime: 10_000 }, {}, { hashrate: 5 }, {}],
    ["dead pool", { pool: "dead" }, {}, { pools: [pool("dead"), pool("disabled")] }, {}, { pools: [pool("enabled")] }],
    [
      "sick device",
      { device: ["sick", "dead"] },
      {},
      { devices: [device("enabled"), device("sick")] },
      {},
      { devices: [device("enabled")] },
    ],
    ["offline", { offline: true }, null, {}, {}, {}],
    ["online", { offline: false }, {}, {}, null, {}],
  ])("on %s is true and false", async (_what, condition, yes, yesRest, no, noRest) => {
    const right = await opened({ all: [condition] });
    right.read(1, yes, yesRest);
    expect(right.phase("r")).toBe("firing");
    const wrong = await opened({ all: [condition] });
    wrong.read(1, no, noRest);
    expect(wrong.phase("r")).toBe("idle");
  });

  test("on a rate counts over its time, and again after the counters began anew", async () => {
    const bench = await opened({ all: [{ rate: "rejected", above: "5%", over: "10m" }] });
    let [accepted, rejected] = [0, 0];
    const mine = (seconds: number, bad: number) =>
      bench.pass(seconds, 30, () => {
        accepted += 100;
        rejected += bad;
        bench.read(1, { shares: { accepted, rejected, hardwareErrors: 0 } });
      });
    await mine(1_200, 1);
    expect(bench.phase("r")).toBe("idle");
    await mine(600, 20);
    expect(bench.phase("r")).toBe("firing");
    [accepted, rejected] = [0, 0];
    await mine(1_200, 1);
    expect(bench.phase("r")).toBe("idle");
  });

  test("on the median of the last hour waits until there is one", async () => {
    const bench = await opened({ all: [{ reading: "hashrate", below: "60%", of: "median1h" }] });
    bench.read(1, { hashrate: 10 });
    await bench.pass(60);
    expect(bench.phase("r")).toBe("idle");
    for (let minute = 0; minute < 60; minute += 1)
      bench.history.push({ minerId: 1, time: bench.clocks.now() - minute * 60_000, hashrate: 100 });
    await bench.pass(600, 60, () => bench.read(1, { hashrate: 50 }));
    expect(bench.phase("r")).toBe("firing");
  });

  test("on a topic, with a path and an age", async () => {
    const bench = await opened({ all: [{ topic: "home/game", path: "state", equals: "on", maxAge: "1m" }] });
    bench.topics.get("home/game")?.('{"state":"off"}');
    expect(bench.phase("r", 0)).toBe("idle");
    bench.topics.get("home/game")?.('{"state":"on"}');
    expect(bench.phase("r", 0)).toBe("firing");
    await bench.pass(120);
    // Too old is unknown.
    expect(bench.phase("r", 0)).toBe("firing");
    bench.topics.get("home/game")?.('{"state":"off"}');
    expect(bench.phase("r", 0)).toBe("idle");
  });

  test("on a web hook acts once for each that comes in", async () => {
    const bench = await opened({ all: [{ hook: "door" }, { weekly: { from: "08:00", to: "20:00" } }] });
    bench.automation.hook("door");
    bench.automation.hook("window");
    expect(bench.runs.requests).toHaveLength(1);
    await bench.pass(10 * 3_600, 600);
    bench.automation.hook("door");
    expect(bench.runs.requests).toHaveLength(1);
  });

  test("on hours, a time of day and cron by the time zone", async () => {
    const clocks = twoClocks(Date.UTC(2026, 2, 2, 12));
    const bench = await openRuleBench({
      zone: "Europe/Berlin",
      clocks,
      rules: [
        {
          key: "hours",
          when: { all: [{ weekly: { from: "14:00", to: "15:00" } }] },
          do: [{ wait: 1 }],
          onClear: [{ wait: 2 }],
        },
        { key: "time", when: { all: [{ time: "14:00" }] }, do: [{ wait: 3 }] },
        { key: "cron", when: { all: [{ cron: "30 14 * * tue" }] }, do: [{ wait: 4 }] },
      ],
    });
    await bench.pass(86_400, 60);
    expect(bench.runs.requests.map(({ cause }) => cause.key)).toEqual(["hours", "time", "hours"]);
    await bench.pass(86_400, 60);
    expect(bench.runs.requests.slice(3).map(({ cause }) => cause.key)).toEqual(["hours", "time", "cron", "hours"]);

    bench.move("UTC");
    await bench.pass(1.75 * 3_600, 60);
    expect(bench.runs.requests).toHaveLength(7);
    await bench.pass(0.5 * 3_600, 60);
    expect(bench.runs.requests.slice(7).map(({ cause }) => cause.key)).toEqual(["hours", "time"]);
    // It is 15:15 there.
    bench.move("Europe/Berlin");
    await bench.pass(60, 60);
    expect(bench.runs.requests.slice(9).map(({ cause }) => cause.key)).toEqual(["hours"]);
  });

  test("on profit and price", async () => {
    const profit = await opened({ all: [{ reading: "profit", below: 0 }] }, { profit: -1 });
    profit.read(1, {});
    expect(profit.phase("r")).toBe("firing");
    let now = 0.2;
    const price = await opened({ all: [{ reading: "price", above: 0.3, clear: 0.25 }] }, { price: () => now });
    const phaseAt = async (value: number) => {
      now = value;
      await price.pass(20);
      return price.phase("r", 0);
    };
    expect([await phaseAt(0.2), await phaseAt(0.31), await phaseAt(0.27), await phaseAt(0.24)]).toEqual([
      "idle",
      "firing",
      "firing",
      "idle",
    ]);
  });

  test("compares what the pool sees with what the rig reports", async () => {
    const low = await opened(
      { all: [{ reading: "poolHashrate", below: "70%", of: "hashrate" }] },
      { poolHashrate: 60 },
    );
    low.read(1, { hashrate: 100 });
    expect(low.phase("r")).toBe("firing");
    const unknown = await opened({ all: [{ reading: "poolHashrate", below: "70%", of: "hashrate" }] }, {});
    unknown.read(1, { hashrate: 100 });
    expect(unknown.phase("r")).toBe("idle");
  });

  test("in CEL sees the miner and its readings, and is unknown where they are", async () => {
    const bench = await opened({
      all: [{ reading: "temperature", above: 50 }],
      where: 'reading.boards.exists(b, b.chips < b.chipsExpected) && miner.name == "rig 1"',
    });
    bench.read(1, { temperature: 60, boards: boards(100) });
    expect(bench.phase("r")).toBe("idle");
    bench.read(1, { temperature: 60, boards: [{ ...unknownBoard(0), chips: null, chipsExpected: 100 }] });
    expect(bench.phase("r")).toBe("idle");
    bench.read(1, { temperature: 60, boards: boards(99) });
    expect(bench.phase("r")).toBe("firing");
    bench.read(1, { temperature: 60, boards: [{ ...unknownBoard(0), chips: null, chipsExpected: 100 }] });
    expect(bench.phase("r")).toBe("firing");
  });

  test("in a scope is tested for its miners alone, and no longer for one that leaves it", async () => {
    const bench = await openRuleBench({
      miners: 4,
      rules: [
        {
          key: "r",
          scope: { tags: ["even"], not: { miners: ["rig 4"] } },
          when: { all: [{ offline: true }] },
          do: [{ wait: 1 }],
        },
      ],
    });
    bench.batch([1, 2, 3, 4].map((id) => bench.change(id, null)));
    expect(bench.runs.requests.map(({ minerIds }) => minerIds)).toEqual([[2]]);
    const entry = bench.entries.get(2);
    if (entry !== undefined) bench.entries.set(2, { ...entry, facts: { ...entry.facts, tags: [] } });
    await bench.pass(40);
    expect(bench.phase("r", 2)).toBe("idle");
  });
});
