import { expect, test } from "@jest/globals";
import { unknownReadings } from "../../src/contract/readings.ts";
import type { Reading } from "../../src/link/driver.ts";
import { unknownIdentity } from "../../src/link/identity.ts";
import { hasRestarted } from "../../src/service/commands/steps.ts";

const reading = (uptime: number | null, rest: Partial<Reading> = {}): Reading => ({
  identity: unknownIdentity,
  readings: { ...unknownReadings(), uptime },
  pools: [],
  devices: [],
  controls: [],
  poolActions: [],
  software: null,
  logInterval: null,
  workUtility: null,
  ...rest,
});

const starting = { starting: true };

test.each([
  ["its uptime has fallen", reading(100), reading(3), false, 5, true],
  ["it is up for less long than the command is ago", reading(4), reading(5), false, 20, true],
  ["it says that it is starting", reading(100), reading(null, starting), false, 5, true],
  ["it was starting already", reading(null, starting), reading(null, starting), false, 5, false],
  ["it was away and says no uptime", reading(null), reading(null), true, 5, true],
  ["it answered all the time and says no uptime", reading(null), reading(null), false, 5, false],
  ["the command came just after its start, and it was away", reading(1), reading(3), true, 5, true],
  ["it was away, but its uptime has gone on", reading(100), reading(130), true, 30, false],
  ["the command came just after its start, and its uptime is late", reading(0), reading(3), false, 5, false],
])("a rig has restarted: %s", (_, before, now, wasAway, seconds, expected) => {
  expect(hasRestarted(before, now, { wasAway, seconds })).toBe(expected);
});
