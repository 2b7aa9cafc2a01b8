import { afterEach, expect, test } from "@jest/globals";
import { problem } from "../../errors.ts";
import { caller, closeBenches } from "../bench.ts";
import { axeos, curtailmentBench } from "./curtailment-bench.ts";

afterEach(closeBenches);

const all = { target: { all: true }, level: "off" } as const;
const axeosRigs = (count: number) => Array.from({ length: count }, () => axeos);

test("nothing is given back on account of rigs that cannot be reached: they may still take their power", async () => {
  const { bench, start, get, settles, turn, mining } = await curtailmentBench(axeosRigs(4));
  await turn(10);
  const { id } = await start({ target: { share: 40 }, level: "off", order: "listed" });
  await settles(async () => (await get(id)).state === "holding", "the target");
  expect(await mining()).toEqual([false, false, true, true]);
  for (const index of [2, 3]) bench.rig(index).fault = "off";
  for (let turns = 0; turns < 12; turns += 1) await turn(30);
  for (const index of [2, 3]) bench.rig(index).fault = null;
  await turn(5);
  expect(await mining()).toEqual([false, false, true, true]);
});

test("what one curtailment has room for stays down while another holds it", async () => {
  const { start, get, settles, turn, mining, service } = await curtailmentBench(axeosRigs(3));
  await turn(10);
  const { id: one } = await start({ target: { share: 30 }, level: "off" });
  await settles(async () => (await get(one)).rigs.reached === 1, "the first");
  const { id: two } = await start(all);
  await settles(async () => (await mining()).every((each) => each === false), "the second");
  for (let turns = 0; turns < 8; turns += 1) await turn(30);
  expect(await mining()).toEqual([false, false, false]);
  await service.endCurtailment({ id: two }, caller);
  await settles(async () => (await get(two)).state === "ended", "the end of the second");
  expect((await mining()).filter((each) => each === false)).toHaveLength(1);
});

test("a rig that was sent its stop just before the service was killed is started again, also past the end", async () => {
  const { bench, clock, start, get, settles, turn, mining } = await curtailmentBench(axeosRigs(2));
  await turn(10);
  const { id } = await start({ ...all, until: new Date(clock.now() + 60_000).toISOString() });
  // The rigs have their commands; no turn has looked at them since.
  await bench.idle();
  await bench.restart(undefined, async () => clock.pass(3_600));
  await settles(async () => (await get(id)).state === "ended", "the end");
  expect((await get(id)).rigs).toMatchObject({ restored: 2, released: 0 });
  expect(await mining()).toEqual([true, true]);
});

test("a rig that mined is given back, although a person had stopped it long before", async () => {
  const { bench, service, get, settles, turn, ids, mining } = await curtailmentBench([axeos]);
  const [first = 0] = ids;
  await bench.act(first, { action: "stop" });
  await turn(60);
  bench.rig(0).model.mining = true;
  for (let hours = 0; hours < 3; hours += 1) await turn(1_800);
  const pace = { ramp: { parallel: 10, deadline: 60 }, restore: { parallel: 10, wait: 0 } };
  await service.addCurtailmentPlan({ key: "peak", ...all, order: "listed", safety: false, ...pace }, caller);
  await service.addSchedule({ key: "evening", cron: "0 0 1 1 *", lasts: 60, do: [{ curtail: "peak" }] }, caller);
  const { id } = await service.startCurtailment({ plan: "peak", reason: "peak" }, caller);
  await settles(async () => (await get(id)).rigs.reached === 1, "the stop");
  await service.endCurtailment({ id }, caller);
  await settles(async () => (await get(id)).state === "ended", "the end");
  expect(await mining()).toEqual([true]);
});

test("the least time that a rig is stopped passes before it has its power back, and nothing is reported", async () => {
  const { bench, start, get, settles, service, turn, mining } = await curtailmentBench([axeos], {
    power: { minOn: 0, minOff: 600 },
  });
  await turn(10);
  const { id } = await start(all);
  await settles(async () => (await get(id)).rigs.reached === 1, "the stop");
  await service.endCurtailment({ id }, caller);
  for (let minutes = 0; minutes < 8; minutes += 1) await turn(60);
  expect(await get(id)).toMatchObject({ state: "restoring", rigs: { reached: 1 } });
  await settles(async () => (await get(id)).state === "ended", "the end");
  expect(await mining()).toEqual([true]);
  expect(await bench.notifications()).toEqual([]);
});

test("the key of a curtailment of others is refused, and shows nothing of it", async () => {
  const { service, start, ids, turn } = await curtailmentBench(axeosRigs(2));
  const group = (await service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
  await service.changeMiner({ id: ids[0] ?? 0, group }, caller);
  const user = { id: 0, name: "anna", privilege: "control" as const, groups: [group] };
  const anna = { actor: "anna", userId: (await service.saveUser(user, caller)).id };
  await turn(10);
  await start({ ...all, key: "grid-42" });
  const asked = { ...all, reason: "peak", key: "grid-42", scope: { groups: ["Hall"] } };
  expect((await problem(service.startCurtailment(asked, anna))).code).toBe("in.use");
});

test("a rig that comes to the scope of a user who does not see it is left alone", async () => {
  const { service, ids, get, settles, turn, mining } = await curtailmentBench(axeosRigs(2));
  const [first = 0, second = 0] = ids;
  const group = (await service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
  await service.changeMiner({ id: first, group, tags: ["peak"] }, caller);
  const user = { id: 0, name: "anna", privilege: "control" as const, groups: [group] };
  const anna = { actor: "anna", userId: (await service.saveUser(user, caller)).id };
  await turn(10);
  const { id } = await service.startCurtailment({ ...all, reason: "peak", scope: { tags: ["peak"] } }, anna);
  await settles(async () => (await get(id)).rigs.reached === 1, "the stop");
  await service.changeMiner({ id: second, tags: ["peak"] }, caller);
  await turn(30);
  await turn(30);
  expect(await mining()).toEqual([false, true]);
  expect(await service.endCurtailment({ id }, anna)).toMatchObject({ id });
});
