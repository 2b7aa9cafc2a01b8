import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Row } from "../../src/web/live.ts";
import { stubBrowser } from "./stub-browser.ts";

let restore: () => void;
let tiles: typeof import("../../src/web/pages/wall/tiles.ts");

beforeAll(async () => {
  restore = stubBrowser();
  tiles = await import("../../src/web/pages/wall/tiles.ts");
});
afterAll(() => restore());

const rig = (id: number, over: Partial<Row> = {}): Row =>
  ({
    id,
    name: `Rig ${id}`,
    group: 1,
    location: null,
    status: "Mining",
    alarms: 0,
    hashrate: 1e12,
    power: 20,
    temperature: 50,
    profit: null,
    readAt: null,
    repair: null,
    ...over,
  }) as Row;
const groups = [
  { id: 1, name: "Hall", parentId: 0 },
  { id: 2, name: "Row 10", parentId: 1 },
  { id: 3, name: "Row 9", parentId: 1 },
];

test("a tile for each group has what its rigs come to, in the order of names, rigs without a group last", () => {
  const rows = [
    rig(1, { group: 0 }),
    rig(2, { group: 2, status: "Disconnected", hashrate: null, power: null, temperature: 90, readAt: "2026-01-01" }),
    rig(3, { group: 2, temperature: 61 }),
    rig(4, { group: 3, status: "Stopped", hashrate: null, power: 0, temperature: null }),
  ];
  const found = tiles.tilesOf(rows, "group", groups);
  expect(
    found.map(({ name, failing, hottest, sums }) => [name, failing, hottest, sums.count, sums.power.value]),
  ).toEqual([
    ["Hall / Row 9", 0, null, 1, 0],
    // What an offline rig read before it went away counts for nothing.
    ["Hall / Row 10", 1, 61, 2, 20],
    ["", 0, 50, 1, 20],
  ]);
});

test("tiles are of places too, or of rigs, also of two with one name", () => {
  const at = (site: string | null) => ({ site, container: "C1", rack: null, slot: null });
  const rows = [rig(1, { location: at("North") }), rig(2, { location: at(null) }), rig(3, { name: "Rig 1" })];
  expect(tiles.tilesOf(rows, "site", groups).map(({ name, sums }) => [name, sums.count])).toEqual([
    ["North", 1],
    ["", 2],
  ]);
  expect(tiles.tilesOf(rows, "container", groups).map(({ name }) => name)).toEqual(["C1", ""]);
  expect(tiles.tilesOf(rows, "rig", groups).map(({ name }) => name)).toEqual(["Rig 1", "Rig 1", "Rig 2"]);
});

test("a screen has room for whole tiles, and for one at least", () => {
  expect(tiles.roomFor(1920, 1000)).toBe(5 * 4);
  expect(tiles.roomFor(375, 600)).toBe(2);
  expect(tiles.roomFor(200, 100)).toBe(1);
});
