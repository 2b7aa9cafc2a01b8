import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { bases, faultOfReading, mutation } from "./mutations.ts";

/** The whole 100,000 are `npm run torture -- faults-mutations`. fast-check prints the seed of what fails. */
const mutations = 6_000;

test(`${mutations} mutations of what rigs say are read within the contract, or fail as documented`, async () => {
  const all = await bases();
  await fc.assert(
    fc.asyncProperty(mutation(all.length), async (how) => {
      const base = all[how.base];
      expect(base === undefined ? "no base" : await faultOfReading(base, how)).toBeNull();
    }),
    { numRuns: mutations },
  );
});
