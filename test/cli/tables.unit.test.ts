import { expect, test } from "@jest/globals";
import { isColoured } from "../../src/cli/colours.ts";
import { rigNamed } from "../../src/cli/find-rig.ts";
import { type ListedRig, rigTable } from "../../src/cli/rig-table.ts";
import type { MinerRow } from "../../src/contract/rows.ts";

const rig = (change: Partial<ListedRig>): ListedRig => ({
  name: "Garage",
  status: "Mining",
  hashrate: 95.2e12,
  power: 3250,
  temperature: 66.4,
  pool: "pool.example.com",
  algorithm: "SHA-256",
  ...change,
});
const plain = { coloured: false };

test("a rig is one line, figures are right-aligned, and unknown values are empty", () => {
  const off = rig({
    name: "Attic",
    status: "Disconnected",
    hashrate: null,
    power: null,
    temperature: null,
    pool: null,
  });
  expect(rigTable([rig({}), off], plain)).toEqual([
    "Name    State          Hash rate   Power  Temp.  Pool",
    "Garage  Mining        95.20 TH/s  3250 W  66 °C  pool.example.com",
    "Attic   Disconnected",
  ]);
});

test("the hash rate has the unit of its algorithm", () => {
  expect(rigTable([rig({ hashrate: 140_000, algorithm: "Equihash" })], plain)[1]).toContain("140.00 kSol/s");
});

test("lines fit the terminal; the longest names are cut", () => {
  const long = rig({ name: "a".repeat(200), pool: `${"stratum".repeat(9)}.example.com`, status: "Disconnected" });
  for (const columns of [80, 60]) {
    const lines = rigTable([long, rig({})], { coloured: false, columns });
    expect(Math.max(...lines.map((line) => [...line].length))).toBe(columns);
    expect(lines[1]).toMatch(/^a+… {2}Disconnected .*…$/);
    expect(lines[2]).toMatch(/^Garage {2,}Mining/);
  }
});

test("names cannot send commands to the terminal, and colours are the table's own", () => {
  const [, line = ""] = rigTable([rig({ name: "\u{1b}[2J" })], { coloured: true });
  expect(line.startsWith("\u{fffd}[2J  \u{1b}[32mMining\u{1b}[39m  ")).toBe(true);
  expect([
    isColoured({ isTTY: true }, {}),
    isColoured({ isTTY: true }, { NO_COLOR: "1" }),
    isColoured({}, {}),
    isColoured({ isTTY: true }, { NO_COLOR: "" }),
  ]).toEqual([true, false, false, true]);
});

test("a rig is found by id, uid and name, and a typing error names the nearest", () => {
  const row = (id: number, name: string): MinerRow => ({
    id,
    name,
    uid: `uid-${id}`,
    address: `10.0.0.${id}`,
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
    alarms: null,
    repair: null,
    readAt: null,
  });
  const rows = [row(1, "Garage"), row(2, "Attic"), row(3, "attic")];
  const found = (wanted: string) => rigNamed(rows, wanted).id;
  expect(["1", "uid-2", "garage", "attic"].map(found)).toEqual([1, 2, 1, 3]);
  expect(() => found("Garge")).toThrow('There is no miner "Garge"; did you mean "Garage"?');
  expect(() => found("ATTIC")).toThrow(
    /^2 miners are named "ATTIC"; use an id instead:\n.*\n.*10\.0\.0\.2\n.*10\.0\.0\.3$/,
  );
});
