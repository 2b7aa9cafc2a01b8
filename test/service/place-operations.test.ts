import { afterEach, expect, test } from "@jest/globals";
import type { PlaceKind } from "../../src/contract/places.ts";
import type { Input } from "../../src/contract/service.ts";
import { stoppedClock } from "../clock.ts";
import { problem, refusal } from "../errors.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const place = async (bench: Bench, kind: PlaceKind, name: string, parentId: number | null = null, more: object = {}) =>
  (await bench.service.addPlace({ kind, name, parentId, order: 0, ...more }, caller)).id;
const change = (bench: Bench, id: number, body: Omit<Input<"changePlace">, "id">) =>
  bench.service.changePlace({ id, ...body }, caller);
const paths = async (bench: Bench, who = caller) =>
  (await bench.service.listPlaces({}, who)).map(({ path, rigs }) => `${path} ${rigs}`);
const silentRig = async (bench: Bench, index: number, placeId: number, more: object = {}) =>
  (await bench.service.addMiner({ address: `${ownHost()}:${index}`, placeId, ...more }, caller)).id;

test("places are listed with the sums of what is in them; unknown is null", async () => {
  const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }] });
  const site = await place(bench, "site", "Texas");
  const rack = await place(bench, "rack", "R1", site, { rows: 2, columns: 3 });
  const empty = await place(bench, "rack", "R2", site);
  await bench.add(bench.rig(0).address, { placeId: rack });
  await silentRig(bench, 9, site);
  await bench.idle();
  const list = await bench.service.listPlaces({}, caller);
  const sums = (id: number) => list.find((each) => each.id === id);
  const hashrates = [{ algorithm: "sha256", hashrate: expect.any(Number) }];
  expect(list.map(({ path }) => path)).toEqual(["Texas", "Texas/R1", "Texas/R2"]);
  expect(sums(rack)).toMatchObject({ rigs: 1, mining: 1, power: expect.any(Number), hashrates, rows: 2, columns: 3 });
  expect(sums(site)).toMatchObject({ rigs: 2, mining: 1, power: sums(rack)?.power, hashrates });
  expect(sums(empty)).toMatchObject({ rigs: 0, mining: 0, power: null, hashrates: [], alarms: 0 });
});

test("a place is inside a larger one under a name of its own, and keeps its miners' positions within its rows", async () => {
  const bench = await openBench();
  const site = await place(bench, "site", "Texas");
  const building = await place(bench, "building", "B1", site);
  const rack = await place(bench, "rack", "R1", building, { rows: 4 });
  const wrong = (kind: PlaceKind, name: string, parentId: number | null) => refusal(place(bench, kind, name, parentId));
  expect(await wrong("site", "Ohio", building)).toBe("input.invalid kind");
  expect(await wrong("rack", "R2", rack)).toBe("input.invalid kind");
  expect(await wrong("building", "b1", site)).toBe("input.invalid name");
  expect(await wrong("rack", "R2", 99)).toBe("input.invalid parentId");
  expect(await refusal(change(bench, building, { kind: "rack" }))).toBe("input.invalid kind");
  expect(await refusal(change(bench, site, { parentId: building }))).toBe("input.invalid parentId");
  expect(await refusal(change(bench, building, { kind: "rack", parentId: building }))).toBe("input.invalid parentId");
  const id = await silentRig(bench, 1, rack, { name: "Attic", position: { row: 3, column: 1 } });
  expect((await problem(change(bench, rack, { rows: 2 }))).message).toBe(
    `rows: must be at least 3: miner ${id} (Attic) is there`,
  );
  expect(await change(bench, rack, { rows: null, columns: 1, name: "R7", parentId: site })).toMatchObject({
    path: "Texas/R7",
    columns: 1,
  });
  expect((await bench.service.listPlaces({}, caller)).at(-1)?.rows).toBeUndefined();
  expect((await bench.get(id)).location).toEqual({ site: "Texas", container: null, rack: "R7", slot: null });
  expect(await refusal(bench.service.changeMiner({ id, position: { row: 1, column: 2 } }, caller))).toBe(
    "input.invalid position.column",
  );
});

