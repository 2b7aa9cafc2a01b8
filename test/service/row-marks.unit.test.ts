import { expect, test } from "@jest/globals";
import { RowMarks } from "../../src/service/events/row-marks.ts";
import type { Access } from "../../src/service/users/access.ts";

const seeing = (...groups: number[]): Access => ({
  privilege: "view",
  all: false,
  userId: 1,
  seesPool: () => false,
  seesGroup: (id) => groups.includes(id),
});

test("a departure is named to whoever sees the group that was left, and only after it", () => {
  const marks = new RowMarks(10, 100);
  marks.left({ at: 105, minerId: 1, groupId: 7 });
  marks.remove({ at: 106, minerId: 2, groupId: 8 });
  expect(marks.leftSince(104, seeing(7, 8))).toEqual([1, 2]);
  expect(marks.leftSince(105, seeing(7, 8))).toEqual([2]);
  expect(marks.leftSince(104, seeing(7))).toEqual([1]);
  expect(marks.leftSince(106, seeing(7, 8))).toEqual([]);
});

test("however many miners leave, few departures are kept, and a version before them is too old", () => {
  const marks = new RowMarks(10, 0);
  for (let at = 1; at <= 1_000; at += 1) marks.left({ at, minerId: at, groupId: 7 });
  expect(marks.leftSince(1, seeing(7))).toBeNull();
  expect(marks.leftSince(999, seeing(7))).toEqual([1_000]);
  const known = Array.from({ length: 1_000 }, (_, since) => marks.leftSince(since, seeing(7)));
  for (const [since, left] of known.entries()) if (left !== null) expect(left).toHaveLength(1_000 - since);
  expect(known.filter((left) => left !== null).length).toBeLessThanOrEqual(20);
});
