import { afterEach, describe, expect, test } from "@jest/globals";
import { problem } from "../../errors.ts";
import { caller, closeBenches } from "../bench.ts";
import { axeos, curtailmentBench, whatsminer } from "./curtailment-bench.ts";

afterEach(closeBenches);

const all = { target: { all: true } } as const;

describe("a rig of a curtailment", () => {
  test("that cannot be reached is stopped when it returns", async () => {
    const { bench, start, get, mining, settles, turn } = await curtailmentBench([axeos, axeos]);
    await turn(10);
    bench.rig(0).fault = "off";
    await turn(10);
    const { id } = await start(all);
    await settles(async () => (await get(id)).rigs.reached === 1, "the other rig");
    bench.rig(0).fault = null;
    await settles(async () => (await get(id)).rigs.reached === 2, "the rig that was away");
    expect(await mining()).toEqual([false, false]);
  });

  test("that a person starts is theirs: it is not stopped again, nor counted as given back", async () => {
    const { bench, start, get, report, settles, service, ids, turn, mining } = await curtailmentBench([axeos, axeos]);
    const [first = 0] = ids;
    await turn(10);
    const { id } = await start(all);
    await settles(async () => (await get(id)).rigs.reached === 2, "the stop");
    await bench.act(first, { action: "start" });
    await turn(120);
    await turn(120);
    expect(await mining()).toEqual([true, false]);
    const { rigs } = await report(id);
    expect(rigs.find(({ minerId }) => minerId === first)).toMatchObject({ state: "taken", message: "set by test" });
    await service.endCurtailment({ id }, caller);
    await settles(async () => (await get(id)).state === "ended", "the end");
    expect((await get(id)).rigs).toMatchObject({ taken: 1, restored: 1 });
  });

  test("that a person stops meanwhile stays stopped when it ends", async () => {
    const { bench, start, get, settles, service, ids, turn, mining } = await curtailmentBench([axeos]);
    const [first = 0] = ids;
    await turn(10);
    const { id } = await start(all);
    await settles(async () => (await get(id)).rigs.reached === 1, "the stop");
    // It is stopped already, so that it is only noted.
    await bench.act(first, { action: "start" });
    await bench.act(first, { action: "stop" });
    await turn(10);
    await service.endCurtailment({ id }, caller);
    await settles(async () => (await get(id)).state === "ended", "the end");
    expect(await mining()).toEqual([false]);
  });

  test("of a plan for safety is refused to people, unless they override it", async () => {
    const { bench, service, get, report, settles, ids, turn, mining } = await curtailmentBench([axeos]);
    const [first = 0] = ids;
    const added = { key: "peak", ...all, order: "efficiency", level: "off", safety: true } as const;
    const pace = { ramp: { parallel: 10, deadline: 60 }, restore: { parallel: 10, wait: 0 } };
    await service.addCurtailmentPlan({ ...added, ...pace }, caller);
    await turn(10);
    const { id } = await service.startCurtailment({ plan: "peak", reason: "4CP" }, caller);
    await settles(async () => (await get(id)).rigs.reached === 1, "the stop");
    const refused = await problem(bench.act(first, { action: "start" }));
    expect(refused).toMatchObject({ code: "not.possible" });
    expect(refused.message).toContain(`curtailment ${id} (4CP)`);
    await bench.act(first, { action: "start", override: true });
    await turn(10);
    expect(await mining()).toEqual([true]);
    const [rig] = (await report(id)).rigs;
    expect(rig).toMatchObject({ state: "taken", message: "set by test, against the curtailment" });
  });

  test("that starts automatically is stopped three times more, and reported then", async () => {
    const { bench, start, get, report, settles, turn } = await curtailmentBench([axeos]);
    await turn(10);
    const { id } = await start(all);
    for (let wake = 0; wake < 4; wake += 1) {
      await settles(async () => (await get(id)).rigs.reached === 1, "the stop");
      bench.rig(0).model.mining = true;
      await turn(10);
    }
    await settles(async () => (await get(id)).rigs.failed === 1, "the rig to be given up");
    expect((await report(id)).rigs[0]).toMatchObject({ message: "It keeps starting automatically" });
    expect(await bench.notifications()).toContainEqual(expect.stringContaining(`although curtailment ${id} holds it`));
  });

  test("that refuses is tried three times, and others are stopped for it", async () => {
    const { bench, start, get, report, settles, turn, ids, mining } = await curtailmentBench([axeos, axeos, axeos]);
    await turn(10);
    const power = (await bench.get(ids[0] ?? 0)).readings.power ?? 0;
    bench.rig(0).fault = "denied";
    const { id } = await start({ target: { reduce: Math.floor(power) - 1 }, order: "listed" });
    await settles(async () => (await mining()).filter((each) => each === false).length === 1, "another rig");
    expect((await mining())[0]).toBe(true);
    await settles(async () => (await get(id)).rigs.failed === 1, "the rig to be given up");
    expect((await get(id)).state).toBe("holding");
    const refused = (await report(id)).rigs.find(({ minerId }) => minerId === ids[0]);
    expect(refused).toMatchObject({ state: "failed", tries: 3 });
    expect(refused?.message).not.toBe("");
    expect(await bench.notifications()).toContainEqual(expect.stringContaining("was sent its command three times"));
  });
});

