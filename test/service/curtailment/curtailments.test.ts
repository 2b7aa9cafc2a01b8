import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { problem } from "../../errors.ts";
import { until } from "../../until.ts";
import { caller, closeBenches } from "../bench.ts";
import { axeos, curtailmentBench, whatsminer } from "./curtailment-bench.ts";

afterEach(closeBenches);

describe("a curtailment", () => {
  test("lowers rigs until their readings show the target, and gives back what they had", async () => {
    const { bench, start, get, report, mining, settles, service, ids, turn } = await curtailmentBench([
      whatsminer,
      whatsminer,
      whatsminer,
    ]);
    await turn(10);
    const before = await Promise.all(ids.map(async (id) => (await bench.get(id)).readings.power ?? 0));
    const total = before.reduce((sum, each) => sum + each, 0);
    const reduce = 4_000;
    const { id, power } = await start({ target: { reduce } });
    expect(power.baseline).toBe(Math.round(total));
    expect(power.target).toBe(Math.round(total - reduce));
    await settles(async () => (await get(id)).state === "holding", "the target");
    const held = await get(id);
    expect(held.power.now).toBeLessThanOrEqual(held.power.target + 60);
    expect(held.reached).not.toBeNull();
    expect(held.seconds).toBe(0);
    expect(await mining()).toEqual([true, true, true]);
    expect(held.rigs).toMatchObject({ total: 3, reached: 2 });
    for (let minutes = 0; minutes < 6; minutes += 1) await turn(60);
    await service.endCurtailment({ id }, caller);
    await settles(async () => (await get(id)).state === "ended", "the rigs' power");
    expect(await mining()).toEqual([true, true, true]);
    const { rigs, shed } = await report(id);
    for (const rig of rigs) expect(rig).toMatchObject({ state: "restored", message: "" });
    // 4 kW for a tenth of an hour.
    expect(shed.energy).toBeCloseTo(0.4, 1);
    const after = await Promise.all(
      ids.map(async (each) => (await bench.get(each)).controls.find(({ key }) => key === "power_limit")?.value),
    );
    expect(new Set(after).size).toBe(1);
  });

  test("whose target is changed has to reach the new one", async () => {
    const { start, get, report, settles, service, turn } = await curtailmentBench([whatsminer, whatsminer]);
    await turn(10);
    const { id } = await start({ target: { reduce: 1_000 } });
    await settles(async () => (await get(id)).reached !== null, "the target");
    for (let minutes = 0; minutes < 60; minutes += 1) await turn(60);
    const before = (await report(id)).shed.shortfall ?? Number.NaN;
    expect((await service.changeCurtailment({ id, target: { reduce: 2_000 } }, caller)).reached).toBeNull();
    await settles(async () => (await get(id)).reached !== null, "the new target");
    await turn(60);
    expect((await report(id)).shed.shortfall).toBeLessThan(before + 0.01);
  });

  test("that stops rigs takes the most wasteful first", async () => {
    const { start, get, report, settles, turn, service } = await curtailmentBench([whatsminer, axeos, whatsminer]);
    await turn(10);
    const { id } = await start({ target: { reduce: 4_000 }, level: "off", order: "power" });
    await settles(async () => (await get(id)).state === "holding", "the target");
    const { rigs } = await report(id);
    expect(rigs.map(({ name, state, wanted }) => ({ name, state, wanted }))).toEqual(
      expect.arrayContaining([
        { name: "rig 1", state: "reached", wanted: 0 },
        { name: "rig 3", state: "reached", wanted: 0 },
      ]),
    );
    expect(rigs).toHaveLength(2);
    await service.releaseCurtailment({ id }, caller);
    const ended = await get(id);
    expect(ended).toMatchObject({ state: "ended", rigs: { released: 2 } });
  });

  test("of all stops every rig, and what a person stopped before stays stopped", async () => {
    const { bench, start, get, mining, settles, service, ids, turn } = await curtailmentBench([whatsminer, whatsminer]);
    const [first = 0] = ids;
    await bench.act(first, { action: "stop" });
    await turn(10);
    const { id } = await start({ target: { all: true } });
    await settles(async () => (await get(id)).state === "holding", "the stop");
    expect(await mining()).toEqual([false, false]);
    expect((await get(id)).rigs).toMatchObject({ total: 2, reached: 1 });
    await service.endCurtailment({ id }, caller);
    await settles(async () => (await get(id)).state === "ended", "the end");
    expect(await mining()).toEqual([false, true]);
  });

  test("that is asked for again with its key is the same one, also while its rigs are stopped", async () => {
    const { start, get, settles, turn } = await curtailmentBench([whatsminer]);
    await turn(10);
    const wanted = { target: { all: true }, key: "grid-1" } as const;
    const { id } = await start(wanted);
    await settles(async () => (await get(id)).state === "holding", "the stop");
    expect((await start(wanted)).id).toBe(id);
    expect(await problem(start({ ...wanted, key: "grid-2" }))).toMatchObject({ code: "nothing.to.do" });
  });

  test("that asks for more than there is says so", async () => {
    const { service, turn, start, get, settles } = await curtailmentBench([whatsminer]);
    await turn(10);
    const preview = await service.previewCurtailment({ target: { reduce: 40_000 } }, caller);
    expect(preview).toMatchObject({ stopped: 1, lowered: 0, power: { target: 0, after: 0 } });
    const { id } = await start({ target: { reduce: 40_000 } });
    await settles(async () => (await get(id)).rigs.reached === 1, "the stop");
  });

  test("of rigs of which none can be curtailed is refused", async () => {
    const { bench, start, ids } = await curtailmentBench([whatsminer]);
    const { id: placeId } = await bench.service.addPlace(
      { kind: "site", name: "Texas", parentId: null, order: 0, exempt: true },
      caller,
    );
    await bench.service.changeMiner({ id: ids[0] ?? 0, placeId }, caller);
    const refused = await problem(start({ target: { all: true } }));
    expect(refused.code).toBe("nothing.to.do");
    const { leftOut } = await bench.service.previewCurtailment({ target: { all: true } }, caller);
    expect(leftOut).toEqual([{ code: "not.possible", message: "Its place is exempt from curtailment", miners: 1 }]);
  });

  test.each([0, 1])("stops the rig first whose J/TH was the worst over the last day (rig %d)", async (worst) => {
    const { bench, ids, start, turn, settles, get, mining, now } = await curtailmentBench([axeos, axeos]);
    await turn(10);
    const samples = ids.flatMap((minerId, index) =>
      Array.from({ length: 90 }, (_, minute) => ({
        minerId,
        time: now() - minute * 60_000,
        hashrate: 1e12,
        power: index === worst ? 20 : 15,
        temperature: null,
        energy: null,
      })),
    );
    await bench.store.samples.append(samples);
    await turn(3_600);
    await turn(1);
    const { id } = await start({ target: { reduce: 5 }, level: "off" });
    await settles(async () => (await get(id)).state === "holding", "the target");
    expect((await mining()).indexOf(false)).toBe(worst);
    expect(await mining()).toContain(true);
  });
});

