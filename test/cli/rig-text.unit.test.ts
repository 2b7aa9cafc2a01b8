import { describe, expect, test } from "@jest/globals";

import { type RigReport, rigText } from "../../src/cli/rig-text.ts";
import { hanging, pairs, table } from "../../src/cli/table.ts";
import { type Control, unknownReadings } from "../../src/contract/readings.ts";

const control: Control = {
  key: "mode",
  kind: "choice",
  unit: null,
  min: null,
  max: null,
  step: null,
  value: "mode 17",
  options: Array.from({ length: 40 }, (_, mode) => `mode ${mode}`),
  lasting: true,
  restartsMining: true,
  seconds: 1,
};
const pool: RigReport["pools"][number] = {
  url: "stratum+ssl://a-rather-long-name.of-a-pool.example.com:3333",
  worker: `bc1q${"x".repeat(58)}.a-worker`,
  status: "enabled",
  active: true,
  priority: 0,
  quota: null,
  accepted: 1_234_567,
  rejected: 12_345,
  stale: null,
};

/** A rig with long values everywhere. */
const wordy: RigReport = {
  driver: "luxos",
  reason: {
    code: "hot",
    text: "The board at the back is too hot, so it waits until it has cooled down by 10 °C or more",
  },
  identity: {
    make: "Antminer",
    model: "Antminer S19k Pro",
    firmware: "2025.9.8.152528",
    mac: "02:51:00:00:00:02",
    hostname: "a-host-name-that-somebody-gave-it.in-a-long-domain.of-the-farm.example.com",
    serial: "S".repeat(90),
  },
  readings: {
    ...unknownReadings(),
    hashrate: 122.11e12,
    hashrateAverage: 130.89e12,
    hashrateExpected: 121.69e12,
    power: 2907,
    powerLimit: 2879,
    boards: [
      {
        slot: 0,
        hashrate: 139.89e12,
        temperature: 62,
        chipTemperature: 81,
        chips: 108,
        chipsExpected: 108,
        frequency: 590e6,
        voltage: 13.5,
        serial: null,
      },
    ],
    notes: ["a note ".repeat(40).trim()],
    errors: [{ code: "R:1", text: "words of the rig ".repeat(20).trim() }],
  },
  pools: [pool, { ...pool, priority: 1, active: false }],
  controls: [control],
};

describe("what read prints", () => {
  const lines = rigText(wordy, "192.168.1.50").split("\n");

  test("is 80 columns wide at most, however long the values of the rig are", () => {
    for (const line of lines) expect([line, [...line].length <= 80]).toEqual([line, true]);
  });

  test("leaves nothing out", () => {
    const text = lines.join(" ").replace(/\s+/g, " ");
    for (const word of [
      pool.url,
      pool.worker,
      "active, 1,234,567 accepted, 12,345 rejected",
      "mode 0, mode 1",
      "mode 39",
    ])
      expect(text).toContain(word);
    expect(text.match(/words of the rig/g)).toHaveLength(20);
    expect(text.replaceAll(" ", "")).toContain("S".repeat(90));
  });

  test("has a pool's address and worker unbroken, each on a line", () => {
    const at = lines.indexOf("Pools");
    expect(lines.slice(at, at + 4)).toEqual([
      "Pools",
      `  0  ${pool.url}`,
      `     ${pool.worker}`,
      "     active, 1,234,567 accepted, 12,345 rejected",
    ]);
  });
});

test("the last column of a table wraps below itself", () => {
  const [head, ...rows] = table(["A", "B"], [["one", "word ".repeat(30).trim()]]).split("\n");
  expect(head).toBe("A    B");
  expect(rows).toEqual([`one  ${"word ".repeat(14).trim()}`, `     ${"word ".repeat(14).trim()}`, "     word word"]);
});

test("a value wraps below itself, and a word longer than a line is broken", () => {
  expect(pairs([["Name", "x".repeat(100)]]).split("\n")).toEqual([
    `Name  ${"x".repeat(72)}`,
    `      ${"x".repeat(28)}`,
  ]);
  expect(hanging("", "a b")).toBe("a b");
});

describe("what read advises", () => {
  const advised = (report: Partial<RigReport>) => rigText({ ...wordy, ...report }, "rig").split("What to do")[1] ?? "";

  test("is nothing where the rig reports its power and accepts its login", () => {
    expect(advised({})).toBe("");
  });

  test("is a plug, or a nameplate, for a rig that does not report its power", () => {
    expect(advised({ readings: { ...wordy.readings, power: null } })).toMatch(/plug.*supply.*powerNameplate/s);
  });

  test("is the options for the login that its driver accepts", () => {
    const locked = { why: "login missing", text: "give its password" } as const;
    expect(advised({ driver: "vnish", locked })).toMatch(/--password \(or RIGBRIDGE_PASSWORD\)/);
    expect(advised({ driver: "vnish", locked: { ...locked, why: "read-only" } })).toBe("");
  });
});