test("rigs whose login is known to be wrong are left out", async () => {
  const { bench, service, ids, turn } = await curtailmentBench([whatsminer, whatsminer]);
  for (const id of ids) await service.changeMiner({ id, password: "changed" }, caller);
  await turn(10);
  for (const id of ids) await problem(bench.act(id, { action: "stop" }));
  await turn(10);
  const preview = await service.previewCurtailment(all, caller);
  expect(preview).toMatchObject({ stopped: 0, lowered: 0 });
  expect(preview.leftOut.map(({ code, miners }) => ({ code, miners }))).toEqual([{ code: "rig.login", miners: 2 }]);
});

test("a rig that was set to a lower power takes that while a read is missing", async () => {
  const { bench, start, get, settles, turn } = await curtailmentBench([whatsminer]);
  await turn(10);
  const { id } = await start({ target: { reduce: 1_000 } });
  await settles(async () => (await get(id)).rigs.reached === 1, "the lower power");
  await turn(60);
  const { now } = (await get(id)).power;
  bench.rig(0).fault = "off";
  await turn(1);
  expect(now).toBeGreaterThan(1_000);
  expect((await get(id)).power.now).toBe(now);
});

test("a rig that a person starts before the curtailment has told it anything is left alone", async () => {
  const { bench, start, get, settles, ids, turn, mining } = await curtailmentBench([axeos, axeos]);
  const [first = 0] = ids;
  await bench.act(first, { action: "stop" });
  await turn(10);
  const { id } = await start(all);
  await settles(async () => (await get(id)).rigs.reached === 1, "the other rig");
  await bench.act(first, { action: "start" });
  await turn(30);
  await turn(30);
  expect(await mining()).toEqual([true, false]);
  expect((await get(id)).rigs).toMatchObject({ total: 2, reached: 1, due: 0, sent: 0 });
});

test("users who do not see all rigs of a curtailment neither see nor begin it", async () => {
  const { bench, service, start, get, ids, turn } = await curtailmentBench([axeos, axeos]);
  const group = (await service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
  await service.changeMiner({ id: ids[0] ?? 0, group }, caller);
  const user = { id: 0, name: "anna", privilege: "control" as const, groups: [group] };
  const anna = { actor: "anna", userId: (await service.saveUser(user, caller)).id };
  await turn(10);
  const { id } = await start(all);
  expect((await problem(service.getCurtailment({ id }, anna))).code).toBe("not.found");
  expect((await problem(service.endCurtailment({ id }, anna))).code).toBe("not.found");
  expect(await service.listCurtailments({ limit: 10 }, anna)).toEqual([]);
  const asked = { ...all, reason: "peak" };
  expect((await problem(service.startCurtailment(asked, anna))).code).toBe("user.forbidden");
  const own = await service.startCurtailment({ ...asked, scope: { groups: ["Hall"] } }, anna);
  expect((await service.listCurtailments({ limit: 10 }, anna)).map((each) => each.id)).toEqual([own.id]);
  expect(await get(own.id)).toMatchObject({ actor: "anna", rigs: { total: 1 } });
  await bench.idle();
});

test("the list of a user of some groups is full although others have begun and ended many since", async () => {
  const { bench, service, ids, turn } = await curtailmentBench([axeos, axeos]);
  const [first = 0, second = 0] = ids;
  const group = (await service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
  await service.changeMiner({ id: first, group }, caller);
  const user = { id: 0, name: "anna", privilege: "control" as const, groups: [group] };
  const anna = { actor: "anna", userId: (await service.saveUser(user, caller)).id };
  await turn(10);
  const own = await service.startCurtailment({ ...all, scope: { groups: ["Hall"] }, reason: "peak" }, caller);
  await service.releaseCurtailment({ id: own.id }, caller);
  await bench.idle();
  const { curtailments } = bench.store;
  const row = await curtailments.get(own.id);
  const rig = (await curtailments.rigs(own.id)).get(first);
  if (row === undefined || rig === undefined) throw new Error("not stored");
  for (let n = 0; n < 250; n += 1) await curtailments.add({ ...row, key: null }, new Map([[second, rig]]));
  expect((await service.listCurtailments({ limit: 2 }, anna)).map(({ id }) => id)).toEqual([own.id]);
  expect((await service.listCurtailments({ limit: 2 }, caller)).map(({ id }) => id)).toEqual([
    own.id + 250,
    own.id + 249,
  ]);
  expect(await service.listCurtailments({ limit: 2, active: true }, caller)).toEqual([]);
});
