import { expect, test } from "@jest/globals";
import { PlaceBook } from "../../../src/service/places/place-book.ts";
import { Placing } from "../../../src/service/places/placing.ts";
import { placeStoredLocations } from "../../../src/service/places/stored-locations.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../any-store.ts";
import { onTestFinished } from "../../finished.ts";
import { miner } from "../../store/rows.ts";

const open = async () => {
  const store = await openStore({ file: ":memory:", now: () => 1_750_000_000_000 });
  onTestFinished(() => store.close());
  const book = new PlaceBook(store.places);
  return { store, book, tree: () => book.all().map(({ path, row }) => `${row.kind} ${path}`) };
};

const location = (site: string | null, container: string | null = null, rack: string | null = null) => ({
  site,
  container,
  rack,
  slot: null,
});

/** Writes what a change of places adds. */
const write = (store: Store, placing: Placing) => store.places.addAndChange(placing.added, new Map());

test("a location makes the places that are missing, and finds those that are there in any case", async () => {
  const { store, book, tree } = await open();
  const first = new Placing(book, store);
  const rack = first.at(location("Texas", "B1", "R1"));
  expect(first.at(location("texas", "b1", " R1 "))).toBe(rack);
  first.at(location("Texas", "B1", "R2"));
  first.at(location(null, null, "Shelf"));
  expect(first.at(location(null))).toBeNull();
  await write(store, first);
  expect(tree()).toEqual(["rack Shelf", "site Texas", "building Texas/B1", "rack Texas/B1/R1", "rack Texas/B1/R2"]);
  expect(book.get(rack)).toMatchObject({
    path: "Texas/B1/R1",
    location: { site: "Texas", container: "B1", rack: "R1" },
  });
  const later = new Placing(book, store);
  expect(later.at(location("TEXAS", "B1", "r1"))).toBe(rack);
  expect(later.added).toEqual([]);
});

test("names are unique among the places of one kind and parent", async () => {
  const { store, book, tree } = await open();
  const placing = new Placing(book, store);
  const building = placing.at(location("North", "1"));
  const rack = placing.at(location("North", null, "1"));
  expect(rack).not.toBe(building);
  await write(store, placing);
  expect(tree()).toEqual(["site North", "building North/1", "rack North/1"]);
  const again = new Placing(book, store);
  expect(again.at(location("North", null, "1"))).toBe(rack);
  expect(again.added).toEqual([]);
});

test("a rack that is in several rows is named by its id, unless the miner is in one of them", async () => {
  const { store, book } = await open();
  const names = [
    { kind: "site", name: "Texas", parentId: null },
    { kind: "row", name: "A", parentId: 1 },
    { kind: "row", name: "B", parentId: 1 },
    { kind: "rack", name: "R1", parentId: 2 },
    { kind: "rack", name: "R1", parentId: 3 },
  ] as const;
  await store.places.addAndChange(
    names.map((place, index) => ({ ...place, uid: `place-${index}`, order: 0 })),
    new Map(),
  );
  const placing = new Placing(book, store);
  expect(() => placing.at(location("Texas", null, "R1"))).toThrow("location.rack: there are several racks R1 there");
  expect(placing.at(location("Texas", null, "R1"), { present: 5 })).toBe(5);
  expect(placing.at(location("Texas", null, "R1"), { first: true })).toBe(4);
  expect(placing.at(location("Texas"), { present: 3 })).toBe(3);
});

test("the locations of an earlier release become places, once", async () => {
  const { store, book, tree } = await open();
  await store.miners.add(miner("10.0.0.1", { location: { site: "North", container: "A", rack: "1", slot: "01" } }));
  await store.miners.add(miner("10.0.0.2", { location: { site: "north", container: "A", rack: "1", slot: "02" } }));
  await store.miners.add(miner("10.0.0.3", { location: { site: null, container: null, rack: null, slot: null } }));
  for (let start = 0; start < 2; start += 1) {
    await placeStoredLocations(store, book);
    expect(tree()).toEqual(["site North", "building North/A", "rack North/A/1"]);
    expect(store.miners.all().map(({ placeId, slot, location: old }) => [placeId, slot, old])).toEqual([
      [3, "01", null],
      [3, "02", null],
      [null, null, null],
    ]);
  }
});

test("two miners never share a position, also after both have moved", async () => {
  const { store, book } = await open();
  const position = (row: number) => ({ row, column: 1 });
  const [one, two] = await store.miners.addAndChange(
    [
      miner("10.0.0.1", { placeId: 1, position: position(1) }),
      miner("10.0.0.2", { placeId: 1, position: position(2) }),
    ],
    new Map(),
  );
  const conflicts = (...moves: [number | null, number][]) => {
    const placing = new Placing(book, store);
    for (const [id, row] of moves) placing.put(id, { placeId: 1, position: position(row), slot: null });
    return placing.conflicts().map(({ minerId, other }) => [minerId, other.minerId]);
  };
  const [first, second] = [one?.id ?? 0, two?.id ?? 0];
  expect(conflicts([first, 2])).toEqual([[first, second]]);
  expect(conflicts([first, 2], [second, 1])).toEqual([]);
  expect(conflicts([first, 3], [null, 1])).toEqual([]);
  expect(conflicts([null, 7], [null, 7])).toEqual([[null, null]]);
});

test("a place whose parent is itself, or not larger, is at the top", () => {
  const row = (id: number, kind: "site" | "rack", parentId: number) => {
    const place = { id, kind, name: `${kind} ${id}`, parentId, uid: `place-${id}`, order: 0 } as const;
    return { ...place, owner: "store", key: null, disabled: false } as const;
  };
  const rows = [row(1, "site", 1), row(2, "site", 3), row(3, "site", 2), row(4, "rack", 3), row(5, "rack", 9)];
  const book = new PlaceBook({ all: () => rows });
  expect(book.all().map(({ path }) => path)).toEqual(["rack 5", "site 1", "site 2", "site 3", "site 3/rack 4"]);
});

test("a caller who sees some places finds no others by their names, and adds places only inside those", async () => {
  const { store, book, tree } = await open();
  const all = new Placing(book, store);
  const rack = all.at(location("Texas", null, "R1"));
  all.at(location("Texas", null, "Hidden"));
  all.at(location("Ohio"));
  await write(store, all);
  const texas = book.get(rack)?.parent?.row.id ?? 0;
  const some = new Placing(book, store, new Set([texas, rack ?? 0]));
  expect(some.at(location("texas", null, "r1"))).toBe(rack);
  for (const [part, place] of [
    ["rack", location("Texas", null, "Hidden")],
    ["site", location("Ohio")],
    ["site", location("Utah")],
  ] as const)
    expect(() => some.at(place)).toThrow(`location.${part}: there is no place ${place[part]}`);
  expect(() => some.inside({ site: "Ohio", building: null, row: "A", rack: null })).toThrow("there is no place Ohio");
  some.at(location("Texas", "B1", "R1"));
  await write(store, some);
  expect(tree()).toContain("rack Texas/B1/R1");
});

test("the shape of the tree is the same until a place is added, removed, renamed or moved", async () => {
  const { store, book } = await open();
  const placing = new Placing(book, store);
  const id = placing.at(location("Texas")) ?? 0;
  const empty = book.shape();
  await write(store, placing);
  const before = book.shape();
  expect(before).not.toBe(empty);
  await store.places.change(id, { order: 5, meter: "M1" });
  expect(book.shape()).toBe(before);
  await store.places.change(id, { name: "Ohio" });
  expect(book.shape()).not.toBe(before);
});
