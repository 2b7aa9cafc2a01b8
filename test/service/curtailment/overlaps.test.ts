import { afterEach, describe, expect, test } from "@jest/globals";
import { caller, closeBenches } from "../bench.ts";
import { axeos, curtailmentBench, whatsminer } from "./curtailment-bench.ts";

afterEach(closeBenches);

const all = { target: { all: true } } as const;

describe("two curtailments of a rig", () => {
  test("hold it until both have ended, and it gets back what it had before the first", async () => {
    const { bench, start, get, settles, service, turn, ids, mining } = await curtailmentBench([whatsminer]);
    const [first = 0] = ids;
    await turn(10);
    const power = (await bench.get(first)).readings.power ?? 0;
    const { id: one } = await start({ target: { share: 50 } });
    await settles(async () => (await get(one)).state === "holding", "the first");
    const { id: two } = await start({ ...all, level: "off" });
    await settles(async () => (await get(two)).rigs.reached === 1, "the second");
    await service.endCurtailment({ id: two }, caller);
    await settles(async () => (await get(two)).state === "ended", "the end of the second");
    await turn(120);
    expect((await bench.get(first)).readings.power).toBeLessThan(0.6 * power);
    await service.endCurtailment({ id: one }, caller);
    await settles(async () => (await get(one)).state === "ended", "the end of the first");
    await turn(600);
    expect(await mining()).toEqual([true]);
    expect((await bench.get(first)).readings.power).toBeGreaterThan(0.9 * power);
  });

  test("of which the first ends leave it to the second", async () => {
    const { start, get, settles, service, turn, mining } = await curtailmentBench([axeos, axeos]);
    await turn(10);
    const { id: one } = await start({ ...all, scope: { miners: ["rig 1"] } });
    await settles(async () => (await get(one)).state === "holding", "the first");
    const { id: two } = await start(all);
    await settles(async () => (await get(two)).state === "holding", "the second");
    await service.endCurtailment({ id: one }, caller);
    await settles(async () => (await get(one)).state === "ended", "the end of the first");
    await turn(120);
    expect(await mining()).toEqual([false, false]);
    await service.endCurtailment({ id: two }, caller);
    await settles(async () => (await get(two)).state === "ended", "the end of the second");
    expect(await mining()).toEqual([true, true]);
  });
});

test("a target that is raised gives rigs back at once, and one that is lowered takes more", async () => {
  const { start, get, settles, service, turn, mining } = await curtailmentBench([axeos, axeos, axeos, axeos]);
  await turn(10);
  const stopped = async () => (await mining()).filter((each) => each === false).length;
  const { id } = await start({ target: { share: 50 } });
  await settles(async () => (await stopped()) === 2, "half of them");
  await service.changeCurtailment({ id, target: { share: 65 } }, caller);
  await settles(async () => (await stopped()) === 3, "three of them");
  await service.changeCurtailment({ id, target: { share: 10 } }, caller);
  await settles(async () => (await stopped()) === 1, "one of them");
  await turn(30);
  expect((await get(id)).rigs).toMatchObject({ restored: 2, reached: 1 });
});

test("a curtailment ends automatically, and its wait passes before rigs start in all places", async () => {
  const { start, get, settles, clock, turn, mining } = await curtailmentBench([axeos, axeos]);
  await turn(10);
  const until = new Date(clock.now() + 60_000).toISOString();
  const { id } = await start({ ...all, until, restore: { parallel: 1, wait: 300 } });
  await settles(async () => (await get(id)).state === "holding", "the stop");
  await turn(60);
  expect((await get(id)).state).toBe("restoring");
  expect(await mining()).toEqual([false, false]);
  await turn(240);
  expect(await mining()).toEqual([false, false]);
  await settles(async () => (await get(id)).state === "ended", "the end");
  expect(await mining()).toEqual([true, true]);
});

test("a request with the same key is answered with the same curtailment, also once it is over", async () => {
  const { start, service, get, settles, turn } = await curtailmentBench([axeos]);
  await turn(10);
  const [one, other] = await Promise.all([start({ ...all, key: "4cp" }), start({ ...all, key: "4cp" })]);
  expect(other.id).toBe(one.id);
  await service.endCurtailment({ id: one.id }, caller);
  await settles(async () => (await get(one.id)).state === "ended", "the end");
  expect(await start({ ...all, key: "4cp" })).toMatchObject({ id: one.id, state: "ended" });
  expect(await service.listCurtailments({ limit: 10 }, caller)).toHaveLength(1);
});

test("loops and rules leave a rig alone until it has its power back, a person need not", async () => {
  const { bench, start, get, settles, service, turn, ids, mining } = await curtailmentBench([axeos, axeos]);
  const [first = 0, second = 0] = ids;
  await turn(10);
  const { id } = await start({ ...all, restore: { parallel: 1, wait: 300 } });
  await settles(async () => (await get(id)).rigs.reached === 2, "the stop");
  await service.endCurtailment({ id }, caller);
  await turn(10);
  expect((await bench.get(second)).power.heldBy?.what).toBe(`curtailment ${id} (peak)`);
  await bench.act(first, { action: "start" });
  expect(await mining()).toEqual([true, false]);
  await settles(async () => (await get(id)).state === "ended", "the end");
  expect(await mining()).toEqual([true, true]);
  expect((await bench.get(second)).power.heldBy).toBeNull();
});
