import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Row } from "../../src/web/live.ts";
import { byPlace, cellAt, floorOf, neighbourOf } from "../../src/web/pages/places/floor.ts";
import { mediansOf, shadeOf } from "../../src/web/pages/places/shades.ts";
import { placeTree } from "../../src/web/places.ts";
import { place, rigRow } from "./place-rows.ts";

const hall = place(1, "building", "B1");
const rowA = place(2, "row", "A", hall);
const r1 = place(3, "rack", "R1", rowA, { columns: 4, rows: 3 });
const r2 = place(4, "rack", "R2", rowA);
const rowB = place(5, "row", "B", hall);
const r3 = place(6, "rack", "R3", rowB);
const tree = placeTree([hall, rowA, r1, r2, rowB, r3]);
const at = (id: number, rack: number, row: number, column: number) =>
  rigRow(id, { place: rack, position: { row, column } });
const floor = (rows: readonly Row[], id = 1, width = 800) => floorOf(tree, id, byPlace(rows), width);

describe("the map of a place", () => {
  const rows = [at(1, 3, 1, 1), at(2, 3, 3, 4), at(3, 4, 2, 2), rigRow(4, { place: 3 }), at(5, 6, 1, 1)];

  test("has the racks of a row side by side, and those of the next row below", () => {
    const { blocks, headings } = floor(rows);
    expect(blocks.map(({ place: { name }, columns, rows }) => [name, columns, rows])).toEqual([
      ["R1", 4, 3],
      ["R2", 2, 2],
      ["R3", 1, 1],
    ]);
    expect(blocks[0]?.y).toBe(blocks[1]?.y);
    expect(blocks[2]?.y).toBeGreaterThan(blocks[0]?.y ?? 0);
    expect(headings.map(({ path }) => path)).toEqual(["A", "B"]);
  });

  test("has each rig at its position, and those without one below", () => {
    const { blocks, cells, size } = floor(rows);
    const [first, last, , strip] = [1, 2, 3, 4].map((id) => cells.find(({ row }) => row.id === id));
    expect([(last?.x ?? 0) - (first?.x ?? 0), (last?.y ?? 0) - (first?.y ?? 0)]).toEqual([3 * size, 2 * size]);
    expect(strip?.y).toBeGreaterThan((blocks[0]?.gridY ?? 0) + 3 * size);
  });

  test("of one rack has that rack alone, larger", () => {
    const { blocks, cells, size } = floor(rows, 3);
    expect([blocks.length, cells.length]).toEqual([1, 3]);
    expect(size).toBeGreaterThanOrEqual(floor(rows).size);
  });

  test("shows the rigs of a place without racks", () => {
    expect(floor([rigRow(1, { place: 2 })]).blocks.map(({ place: { name } }) => name)).toContain("A");
  });

  test("puts no two rigs into one spot, finds each by its point, and reaches each by arrow keys", () => {
    const rig = fc.record({
      rack: fc.constantFrom(1, 2, 3, 4, 6),
      row: fc.integer({ min: 1, max: 8 }),
      column: fc.integer({ min: 1, max: 8 }),
      isPlaced: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(rig, { maxLength: 40, selector: ({ rack, row, column }) => `${rack} ${row} ${column}` }),
        fc.integer({ min: 200, max: 1500 }),
        (list, width) => {
          const all = list.map(({ rack, row, column, isPlaced }, index) =>
            rigRow(index + 1, { place: rack, ...(isPlaced ? { position: { row, column } } : {}) }),
          );
          const map = floor(all, 1, width);
          expect(map.cells.length).toBe(all.length);
          expect(new Set(map.cells.map(({ x, y }) => `${x} ${y}`)).size).toBe(all.length);
          for (const cell of map.cells) {
            expect(cellAt(map, cell.x + map.size / 2, cell.y + map.size / 2)).toBe(cell);
            expect(cell.x + map.size).toBeLessThanOrEqual(map.width);
            expect(cell.y + map.size).toBeLessThanOrEqual(map.height);
          }
          const [start] = map.cells;
          const reached = new Set(start === undefined ? [] : [start]);
          for (const cell of reached)
            for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] as const) {
              const next = neighbourOf(map, cell, key);
              if (next !== undefined) reached.add(next);
            }
          expect(reached.size).toBe(all.length);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("the colour of a rig", () => {
  const rows = [rigRow(1), rigRow(2, { hashrate: 2e14 }), rigRow(3, { hashrate: 1.2e14, efficiency: 40e-12 })];
  const medians = mediansOf(rows);
  const shade = (measure: "share" | "temperature" | "efficiency" | "state", more: Partial<Row>) =>
    shadeOf(measure, rigRow(9, more), medians);

  test("is that of its share of its own expectation, else of its model's median", () => {
    expect([0.4, 0.7, 0.9, 1, 1.2].map((share) => shade("share", { hashrate: share * 1e14 }))).toEqual([
      "bad",
      "poor",
      "fair",
      "good",
      "over",
    ]);
    expect(shade("share", { hashrate: 1.2e14, expected: null })).toBe("good");
    expect(shade("share", { hashrate: 1.2e14, expected: null, model: "S21" })).toBe("unknown");
  });

  test("is that of its temperature, and of its J/TH beside its model's", () => {
    expect([50, 60, 70, 80, 90].map((temperature) => shade("temperature", { temperature }))).toEqual([
      "over",
      "good",
      "fair",
      "poor",
      "bad",
    ]);
    expect([20, 30, 33, 36, 45].map((joules) => shade("efficiency", { efficiency: joules * 1e-12 }))).toEqual([
      "over",
      "good",
      "fair",
      "poor",
      "bad",
    ]);
  });

  test("is a pattern for a rig that is off, out of reach or unknown, whatever its last figures are", () => {
    for (const measure of ["share", "temperature", "efficiency", "state"] as const) {
      expect(shade(measure, { status: "Disconnected" })).toBe("offline");
      expect(shade(measure, { siteUnreachable: "2026-01-01T00:00:00Z" })).toBe("offline");
      expect(shade(measure, { status: "Stopped", hashrate: 0 })).toBe("stopped");
    }
    expect(shade("share", { readAt: "2026-01-01T00:00:00Z" })).toBe("unknown");
    expect(shade("temperature", { temperature: null })).toBe("unknown");
  });
});
