import { afterEach, describe, expect, test } from "@jest/globals";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { setControl } from "../../src/service/commands/steps.ts";
import { endsStarts } from "../../src/service/power/precedence.ts";
import { problem } from "../errors.ts";
import { until } from "../until.ts";
import { caller } from "./bench.ts";
import { closeAll, steered } from "./command-bench.ts";

afterEach(closeAll);

const timeouts = { requestMs: 30_000, answerMs: 10_000, changeMs: 20_000 };

/** A stopped rig whose start waits until `release` is called. */
async function waitingStart(over: Partial<typeof timeouts> = {}) {
  const steering = await steered({ ...timeouts, ...over });
  const { executor, switchOff, rig, row, miner, store } = steering;
  await switchOff();
  rig.requests.writes.splice(0);
  const gate = Promise.withResolvers<void>();
  let waits = 0;
  let refusal: RigbridgeError | null = null;
  executor.guardStarts({
    waits: () => true,
    before: () => {
      waits += 1;
      return gate.promise;
    },
    ends: endsStarts,
    check: () => {
      if (refusal !== null) throw refusal;
    },
  });
  const run = (action: "start" | "stop", on: string) =>
    executor.run(miner, { minerId: 1, minerName: "one", action, parameters: {} }, caller, [setControl("mining", on)]);
  const started = run("start", "true");
  started.catch(() => undefined);
  await until(() => waits > 0, "the start to wait");
  const stateOf = async (id: number) => (await store.commands.get(id))?.state;
  return {
    ...steering,
    started,
    stop: () => run("stop", "false"),
    release: gate.resolve,
    refuse: (error: RigbridgeError) => {
      refusal = error;
    },
    id: (await row())?.id ?? 0,
    stateOf,
  };
}

describe("a start that waits for a fan", () => {
  test("counts as queued, and can be withdrawn", async () => {
    const { executor, id, stateOf, started, release, rig } = await waitingStart();
    expect(await stateOf(id)).toBe("queued");
    expect(await executor.withdraw(id, new RigbridgeError("not.possible", "enough"))).toBe(true);
    expect((await problem(started)).message).toBe("enough");
    release();
    await executor.settled();
    expect([await stateOf(id), rig.requests.writes]).toEqual(["failed", []]);
  });

  test("does not keep a stop waiting, and is not sent after it", async () => {
    const { executor, id, started, stop, release, rig, store } = await waitingStart();
    expect(await stop()).toMatchObject({ state: "done" });
    const { message } = await problem(started);
    expect(message).toBe("Not sent: a later command for this rig replaced the start while it waited");
    const sent = rig.requests.writes.length;
    release();
    await executor.settled();
    expect(rig.requests.writes).toHaveLength(sent);
    expect(await store.commands.get(id)).toMatchObject({ state: "failed", message });
  });

  test("is not sent if something has come to hold the rig's power meanwhile", async () => {
    const { id, stateOf, started, release, refuse, rig } = await waitingStart();
    refuse(new RigbridgeError("not.possible", "a safety rule controls it"));
    release();
    expect((await problem(started)).message).toBe("a safety rule controls it");
    expect([await stateOf(id), rig.requests.writes]).toEqual(["failed", []]);
  });

  test("is not sent if another rig answers by then", async () => {
    const { id, stateOf, started, release, rig } = await waitingStart();
    rig.fault = "other-rig";
    release();
    expect((await problem(started)).code).toBe("rig.other");
    expect([await stateOf(id), rig.requests.writes]).toEqual(["failed", []]);
  });

  test("has the whole time for its answer afterwards", async () => {
    const { id, stateOf, started, release } = await waitingStart({ answerMs: 1_000 });
    const from = performance.now();
    await until(() => performance.now() - from > 1_500, "more than that time");
    release();
    expect(await started).toMatchObject({ state: "done" });
    expect(await stateOf(id)).toBe("done");
  });
});