describe("the end of a curtailment", () => {
  /** One that holds its rig down, and the changes of its row while the store does not answer. */
  async function held() {
    const bench = await curtailmentBench([axeos]);
    const { turn, start, settles, get } = bench;
    await turn(10);
    const { id } = await start({ target: { all: true } });
    await settles(async () => (await get(id)).state === "holding", "the stop");
    const { curtailments } = bench.bench.store;
    const stored = curtailments.save.bind(curtailments);
    return { ...bench, id, stored, save: jest.spyOn(curtailments, "save") };
  }

  test("refuses a change that was asked for while it was being stored", async () => {
    const { service, id, save, stored } = await held();
    const answer = Promise.withResolvers<void>();
    save.mockImplementation((...row) => answer.promise.then(() => stored(...row)));
    const ending = service.endCurtailment({ id }, caller);
    await until(() => save.mock.calls.length > 0, "the end");
    const refused = problem(service.changeCurtailment({ id, target: { reduce: 1 } }, caller));
    answer.resolve();
    await ending;
    expect(await refused).toMatchObject({ code: "not.possible" });
  });

  test("is that at which it takes its turn, not that at which it is asked for", async () => {
    const { service, clock, now, id, save, stored, get } = await held();
    const answer = Promise.withResolvers<void>();
    save.mockImplementation((...row) => answer.promise.then(() => stored(...row)));
    const changing = service.changeCurtailment({ id, target: { all: true } }, caller);
    await until(() => save.mock.calls.length > 0, "the change");
    const ending = service.endCurtailment({ id }, caller);
    clock.pass(60);
    answer.resolve();
    await Promise.all([changing, ending]);
    expect((await get(id)).ended).toBe(new Date(now()).toISOString());
  });

  test("is measured once, also if the clock is set back after it", async () => {
    const { bench, service, setClock, turn, id, save, stored } = await held();
    bench.rig(0).fault = "off";
    save.mockImplementationOnce(async (...row) => {
      await stored(...row);
      setClock(-3_600);
    });
    await service.endCurtailment({ id }, caller);
    save.mockClear();
    for (let turns = 0; turns < 3; turns += 1) await turn(1);
    expect(save.mock.calls.filter(([, { curtailment }]) => curtailment !== undefined)).toEqual([]);
  });
});
