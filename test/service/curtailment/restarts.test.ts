import { afterEach, expect, test } from "@jest/globals";
import { caller, closeBenches } from "../bench.ts";
import { axeos, curtailmentBench } from "./curtailment-bench.ts";

afterEach(closeBenches);

const all = { target: { all: true }, level: "off" } as const;

/** The service stands still in each state and starts again: what it had begun goes on, and nothing is done twice. */
test.each(["curtailing", "holding", "restoring"] as const)("a restart while %s goes on", async (state) => {
  const { bench, start, get, report, settles, turn, mining, ids } = await curtailmentBench([axeos, axeos]);
  await turn(10);
  // Neither answers its command.
  if (state === "curtailing") for (const index of [0, 1]) bench.rig(index).fault = "silent";
  const { id } = await start(all);
  if (state === "curtailing") expect((await get(id)).state).toBe("curtailing");
  else await settles(async () => (await get(id)).rigs.reached === 2, "the stop");
  if (state === "restoring") await bench.service.endCurtailment({ id }, caller);
  await bench.restart();
  for (const index of [0, 1]) bench.rig(index).fault = null;
  expect((await get(id)).state).toBe(state);
  if (state !== "restoring") {
    await settles(async () => (await get(id)).rigs.reached === 2, "the stop after the restart");
    expect(await mining()).toEqual([false, false]);
    await bench.service.endCurtailment({ id }, caller);
  }
  await settles(async () => (await get(id)).state === "ended", "the end");
  expect(await mining()).toEqual([true, true]);
  for (const rig of (await report(id)).rigs) expect(rig.state).toBe("restored");
  for (const minerId of ids) {
    const stops = (await bench.commands(minerId)).filter(({ actor }) => actor === `service in curtailment ${id}`);
    expect(stops.filter(({ state }) => state === "done")).toHaveLength(2);
  }
});

test("a stop of the service keeps what was measured until its last turn", async () => {
  const { bench, start, get, settles, turn, now } = await curtailmentBench([axeos]);
  await turn(10);
  const { id } = await start(all);
  await settles(async () => (await get(id)).state === "holding", "the stop");
  await turn(30);
  const last = now();
  await bench.restart();
  expect((await bench.store.curtailments.get(id))?.measured?.rigs.at).toBe(last);
});
