import { expect, test } from "@jest/globals";
import { PlaceSum } from "../../../src/service/miners/place-sums.ts";

const rig = { power: null, running: true, inRepair: false, dual: null, algorithmKey: "sha256" };

test("a hash rate that no rig reports is unknown and not 0", () => {
  const sum = new PlaceSum();
  sum.add({ ...rig, hashrate: 0, hashrateKnown: false });
  expect(sum.shown()).toMatchObject({ rigs: 1, mining: 1, hashrates: [] });
  sum.add({ ...rig, hashrate: 5, hashrateKnown: true });
  sum.add({ ...rig, hashrate: 0, hashrateKnown: true });
  expect(sum.shown().hashrates).toEqual([{ algorithm: "sha256", hashrate: 5 }]);
});