test("what is in a place moves up when it is removed, and its miners lose their positions", async () => {
  const bench = await openBench();
  const site = await place(bench, "site", "Texas");
  const building = await place(bench, "building", "B1", site);
  await place(bench, "rack", "R1", building);
  const twin = await place(bench, "rack", "r1", site);
  const id = await silentRig(bench, 1, building, { position: { row: 1, column: 1 } });
  expect(await refusal(bench.service.deletePlace({ id: building }, caller))).toBe("in.use");
  await change(bench, twin, { name: "R2" });
  await bench.service.deletePlace({ id: building }, caller);
  expect(await paths(bench)).toEqual(["Texas 1", "Texas/R1 0", "Texas/R2 0"]);
  expect(await bench.get(id)).toMatchObject({
    placeId: site,
    position: null,
    location: { site: "Texas", container: null },
  });
  await bench.service.deletePlace({ id: site }, caller);
  expect(await bench.get(id)).toMatchObject({ placeId: null, location: { site: null } });
  expect(await refusal(bench.service.deletePlace({ id: site }, caller))).toBe("not.found");
});

test("a user of some groups sees the places of their miners, with those miners alone", async () => {
  const bench = await openBench({ config: { groups: [{ name: "Hall" }] } });
  const [hall] = await bench.service.listGroups({}, caller);
  const site = await place(bench, "site", "Texas");
  const rack = await place(bench, "rack", "R1", site, { maxPower: 9_000, meter: "M1", exempt: true });
  await silentRig(bench, 1, rack, { group: "Hall" });
  await silentRig(bench, 2, rack);
  await silentRig(bench, 3, await place(bench, "rack", "Hidden", site));
  const { id: userId } = await bench.service.saveUser(
    { id: 0, name: "anna", privilege: "control", groups: [hall?.id ?? 0], pools: null },
    caller,
  );
  const anna = { actor: "test", userId };
  expect(await paths(bench, anna)).toEqual(["Texas 1", "Texas/R1 1"]);
  expect(await paths(bench)).toEqual(["Texas 3", "Texas/Hidden 1", "Texas/R1 2"]);
  const feeds = async (who: typeof caller) =>
    (await bench.service.listPlaces({}, who)).flatMap(
      ({ maxPower, meter, exempt }) => maxPower ?? meter ?? exempt ?? [],
    );
  expect([await feeds(caller), await feeds(anna)]).toEqual([[9_000], []]);
  const hidden = (await bench.service.listPlaces({}, caller)).find(({ name }) => name === "Hidden")?.id ?? 0;
  expect(await refusal(bench.service.locatePlace({ id: hidden, on: true, seconds: 9 }, anna))).toBe("not.found");
  expect(await refusal(bench.service.deletePlace({ id: rack }, anna))).toBe("user.forbidden");
});

test("the rigs of a place that can signal do so for some seconds", async () => {
  const clock = stoppedClock();
  const rigs = [
    { kind: "luxos", warm: true },
    { kind: "axeos", warm: true },
    { kind: "cgminer", warm: true },
  ] as const;
  const bench = await openBench({ rigs: [...rigs], clock: clock.now });
  const rack = await place(bench, "rack", "R1");
  const shines = await bench.add(bench.rig(0).address, { placeId: rack });
  const blinks = await bench.add(bench.rig(1).address, { placeId: rack });
  await bench.add(bench.rig(2).address, { placeId: rack });
  const { id } = await bench.service.locatePlace({ id: rack, on: true, seconds: 1 }, caller);
  const job = () => bench.service.getBulkAction({ id }, caller);
  await until(async () => (await job()).state !== "running", "the signal to end");
  const { results, parameters } = await job();
  expect(parameters).toEqual({ on: true, seconds: 1 });
  expect(results.map(({ minerId, state }) => [minerId, state])).toEqual([
    [shines, "done"],
    [blinks, "done"],
  ]);
  const commands = await bench.commands(shines);
  expect(commands.map(({ parameters: given }) => given.on)).toEqual([false, true]);
  expect((await bench.commands(blinks))[0]?.message).toBe("The signal of this rig ends automatically");
  const other = await place(bench, "rack", "R2");
  expect(await refusal(bench.service.locatePlace({ id: other, on: true, seconds: 1 }, caller))).toBe("nothing.to.do");
});

