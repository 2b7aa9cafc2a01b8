import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type RowColumn, rowColumnNames } from "../../src/contract/rows.ts";
import { RoughChanges } from "../../src/service/miners/rough-changes.ts";

/** Counts reads of one column as a row does. */
function columnOf(column: RowColumn, phase = 0) {
  const place = rowColumnNames.indexOf(column);
  const rough = new RoughChanges(phase);
  let last: unknown;
  return (value: unknown, seconds: number): boolean => {
    const isNew = value !== last;
    last = value;
    const values = rowColumnNames.map((name) => (name === column ? value : undefined));
    return rough.counts({ places: [place], values, isChanged: () => isNew, now: seconds * 1000 });
  };
}

describe("of a row that nobody looks at", () => {
  test("what is not a figure counts at once", () => {
    const read = columnOf("status");
    read("Mining", 0);
    expect(read("Disconnected", 1)).toBe(true);
    expect(read("Disconnected", 2)).toBe(false);
    expect(read("Mining", 3)).toBe(true);
  });

  test("a figure that comes or goes counts at once", () => {
    const read = columnOf("power");
    read(3_000, 0);
    expect(read(null, 1)).toBe(true);
    expect(read(null, 2)).toBe(false);
    expect(read(3_000, 3)).toBe(true);
  });

  test("a figure that moves much counts after a minute, against what counted last", () => {
    const read = columnOf("hashrate");
    read(100, 0);
    expect(read(50, 59)).toBe(false);
    expect(read(104, 61)).toBe(false);
    expect(read(106, 62)).toBe(true);
    expect(read(100, 63)).toBe(false);
    expect(read(100, 123)).toBe(true);
  });

  test("a temperature counts after two degrees", () => {
    const read = columnOf("temperature");
    read(70, 0);
    expect(read(72, 100)).toBe(false);
    expect(read(72.1, 101)).toBe(true);
  });

  test("the smallest difference counts after ten minutes, and none at all never", () => {
    const read = columnOf("hashrate");
    read(100, 0);
    expect(read(101, 599)).toBe(false);
    expect(read(101, 600)).toBe(true);
    expect(read(101, 3_600)).toBe(false);
  });

  test("rows that are read for the first time at once do not all count at once later", () => {
    const [early, late] = [columnOf("hashrate", 0.9), columnOf("hashrate", 0.1)];
    for (const read of [early, late]) read(100, 0);
    expect(early(101, 61)).toBe(true);
    expect(late(101, 61)).toBe(false);
  });

  test("a figure is never off by more than a twentieth for longer than a minute and a read", () => {
    const step = 10;
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 50, max: 150, noNaN: true }), { minLength: 40, maxLength: 80 }),
        (figures) => {
          const read = columnOf("hashrate");
          let shown = figures[0] ?? 0;
          let shownAt = 0;
          for (const [index, figure] of figures.entries()) {
            const seconds = index * step;
            if (read(figure, seconds)) [shown, shownAt] = [figure, seconds];
            if (seconds - shownAt >= 60) expect(Math.abs(figure - shown)).toBeLessThanOrEqual(0.05 * shown);
          }
        },
      ),
    );
  });
});
