import { afterEach, describe, expect, test } from "@jest/globals";
import type { Input } from "../../src/contract/service.ts";
import { openStore } from "../any-store.ts";
import { problem, refusal } from "../errors.ts";
import { ownHost } from "../own-host.ts";
import { miner } from "../store/rows.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

/** Addresses where nothing answers. */
const address = (index: number) => `${ownHost()}:${index}`;
const add = async (bench: Bench, index: number, body: Partial<Input<"addMiner">> = {}) =>
  (await bench.service.addMiner({ address: address(index), ...body }, caller)).id;
const change = (bench: Bench, id: number, body: Omit<Input<"changeMiner">, "id">) =>
  bench.service.changeMiner({ id, ...body }, caller);
const location = (parts: object) => ({ site: null, container: null, rack: null, slot: null, ...parts });

describe("the location of a miner", () => {
  test("is its place and its slot; another place clears its position", async () => {
    const bench = await openBench();
    const id = await add(bench, 1, { location: location({ site: "Texas", rack: "R1", slot: "4" }) });
    const { placeId } = await bench.get(id);
    const position = { row: 2, column: 3 };
    expect(await change(bench, id, { position })).toMatchObject({
      placeId,
      position,
      location: { site: "Texas", container: null, rack: "R1", slot: "4" },
    });
    expect(await change(bench, id, { location: location({ site: "TEXAS", rack: "r1" }) })).toMatchObject({
      placeId,
      position,
      location: { site: "Texas", rack: "R1", slot: null },
    });
    const moved = await change(bench, id, { location: location({ site: "Texas", rack: "R2" }) });
    expect(moved).toMatchObject({ position: null, location: { rack: "R2" } });
    expect(await change(bench, id, { placeId: placeId ?? 0, position })).toMatchObject({
      position,
      location: { rack: "R1" },
    });
    expect(await change(bench, id, { placeId: null })).toMatchObject({
      placeId: null,
      position: null,
      location: location({}),
    });
    const { miners } = await bench.service.listMinerRows({ view: "list", fields: ["place", "position"] }, caller);
    expect(miners).toMatchObject([{ id, place: null, position: null }]);
  });

  test("outlives a restart, is kept in the file's declaration, and comes from defaults", async () => {
    const declared = { address: address(1), location: { site: "Texas", rack: "R1" } };
    const defaults = [{ location: { site: "Texas", container: "B1" } }];
    const bench = await openBench({ config: { miners: [declared], defaults } });
    const id = await add(bench, 2, { location: location({ site: "texas", rack: "R1" }) });
    const other = await add(bench, 3);
    const shown = async () =>
      (await bench.service.listMiners({}, caller)).groupList.flatMap(({ minerList }) => minerList);
    const places = async () =>
      (await shown()).map((each) => [each.placeId, each.location.container, each.location.rack]);
    const before = await places();
    expect(before).toEqual([
      [2, null, "R1"],
      [2, null, "R1"],
      [3, "B1", null],
    ]);
    await bench.restart();
    expect(await places()).toEqual(before);
    expect(await refusal(change(bench, id - 1, { placeId: 3 }))).toBe("owned.by-file");
    await bench.service.saveSettings({ section: "defaults", value: [{ location: { site: "Ohio" } }] }, caller);
    expect((await bench.get(other)).location).toEqual(location({ site: "Ohio" }));
  });

  test("of a store of an earlier release becomes its place", async () => {
    const store = await openStore({ file: ":memory:", now: Date.now });
    await store.miners.add(miner(address(1), { location: location({ site: "North", container: "A", slot: "7" }) }));
    const bench = await openBench({ store });
    const [row] = bench.store.miners.all();
    expect(row).toMatchObject({ location: null, slot: "7" });
    expect(await bench.get(row?.id ?? 0)).toMatchObject({
      placeId: row?.placeId,
      location: { site: "North", container: "A", rack: null, slot: "7" },
    });
  });
});

describe("what a miner is told about its place is refused", () => {
  test("for a place that there is not, two ways at once, and a position without a place or of another miner", async () => {
    const bench = await openBench();
    const position = { row: 1, column: 1 };
    const first = await add(bench, 1, { name: "First", location: location({ rack: "R1" }), position });
    const second = await add(bench, 2, { location: location({ rack: "R1" }) });
    expect((await problem(change(bench, second, { position }))).message).toBe(
      `position: row 1, column 1 is taken by miner ${first} (First)`,
    );
    expect(await refusal(change(bench, second, { placeId: 9 }))).toBe("input.invalid placeId");
    expect(await refusal(change(bench, second, { placeId: 1, location: location({ rack: "R1" }) }))).toBe(
      "input.invalid placeId",
    );
    expect(await refusal(add(bench, 3, { position }))).toBe("input.invalid position");
    expect(await refusal(change(bench, second, { position: { row: 1, column: 2 } }))).toBe("done");
  });

  test("and a limited administrator finds no place in which none of his miners is", async () => {
    const bench = await openBench({ config: { groups: [{ name: "Hall" }] } });
    const [hall] = await bench.service.listGroups({}, caller);
    const hidden = await add(bench, 1, {
      name: "Hidden",
      location: location({ rack: "R1" }),
      position: { row: 1, column: 1 },
    });
    const id = await add(bench, 2, { group: "Hall", location: location({ rack: "R2" }) });
    const { id: userId } = await bench.service.saveUser(
      { id: 0, name: "anna", privilege: "administrator", groups: [hall?.id ?? 0], pools: null },
      caller,
    );
    const anna = { actor: "test", userId };
    const { placeId } = await bench.get(hidden);
    const put = (body: object) => bench.service.changeMiner({ id, ...body }, anna);
    expect((await problem(put({ placeId }))).message).toBe(`placeId: there is no place ${placeId}`);
    expect((await problem(put({ location: location({ rack: "R1" }) }))).message).toBe(
      "location.rack: there is no place R1",
    );
    const table = `address;rack\n${address(2)};R1`;
    const { mistakes } = await bench.service.previewImport({ csv: table, omitted: "keep" }, anna);
    expect(mistakes.map(({ message }) => message)).toEqual(["there is no place R1"]);
    await bench.service.changeMiner(
      { id: hidden, location: location({ rack: "R2" }), position: { row: 1, column: 1 } },
      caller,
    );
    expect((await problem(put({ position: { row: 1, column: 1 } }))).message).toBe(
      "position: row 1, column 1 is taken by another miner",
    );
  });
});