test("a signal ends when its action is cancelled, and when its caller is removed", async () => {
  const bench = await openBench({ rigs: [{ kind: "luxos", warm: true }] });
  const rack = await place(bench, "rack", "R1");
  const id = await bench.add(bench.rig(0).address, { placeId: rack });
  const signals = async () => (await bench.commands(id)).map(({ parameters, state }) => [parameters.on, state]);
  const seen = async (list: unknown[][]) =>
    until(async () => JSON.stringify(await signals()) === JSON.stringify(list), `the commands ${JSON.stringify(list)}`);
  const { id: first } = await bench.service.locatePlace({ id: rack, on: true, seconds: 3_600 }, caller);
  const cycle = [
    [false, "done"],
    [true, "done"],
  ];
  await seen(cycle.slice(1));
  await bench.service.cancelBulkAction({ id: first }, caller);
  await seen(cycle);
  expect((await bench.service.getBulkAction({ id: first }, caller)).state).toBe("cancelled");
  const user = { id: 0, name: "anna", privilege: "control", groups: null, pools: null } as const;
  const { id: userId } = await bench.service.saveUser(user, caller);
  await bench.service.locatePlace({ id: rack, on: true, seconds: 1 }, { actor: "anna", userId });
  await seen([...cycle.slice(1), ...cycle]);
  await bench.service.deleteUser({ id: userId }, caller);
  await seen([...cycle, ...cycle]);
});

test("a change of a limit or the order of a place puts no miner again, a new name those in it and those of defaults", async () => {
  const bench = await openBench({ config: { defaults: [{ location: { site: "Texas" } }] } });
  const byDefault = (await bench.service.addMiner({ address: `${ownHost()}:1` }, caller)).id;
  const ohio = await place(bench, "site", "Ohio");
  const own = await silentRig(bench, 2, ohio);
  const texas = (await bench.get(byDefault)).placeId ?? 0;
  await bench.idle();
  const ending = new AbortController();
  const seen: (number | string)[] = [];
  const watching = (async () => {
    for await (const event of bench.service.watchEvents({ types: ["miner", "places"] }, caller, ending.signal))
      seen.push(event.type === "miner" ? event.data.id : event.type);
  })();
  await change(bench, ohio, { order: 5, meter: "M1" });
  await until(() => seen.includes("places"), "the change of the place");
  await change(bench, texas, { name: "Utah" });
  await until(() => seen.includes(byDefault), "the miner of the default");
  expect((await bench.get(byDefault)).location.site).toBe("Texas");
  expect(seen).not.toContain(own);
  await bench.service.saveSettings({ section: "defaults", value: [{ location: { site: "Iowa" } }] }, caller);
  await until(() => seen.filter((each) => each === "places").length >= 3, "the place that a default has added");
  const position = { row: 1, column: 1 };
  const { placeId } = await bench.get(byDefault);
  expect(await bench.service.changeMiner({ id: byDefault, position }, caller)).toMatchObject({ placeId, position });
  ending.abort();
  await watching;
});

test("subscribers learn of changed places, and of their miners", async () => {
  const bench = await openBench();
  const site = await place(bench, "site", "Texas");
  const id = await silentRig(bench, 1, site);
  const ending = new AbortController();
  const seen: string[] = [];
  const watching = (async () => {
    for await (const event of bench.service.watchEvents({ types: ["miner", "places"] }, caller, ending.signal))
      seen.push(event.type === "miner" ? `${event.data.id} at ${event.data.location.site}` : event.type);
  })();
  await change(bench, site, { name: "Ohio" });
  await until(() => seen.includes("places") && seen.includes(`${id} at Ohio`), "the change of the place");
  await bench.service.changeMiner({ id, location: { site: "Utah", container: null, rack: null, slot: null } }, caller);
  await until(() => seen.filter((each) => each === "places").length === 2, "the place that a location has added");
  ending.abort();
  await watching;
});
