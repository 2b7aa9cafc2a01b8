import { expect, test } from "@jest/globals";
import { urgencyOf } from "../../src/mqtt/dead-band.ts";

const before = {
  name: "Rig",
  status: "mining",
  mining: "ON",
  hashrate: 100e12,
  hashrate_display: 100,
  power: 3000,
  power_limit: 3200,
  temperature: 60,
  fan_0_rpm: 4000,
  board_1_temperature: 60,
  energy: 1000,
  shares_accepted: 10,
  room_temperature: null,
  miners: 3,
  found_blocks: 0,
};

test.each([
  ["nothing", {}, "later"],
  ["a hash rate by 2 %", { hashrate: 102e12 }, "later"],
  ["a hash rate by more", { hashrate: 97.9e12 }, "soon"],
  ["power by 5 W", { power: 3005 }, "later"],
  ["power by more", { power: 2994 }, "soon"],
  ["a temperature by 1 °C", { temperature: 61 }, "later"],
  ["a temperature by more", { board_1_temperature: 61.5 }, "soon"],
  ["a fan by a little", { fan_0_rpm: 4100 }, "later"],
  ["a fan by much", { fan_0_rpm: 4300 }, "soon"],
  ["what only counts", { energy: 1100, shares_accepted: 11, hashrate_display: 150 }, "later"],
  ["a value that becomes known", { room_temperature: 20 }, "soon"],
  ["a value that becomes unknown", { hashrate: null }, "soon"],
  ["a status", { status: "stopped" }, "now"],
  ["a switch", { mining: "OFF" }, "now"],
  ["what a command changes", { power_limit: 3199 }, "now"],
  ["a name", { name: "Other" }, "now"],
  ["how many miners there are", { miners: 4 }, "now"],
  ["a found block", { found_blocks: 1 }, "now"],
  ["a board more", { board_2_temperature: 60 }, "now"],
] as const)("%s: %#", (_, change, urgency) => {
  expect(urgencyOf(before, { ...before, ...change })).toBe(urgency);
});

test("a board that disappears is published at once", () => {
  const { board_1_temperature: _, ...after } = before;
  expect(urgencyOf(before, after)).toBe("now");
});
