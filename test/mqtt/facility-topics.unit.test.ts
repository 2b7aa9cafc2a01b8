import { expect, test } from "@jest/globals";
import type { OperationName } from "../../src/contract/operations.ts";
import type { FacilityDeviceState } from "../../src/contract/resources.ts";
import { FacilityTopics } from "../../src/mqtt/facility.ts";
import { topicsOf } from "../../src/mqtt/topics.ts";

test("facility devices do not count as removed before the service was asked for them", async () => {
  const lists: (readonly FacilityDeviceState[])[] = [];
  const answers = [Promise.reject(new Error("not yet")), Promise.resolve([])];
  const topics = new FacilityTopics({
    service: { listFacility: () => answers.shift() ?? Promise.resolve([]) },
    connection: { isConnected: true, publish: () => undefined },
    topics: topicsOf("rigbridge"),
    announcer: { facility: (devices) => void lists.push(devices) },
    qos: 0,
    now: () => 0,
  });
  await topics.read(true);
  topics.follow(new Set<OperationName>(["listFacility"]));
  await topics.read();
  expect([topics.has("hall"), lists]).toEqual([null, []]);
  await topics.read();
  expect([topics.has("hall"), lists]).toEqual([false, [[]]]);
});
