import { expect, test } from "@jest/globals";
import type { Row } from "../../src/web/live.ts";
import { sumsOf } from "../../src/web/sums.ts";

const row = (values: Partial<Row>): Row => ({
  id: 1,
  uid: null,
  name: "Rig",
  group: 0,
  location: null,
  tags: [],
  status: "Mining",
  reason: null,
  hashrate: null,
  expected: null,
  power: null,
  temperature: null,
  pool: null,
  coin: null,
  profit: null,
  alarms: 0,
  readAt: null,
  repair: null,
  algorithm: "SHA-256",
  ...values,
});

test("sums of nothing are unknown, not 0", () => {
  expect(sumsOf([])).toEqual({
    count: 0,
    mining: 0,
    inRepair: 0,
    byStatus: new Map(),
    hashrates: [],
    power: { value: null, known: 0, total: 0 },
    efficiency: null,
    profit: { value: null, known: 0, total: 0 },
    alarms: 0,
  });
  expect(sumsOf([row({ status: "Disconnected" })])).toMatchObject({ power: { total: 0 }, profit: { total: 0 } });
});

test("hash rates are added by algorithm only, and the efficiency is that of the rigs whose power is known", () => {
  const sums = sumsOf([
    row({ hashrate: 100e12, power: 2000, profit: 2 }),
    row({ hashrate: 100e12, power: null }),
    row({ hashrate: 5000, power: 80, algorithm: "RandomX", profit: -1 }),
    row({ hashrate: 50e12, power: 900, readAt: "2026-11-22T12:00:00Z", status: "Disconnected", alarms: 1 }),
  ]);
  expect(sums.hashrates).toEqual([
    { algorithm: "SHA-256", hashrate: 200e12, rigs: 2 },
    { algorithm: "RandomX", hashrate: 5000, rigs: 1 },
  ]);
  expect(sums).toMatchObject({ count: 4, efficiency: 2e-11, alarms: 1 });
  expect(sums.power).toEqual(expect.objectContaining({ value: 2080, known: 2, total: 3 }));
  expect([...sums.byStatus]).toEqual([
    ["Mining", 3],
    ["Disconnected", 1],
  ]);
});

test("the main algorithm is that of most rigs; of equal ones that with the highest hash rate", () => {
  const [cpu, asic] = [row({ hashrate: 5000, algorithm: "RandomX" }), row({ hashrate: 100e12 })];
  const order = (rows: Row[]) => sumsOf(rows).hashrates.map(({ algorithm }) => algorithm);
  expect(order([cpu, asic])).toEqual(["SHA-256", "RandomX"]);
  expect(order([cpu, asic, cpu])).toEqual(["RandomX", "SHA-256"]);
});

test("readings that are out of date do not count, even of a rig that is not disconnected yet", () => {
  const sums = sumsOf([
    row({ hashrate: 1e12, power: 100 }),
    row({ hashrate: 2e12, power: 200, readAt: "2026-11-22T12:00:00Z" }),
  ]);
  expect(sums).toMatchObject({ count: 2, power: { value: 100 }, hashrates: [{ hashrate: 1e12 }] });
});

test("the profit is that of the rigs whose profit is known, and says how many of those that answer it leaves out", () => {
  const sums = sumsOf([
    row({ profit: 2 }),
    row({ profit: -1, status: "Idle" }),
    ...(["Mining", "Idle", "Stopped", "Starting", "Disconnected", "Disabled", "Error"] as const).map((status) =>
      row({ status }),
    ),
  ]);
  expect(sums.profit).toEqual(expect.objectContaining({ value: 1, known: 2, total: 5 }));
});

test("a rig in repair keeps its status, and is part of no sum", () => {
  const repair = { note: "fans", since: "2026-03-02T08:00:00Z" };
  const sums = sumsOf([row({ hashrate: 1, power: 10 }), row({ status: "Mining", hashrate: 5, power: 50, repair })]);
  expect(sums).toMatchObject({ count: 1, mining: 1, inRepair: 1, power: { value: 10 } });
  expect(sums.byStatus).toEqual(new Map([["Mining", 2]]));
  expect(sums.hashrates).toEqual([{ algorithm: "SHA-256", hashrate: 1, rigs: 1 }]);
});
