import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { RigbridgeError } from "../../../src/contract/problems.ts";
import { powerOf } from "../../../src/simulator/facility/meter-model.ts";
import { startModbusMeter } from "../../../src/simulator/index.ts";
import { problem } from "../../errors.ts";
import { ownHost } from "../../own-host.ts";
import { until } from "../../until.ts";
import { caller, closeBenches } from "../bench.ts";
import { axeos, curtailmentBench, whatsminer } from "./curtailment-bench.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  await closeBenches();
  for (const close of closing.splice(0).reverse()) await close();
});

/** Three rigs at a place with a meter that may take so much. */
async function limitedBench(maxPower: number, rigs = [whatsminer, whatsminer, whatsminer]) {
  const bench = await curtailmentBench(rigs);
  const { service, clock, ids, turn, settles } = bench;
  const meter = await startModbusMeter({ rigs: bench.bench.farm.rigs, host: ownHost(), clock: clock.now });
  closing.push(() => meter.close());
  const settings = {
    key: "main",
    kind: "meter",
    driver: "modbus",
    address: meter.address,
    preset: "sdm630",
    interval: 5,
  };
  await service.saveSettings({ section: "facility", value: [settings] }, caller);
  await turn(10);
  const body = { kind: "site", name: "Texas", parentId: null, order: 0, meter: "main" } as const;
  const place = await service.addPlace(body, caller);
  for (const id of ids) await service.changeMiner({ id, placeId: place.id }, caller);
  await turn(10);
  const setMost = (watts: number | null) => service.changePlace({ id: place.id, maxPower: watts }, caller);
  await setMost(maxPower);
  const active = async () => (await service.listCurtailments({ active: true, limit: 5 }, caller))[0];
  const metered = () => bench.bench.farm.rigs.reduce((sum, rig) => sum + powerOf(rig), meter.base);
  const within = (watts: number) => settles(async () => metered() <= watts, `${watts} W`);
  return { ...bench, meter, setMost, active, metered, within, place };
}

describe("a place with a limit", () => {
  test("is held to four fifths of it, and its rigs get their power back once it is raised", async () => {
    const { active, metered, within, setMost, settles, turn, mining } = await limitedBench(11_000);
    const before = metered();
    expect(before).toBeGreaterThan(8_800);
    await turn(5);
    expect(await active()).toBeUndefined();
    await within(8_850);
    expect(await mining()).toEqual([true, true, true]);
    expect(await active()).toMatchObject({
      cause: "limit",
      safety: true,
      order: "efficiency",
      reason: "Limit of Texas",
    });
    await setMost(20_000);
    await settles(async () => (await active()) === undefined, "the end of the limit");
    await settles(async () => metered() > 0.95 * before, "the rigs' power");
  });

  test("that is passed for five seconds lowers the largest rigs at once, and says so", async () => {
    const { bench, active, within, turn } = await limitedBench(5_000);
    await turn(1);
    expect(await active()).toBeUndefined();
    await turn(6);
    expect(await active()).toMatchObject({ order: "power", target: { limit: 4_000 } });
    expect(await bench.notifications()).toContainEqual(expect.stringMatching(/Texas takes \d+ W, above the 5000 W/));
    await within(4_050);
  });

  test("counts what its meter shows besides the rigs", async () => {
    const { meter, within, turn } = await limitedBench(20_000);
    await turn(60);
    meter.base = 12_000;
    await within(16_100);
  });

  test("whose meter says nothing that can be believed goes by its rigs and 5 % more, and says so", async () => {
    const { bench, meter, metered, settles, ids } = await limitedBench(11_000);
    meter.fault = "nan";
    const isSaid = async () =>
      (await bench.service.listNotifications({}, caller)).notificationList.some(
        ({ message, closedUtc }) => message.includes("its meter is silent") && closedUtc === null,
      );
    await settles(isSaid, "the notice");
    const sum = async () => {
      const powers = await Promise.all(ids.map(async (id) => (await bench.get(id)).readings.power ?? 0));
      return powers.reduce((total, each) => total + each, 0);
    };
    await settles(async () => (await sum()) <= 8_800 / 1.05 + 60, "the rigs");
    expect(metered()).toBeLessThan(8_800);
    meter.fault = null;
    await settles(async () => !(await isSaid()), "the end of the notice");
  });

  test("keeps people from starting what it has stopped, and a removed limit ends it", async () => {
    const { bench, active, ids, setMost, settles, mining } = await limitedBench(30, [axeos, axeos, axeos]);
    await settles(async () => (await mining()).includes(false), "a stop");
    const stopped = ids[(await mining()).indexOf(false)] ?? 0;
    await expect(bench.act(stopped, { action: "start" })).rejects.toMatchObject({ code: "not.possible" });
    await setMost(null);
    await settles(async () => (await active()) === undefined, "the end of the limit");
    expect(await mining()).toEqual([true, true, true]);
  });
});

describe("while the store is away", () => {
  /** Two rigs, each at a place of its own. */
  async function twoPlaces() {
    const bench = await curtailmentBench([axeos, axeos]);
    const { service, ids, turn } = bench;
    await turn(10);
    const places: number[] = [];
    for (const id of ids) {
      const body = { kind: "site", name: `Site ${id}`, parentId: null, order: 0 } as const;
      const { id: placeId } = await service.addPlace(body, caller);
      await service.changeMiner({ id, placeId }, caller);
      places.push(placeId);
    }
    const save = jest.spyOn(bench.bench.store.curtailments, "save");
    closing.push(() => save.mockRestore());
    const limit = (index: number) => service.changePlace({ id: places[index] ?? 0, maxPower: 1 }, caller);
    return { ...bench, limit, save };
  }
  const away = () => new RigbridgeError("service.store-away", "The store is away");

  test("a place is looked at although another has waited for the store", async () => {
    const { clock, turn, mining, limit, save } = await twoPlaces();
    save.mockImplementation(async () => {
      clock.pass(10);
      throw away();
    });
    await limit(0);
    await turn(1);
    await turn(6);
    expect(await mining()).toEqual([false, true]);
    await limit(1);
    await turn(1);
    await turn(6);
    expect(await mining()).toEqual([false, false]);
  });

  test("places wait for it side by side", async () => {
    const { turn, mining, limit, save } = await twoPlaces();
    const answer = Promise.withResolvers<void>();
    save.mockImplementation(() => answer.promise);
    await limit(0);
    await limit(1);
    await turn(1);
    const turning = turn(6);
    await until(() => save.mock.calls.length === 2, "both places to wait");
    answer.reject(away());
    await turning;
    expect(await mining()).toEqual([false, false]);
  });
});

test("the curtailment of a limit is changed at its place", async () => {
  const { service, active, turn, within } = await limitedBench(5_000);
  await turn(1);
  await turn(6);
  await within(4_050);
  const { id = 0, target } = (await active()) ?? {};
  expect(await problem(service.changeCurtailment({ id, target: { limit: 9_000 } }, caller))).toMatchObject({
    code: "not.possible",
    message: expect.stringContaining("change the maximum power (maxPower) of that place"),
  });
  expect((await active())?.target).toEqual(target);
});
