import { expect, test } from "@jest/globals";
import type { OperationName } from "../../src/contract/operations.ts";
import { PolledTopics } from "../../src/mqtt/polled-topics.ts";

class OneTopic extends PolledTopics {
  payload = "1";
  reads = 0;

  protected async readAndPublish(): Promise<void> {
    this.reads += 1;
    await Promise.resolve();
    this.publishState("rb/one", this.payload);
  }
}

test("a state is published when it has changed, before it expires, and for a connection that is new; one read at a time", async () => {
  let now = 0;
  const published: string[] = [];
  const connection = { isConnected: true, publish: ({ payload }: { payload: string }) => void published.push(payload) };
  const topics = new OneTopic({ connection, qos: 0, now: () => now }, "listFacility");
  const at = async (seconds: number, always = false) => {
    now = seconds * 1000;
    await topics.read(always);
    return published.splice(0);
  };
  expect([await at(0), topics.reads]).toEqual([[], 0]);
  topics.follow(new Set<OperationName>(["listFacility"]));
  await Promise.all([topics.read(), topics.read()]);
  expect([published.splice(0), topics.reads]).toEqual([["1"], 1]);
  expect([await at(49), await at(50), await at(51)]).toEqual([[], ["1"], []]);
  topics.payload = "2";
  expect([await at(52), await at(53), await at(54, true)]).toEqual([["2"], [], ["2"]]);
});
