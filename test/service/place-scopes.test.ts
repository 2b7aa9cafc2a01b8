import { afterEach, describe, expect, test } from "@jest/globals";
import type { PlaceKind } from "../../src/contract/places.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { stoppedClock } from "../clock.ts";
import { problem } from "../errors.ts";
import { ownHost } from "../own-host.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const place = async (bench: Bench, kind: PlaceKind, name: string, parentId: number | null = null) =>
  (await bench.service.addPlace({ kind, name, parentId, order: 0 }, caller)).id;
const silentRig = async (bench: Bench, index: number, placeId: number, more: object = {}) =>
  (await bench.service.addMiner({ address: `${ownHost()}:${index}`, placeId, ...more }, caller)).id;

/** A site with a row and a rack in it, with a rig each. */
async function openSite(options: Parameters<typeof openBench>[0] = {}) {
  const bench = await openBench(options);
  const site = await place(bench, "site", "Texas");
  const row = await place(bench, "row", "A", site);
  const rack = await place(bench, "rack", "R1", row);
  const ids = [await silentRig(bench, 1, site), await silentRig(bench, 2, rack)];
  return { bench, site, row, rack, ids };
}

/** The miners of the manual rule `hot`. */
async function members({ service }: Bench): Promise<number[]> {
  const body = {
    action: "rule",
    parameters: { rule_id: "hot" },
    all: true,
    parallel: 1,
    delay: 0,
    dryRun: true,
  } as const;
  try {
    const { id } = await service.startBulkAction(body, caller);
    return (await service.getBulkAction({ id }, caller)).results.map(({ minerId }) => minerId);
  } catch (error) {
    if (error instanceof RigbridgeError && error.code === "nothing.to.do") return [];
    throw error;
  }
}

describe("rules, schedules and maintenance windows", () => {
  test("take places by id and path, follow what is in them, and name the nearest for one that there is not", async () => {
    const { bench, site, row, rack, ids } = await openSite();
    const { service } = bench;
    const rule = { key: "hot", manual: true, do: [{ action: "restart" as const }] };
    const wrong = await problem(service.addRule({ ...rule, scope: { places: ["Texas/B"] } }, caller));
    expect(wrong.message).toBe('scope.places[0]: there is no place Texas/B; did you mean "Texas/A"?');
    expect((await problem(service.addRule({ ...rule, scope: { places: [99] } }, caller))).message).toBe(
      "scope.places[0]: there is no place 99",
    );
    await service.addRule({ ...rule, scope: { places: ["texas/a"] } }, caller);
    expect(await members(bench)).toEqual(ids.slice(1));
    await service.changePlace({ id: row, name: "B" }, caller);
    expect(await members(bench)).toEqual([]);
    await service.changePlace({ id: row, name: "A" }, caller);
    await service.changePlace({ id: row, parentId: null }, caller);
    await service.addPlace({ kind: "row", name: "A", parentId: site, order: 0 }, caller);
    expect(await members(bench)).toEqual([]);
    await service.changeRule({ id: "hot", scope: { places: [rack, site] } }, caller);
    expect(await members(bench)).toEqual(ids);
    const schedule = { key: "night", cron: "0 0 * * *", do: [{ action: "stop" as const }] };
    expect((await problem(service.addSchedule({ ...schedule, scope: { places: ["Ohio"] } }, caller))).message).toBe(
      "scope.places[0]: there is no place Ohio",
    );
    await service.addSchedule({ ...schedule, scope: { places: [site] } }, caller);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const window = await service.addMaintenance({ name: "Fans", until, places: ["Texas"] }, caller);
    expect(window.miners).toBe(1);
  });

  test("of the file name places that its locations make", async () => {
    const bench = await openBench({
      config: {
        miners: [{ address: `${ownHost()}:1`, location: { site: "Texas" } }, { address: `${ownHost()}:2` }],
        rules: [{ key: "hot", manual: true, scope: { places: ["Texas"] }, do: [{ action: "stop" }] }],
      },
    });
    expect(await members(bench)).toEqual([bench.store.miners.all()[0]?.id]);
  });
});

