import { expect, test } from "@jest/globals";
import { efficiencyOf } from "../../src/contract/efficiency.ts";

const rig = { hashrate: 95e12, hashrateExpected: 100e12, power: 3250 };

test.each<[string, Partial<typeof rig> | { hashrateExpected: null }, number | null, boolean]>([
  ["near its expected hash rate, also soon after the start", {}, 60, true],
  ["far from it", { hashrate: 24e9 }, 60, false],
  ["far from it, but for ten minutes: a board may be off", { hashrate: 60e12 }, 600, true],
  ["of unknown expected hash rate, at first", { hashrateExpected: null }, 599, false],
  ["of unknown expected hash rate, once it has settled", { hashrateExpected: null }, 600, true],
  ["whose time of hashing is unknown", {}, null, false],
  ["that draws nothing", { power: 0 }, 6000, false],
  ["that hashes nothing", { hashrate: 0 }, 6000, false],
])("of a rig %s", (_, changes, seconds, isKnown) => {
  const figures = { ...rig, ...changes };
  expect(efficiencyOf(figures, seconds)).toBe(isKnown ? figures.power / figures.hashrate : null);
});
