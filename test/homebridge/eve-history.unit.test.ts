import { expect, test } from "@jest/globals";
import { historyPortions, historyStatus, type PowerPoint } from "../../homebridge/src/homekit/eve-history.ts";

const now = Date.parse("2026-06-01T12:03:00Z");
const step = 600_000;
const eveEpoch = Date.parse("2001-01-01T00:00:00Z");

/** The status as Eve reads it. */
function statusAt(time: number) {
  const bytes = historyStatus(time);
  return {
    length: bytes.length,
    lastAt: eveEpoch + (bytes.readUInt32LE(0) + bytes.readUInt32LE(8)) * 1000,
    reference: bytes.readUInt32LE(8),
    used: bytes.readUInt16LE(23),
    first: bytes.readUInt32LE(27),
  };
}

/** The entries as Eve reads them: their number, time, and W; null = without a reading, "reference" = what times refer to. */
function entriesIn(portions: readonly Buffer[]) {
  const { reference } = statusAt(now);
  return portions.flatMap((portion) => {
    const entries: { entry: number; at: number; watts: number | null | "reference" }[] = [];
    for (let place = 0; place < portion.length; place += portion.readUInt8(place)) {
      const mask = portion.readUInt8(place + 9);
      const entry = portion.readUInt32LE(place + 1);
      if (mask === 0x81) {
        entries.push({ entry, at: eveEpoch + portion.readUInt32LE(place + 10) * 1000, watts: "reference" });
        continue;
      }
      const at = eveEpoch + (reference + portion.readUInt32LE(place + 5)) * 1000;
      entries.push({ entry, at, watts: mask === 0 ? null : portion.readUInt16LE(place + 16) / 10 });
    }
    return entries;
  });
}

const lastStep = Date.parse("2026-06-01T11:50:00Z");

test("Eve is told of four weeks of ten minutes, up to the last complete ones", () => {
  const { length, lastAt, used, first } = statusAt(now);
  expect([length, used]).toEqual([37, 4032]);
  expect(new Date(lastAt).toISOString()).toBe(new Date(lastStep).toISOString());
  // Numbers follow time, so that Eve may continue where it stopped, also after a restart.
  expect(statusAt(now + 10 * step).first).toBe(first + 10);
});

test("Eve reads each entry once, with its time and power; a gap has no power", () => {
  const points: PowerPoint[] = [
    { at: lastStep, watts: 15.4 },
    { at: lastStep - step, watts: 9000 },
    { at: lastStep - 3 * step, watts: 0 },
  ];
  const { first, used } = statusAt(now);
  const entries = entriesIn(historyPortions(points, first + used - 4, now));
  expect(entries.map(({ at, watts }) => [(lastStep - at) / step, watts])).toEqual([
    [3, 0],
    [2, null],
    [1, 6553.5],
    [0, 15.4],
  ]);
});

test("from the beginning, the first entry says what the times refer to, in portions of eleven", () => {
  const { first, used } = statusAt(now);
  const portions = historyPortions([], 0, now);
  const entries = entriesIn(portions);
  expect(entries.map(({ entry }) => entry)).toEqual(Array.from({ length: used }, (_, index) => first + index));
  expect(entries.filter(({ watts }) => watts === "reference").map(({ entry }) => entry)).toEqual([first]);
  expect(entriesIn(portions.slice(0, 1))).toHaveLength(11);
  expect(historyPortions([], first + used, now)).toEqual([]);
});