test("a bulk action takes places by id and path, with those inside them", async () => {
  const { bench, site, rack, ids } = await openSite();
  const body = { action: "stop", parameters: {}, parallel: 1, delay: 0, dryRun: true } as const;
  const miners = async (places: (number | string)[]) => {
    const { id } = await bench.service.startBulkAction({ ...body, places }, caller);
    return (await bench.service.getBulkAction({ id }, caller)).results.map(({ minerId }) => minerId);
  };
  expect(await miners([site])).toEqual(ids);
  expect(await miners(["Texas/A", rack])).toEqual(ids.slice(1));
  const message = async (places: (number | string)[]) =>
    (await problem(bench.service.startBulkAction({ ...body, places }, caller))).message;
  expect(await message(["Texas/A/R2"])).toBe('places[0]: there is no place Texas/A/R2; did you mean "Texas/A/R1"?');
  expect(await message([await place(bench, "site", "Ohio")])).toBe("places: these places have no miners");
});

test("a user of some groups names only places of their miners", async () => {
  const bench = await openBench({ config: { groups: [{ name: "Hall" }] } });
  const [hall] = await bench.service.listGroups({}, caller);
  const site = await place(bench, "site", "Texas");
  await silentRig(bench, 1, await place(bench, "rack", "Hidden", site));
  const id = await silentRig(bench, 2, await place(bench, "rack", "Shown", site), { group: "Hall" });
  const { id: userId } = await bench.service.saveUser(
    { id: 0, name: "anna", privilege: "administrator", groups: [hall?.id ?? 0], pools: null },
    caller,
  );
  const anna = { actor: "test", userId };
  const body = { action: "stop", parameters: {}, parallel: 1, delay: 0, dryRun: true } as const;
  const { id: job } = await bench.service.startBulkAction({ ...body, places: ["Texas"] }, anna);
  expect((await bench.service.getBulkAction({ id: job }, anna)).results.map(({ minerId }) => minerId)).toEqual([id]);
  expect((await problem(bench.service.startBulkAction({ ...body, places: ["Texas/Hiden"] }, anna))).message).toBe(
    "places[0]: there is no place Texas/Hiden",
  );
  const rule = { key: "hot", manual: true, do: [{ action: "restart" as const }] };
  expect((await problem(bench.service.addRule({ ...rule, scope: { places: ["Texas/Hidden"] } }, anna))).message).toBe(
    "scope.places[0]: there is no place Texas/Hidden",
  );
});

test("sites, buildings and rows have a history, and every place its money", async () => {
  const clock = stoppedClock(1_800_000_000_000);
  let record = async (): Promise<void> => undefined;
  const { bench, site, row, rack } = await openSite({
    rigs: [{ kind: "axeos", warm: true }],
    clock: clock.now,
    config: { electricity: { price: 0.25 } },
    historyTurns: (work) => {
      record = work;
      return () => undefined;
    },
  });
  const id = await bench.add(bench.rig(0).address, { placeId: rack });
  clock.pass(301);
  await record();
  const history = async (asked: object) =>
    (await bench.service.getSummaryHistory({ from: clock.now() - 600_000, step: 0, ...asked }, caller)).points;
  const power = (await bench.get(id)).readings.power;
  expect(await history({ place: row })).toEqual([
    [expect.any(Number), expect.any(Number), power, 1, 2, null, expect.any(Number), null],
  ]);
  expect((await history({ place: "Texas" }))[0]?.slice(2, 5)).toEqual([power, 1, 3]);
  expect((await problem(history({ place: rack }))).message).toContain("place: is a rack");
  expect((await problem(history({ place: "Texs" }))).message).toBe(
    'place: there is no place Texs; did you mean "Texas"?',
  );
  clock.pass(3_600);
  await bench.poll(id);
  const { list } = await bench.service.getMoney({ of: "place" }, caller);
  expect(list.map(({ id: subject, name }) => [subject, name]).toSorted()).toEqual(
    [
      [site, "Texas"],
      [row, "Texas/A"],
      [rack, "Texas/A/R1"],
    ].toSorted(),
  );
  await bench.service.deletePlace({ id: row }, caller);
  expect((await bench.service.getMoney({ of: "place" }, caller)).list.map(({ name }) => name).toSorted()).toEqual([
    "Texas",
    "Texas/R1",
  ]);
});
