import { expect, test } from "@jest/globals";
import { operationNames } from "../../src/contract/operations.ts";
import { fuzzService } from "../torture/fuzzed-service.ts";

/** They need a host with an agent, which the fuzz has not; test/end-to-end/hosts.test.ts does them. */
const ofAgents: readonly string[] = [
  ...["getHostSystemInfo", "getManagedMinerCommand", "getManagedMinerDownload", "confirmManagedMinerDownload"],
  "deleteBenchmark",
];
/** A fifth of all operations: some need a body that chance hardly makes. */
const mostNeverDone = Math.floor(operationNames.length / 5);
/** So that each operation is tried about as often, however many there are. */
const requests = 75 * operationNames.length;

test("for any request the service answers as documented, and keeps running", async () => {
  const { statuses, neverDone, flaws } = await fuzzService(requests, 20_261_121, mostNeverDone + ofAgents.length);
  expect(flaws).toEqual([]);
  // The fuzz gets past validation: most operations succeeded at least once.
  expect(neverDone.filter((name) => !ofAgents.includes(name)).length).toBeLessThanOrEqual(mostNeverDone);
  expect(statuses.get(200)).toBeGreaterThan(1_000);
});
