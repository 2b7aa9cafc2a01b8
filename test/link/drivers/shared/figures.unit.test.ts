import { expect, test } from "@jest/globals";
import { unknownBoard } from "../../../../src/contract/readings.ts";
import { boardDevice } from "../../../../src/link/drivers/shared/board-device.ts";
import { highest, lowest, total, uptimeSince } from "../../../../src/link/drivers/shared/figures.ts";

test("figures that are not known are left out", () => {
  const values = [null, 3, -1, null];
  expect([highest(values), lowest(values), total(values)]).toEqual([3, -1, 2]);
});

test.each([[[]], [[null, null]]])("of %j nothing is known", (values) => {
  expect([highest(values), lowest(values), total(values)]).toEqual([null, null, null]);
});

test("a board is a device with its rate, temperature, clock and voltage", () => {
  const board = { ...unknownBoard(2), hashrate: 1e12, temperature: 60, frequency: 5e8, voltage: 12 };
  expect(boardDevice(board, { status: "sick" })).toMatchObject({
    kind: "asic",
    name: "Board 2",
    status: "sick",
    hashrate: 1e12,
    temperature: 60,
    clock: 5e8,
    voltage: 12,
    accepted: null,
  });
});

test.each([
  [1_800_000_000, 1_800_003_600_500, 3_600],
  [1_800_000_000, 1_800_000_000_000, 0],
  [1_800_000_001, 1_800_000_000_000, null],
  [1, 1_800_000_000_000, null],
  [null, 1_800_000_000_000, null],
])("a start at %j is %j ms later an uptime of %j s; an impossible one is unknown", (start, now, uptime) => {
  expect(uptimeSince(start, now)).toBe(uptime);
});
