import { expect } from "@jest/globals";
import fc from "fast-check";
import { RigbridgeError } from "../../../src/contract/problems.ts";
import { Control, Identity, RigReadings } from "../../../src/contract/readings.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { deadline } from "../rigs.ts";

/** Whatever is said, a rig is read within the contract, or the read fails as documented; nothing else is touched. */
export async function expectContractReads<T>(
  said: fc.Arbitrary<T>,
  rigSaying: (said: T) => Rig,
  numRuns: number,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(said, async (each) => {
      const rig = rigSaying(each);
      for (let reads = 0; reads < 2; reads += 1) {
        const reading = await rig.read(deadline()).catch((error: unknown) => {
          expect(error).toBeInstanceOf(RigbridgeError);
          return null;
        });
        if (reading === null) continue;
        expect(RigReadings.safeParse(reading.readings).error).toBeUndefined();
        expect(Control.array().safeParse(reading.controls).error).toBeUndefined();
        expect(Identity.safeParse(reading.identity).error).toBeUndefined();
        expect(reading.pools.filter(({ active }) => active).length).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns },
  );
  expect(Object.keys(Object.prototype)).toEqual([]);
}
