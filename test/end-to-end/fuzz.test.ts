import { expect, test } from "vitest";
import { fuzzService } from "../torture/fuzzed-service.ts";

test("for any request the service answers as documented, and keeps running", async () => {
  const { statuses, neverDone, flaws } = await fuzzService(8_000, 20_261_121, 11);
  expect(flaws).toEqual([]);
  // The fuzz gets past validation: most operations succeeded at least once.
  expect(neverDone.length).toBeLessThan(12);
  expect(statuses.get(200)).toBeGreaterThan(1_000);
}, 60_000);
