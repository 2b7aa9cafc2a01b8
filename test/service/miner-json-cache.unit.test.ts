import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { type GroupSection, MinerJsonCache } from "../../src/service/miners/miner-json-cache.ts";
import type { MinerFigures } from "../../src/service/miners/present-miner.ts";
import { unknownEarnings } from "../../src/service/money/earnings.ts";
import type { Access } from "../../src/service/users/access.ts";
import { off } from "../homebridge/miners.ts";

let now = 0;
beforeEach(() => {
  now = 1_000;
  jest.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => void jest.restoreAllMocks());

const all: Access = {
  privilege: "administrator",
  all: true,
  userId: null,
  seesGroup: () => true,
  seesPool: () => true,
};
const viewer: Access = { ...all, privilege: "view" };

const figures: MinerFigures = {
  demo: false,
  status: "Mining",
  running: true,
  hashrate: 1,
  hashrateKnown: true,
  hashrateAverage: 1,
  unit: "H/s",
  algorithm: "",
  coin: "",
  coinKey: "",
  algorithmKey: "",
  dual: null,
  placeId: null,
  power: null,
  groupId: 0,
  revenue: 0,
  earnings: unknownEarnings({ currency: "USD" }),
  isEstimated: false,
  lacks: null,
  login: null,
  inRepair: false,
  gpus: 0,
  pgas: 0,
  asics: 0,
};

/** A cache over so many miners, in groups of 100, that notes which of them it makes. */
function openCache(miners: number) {
  const names = new Map<number, string>();
  const made = { presented: [] as number[], figures: [] as number[] };
  const cache = new MinerJsonCache(
    {
      present: (id) => {
        made.presented.push(id);
        now += 1;
        return { miner: off({ id, name: names.get(id) ?? `rig ${id}`, canStop: true }), figures };
      },
      failed: (_id, _energy, error) => {
        throw error;
      },
      figures: (id) => {
        made.figures.push(id);
        return figures;
      },
    },
    (sections) => sections,
  );
  const ids = Array.from({ length: miners }, (_, index) => index + 1);
  for (const id of ids) cache.mark(id, null, true);
  const sections: GroupSection[] = [];
  for (let start = 0; start < miners; start += 100)
    sections.push({ id: start + 1, name: `group ${start}`, minerIds: ids.slice(start, start + 100), groups: [] });
  cache.arrange(sections);
  const take = <T>(list: T[]): T[] => list.splice(0);
  return {
    cache,
    ids,
    presented: () => take(made.presented),
    counted: () => take(made.figures),
    rename: (id: number, name: string) => {
      names.set(id, name);
      cache.mark(id, null, true);
    },
    list: (access = all) => {
      const { chunks, etag, length } = cache.list('"a":1', '"z":2', access);
      const bytes = Buffer.concat(chunks);
      expect(bytes).toHaveLength(length);
      return { chunks, etag, text: bytes.toString() };
    },
  };
}

const namesIn = (text: string): string[] =>
  JSON.parse(text).groupList.flatMap(({ minerList }: { minerList: { name: string }[] }) =>
    minerList.map(({ name }) => name),
  );

test("reads that nobody looks at present nothing, and a summary takes the figures alone, of the changed ones", () => {
  const { cache, ids, presented, counted } = openCache(50);
  for (let read = 0; read < 5; read += 1) for (const id of ids) cache.mark(id, null, read % 2 === 0);
  expect([presented(), counted()]).toEqual([[], []]);
  expect([...cache.figures()]).toHaveLength(50);
  expect(counted()).toEqual(ids);
  for (const id of ids) cache.mark(id, null, id === 7);
  expect([...cache.figures()]).toHaveLength(50);
  expect([presented(), counted()]).toEqual([[], [7]]);
});

test("a list presents each miner once per change, and walks over pages while nothing changes", () => {
  const { ids, presented, rename, list } = openCache(250);
  const first = list();
  expect(presented()).toEqual(ids);
  expect(namesIn(first.text)).toEqual(ids.map((id) => `rig ${id}`));
  const again = list();
  expect(presented()).toEqual([]);
  expect([again.text, again.etag]).toEqual([first.text, first.etag]);
  now += 60_000;
  rename(150, "some");
  expect(presented()).toEqual([150]);
  rename(150, "other");
  expect(presented()).toEqual([]);
  const later = list();
  expect(presented()).toEqual([150]);
  expect(namesIn(later.text)).toEqual(ids.map((id) => (id === 150 ? "other" : `rig ${id}`)));
  expect(later.etag).not.toBe(first.etag);
  const { text, etag } = list();
  expect([text, etag]).toEqual([later.text, later.etag]);
});

test("one who may only view has pages of their own, which change with the others", () => {
  const { rename, list } = openCache(70);
  expect(list().text).toContain('"canStop":true');
  expect(list(viewer).text).not.toContain('"canStop":true');
  rename(70, "new");
  expect(namesIn(list(viewer).text).at(-1)).toBe("new");
  expect(namesIn(list().text).at(-1)).toBe("new");
});

test("a miner that was listed is made with its next read, and for ten seconds with each, so that the next list is ready", () => {
  const { cache, ids, presented, list } = openCache(70);
  list();
  presented();
  now += 9_000;
  for (const id of ids) cache.mark(id, null, false);
  expect(presented()).toEqual(ids);
  list();
  expect(presented()).toEqual([]);
  now += 11_000;
  for (const id of ids) cache.mark(id, null, true);
  expect(presented()).toEqual(ids);
  for (const id of ids) cache.mark(id, null, true);
  expect(presented()).toEqual([]);
});

test("a long list of changed miners is made in turns of 20 ms, a short one at once", async () => {
  const { cache, ids, presented, rename, list } = openCache(1_000);
  const preparing = cache.prepareList(all);
  expect(preparing).toBeInstanceOf(Promise);
  let ended = false;
  void preparing?.then(() => {
    ended = true;
  });
  const turns: number[] = [];
  while (!ended) {
    turns.push(presented().length);
    await setImmediate();
  }
  expect(Math.max(...turns)).toBeLessThanOrEqual(20);
  expect(turns.reduce((sum, some) => sum + some, 0) + presented().length).toBe(1_000);
  // What was read in between is ready too.
  rename(5, "read in between");
  expect(presented()).toEqual([5]);
  expect(namesIn(list().text)).toHaveLength(1_000);
  expect(presented()).toEqual([]);
  now += 60_000;
  for (const name of ["newer", "newest"]) for (const id of ids.slice(0, 50)) rename(id, name);
  expect(presented()).toEqual(ids.slice(0, 50));
  expect(cache.prepareList(all)).toBeUndefined();
  expect(presented()).toEqual([]);
});

test("stored energy changes the version, passing time does not", () => {
  const { cache } = openCache(1);
  expect(cache.mark(1, null, false)).toBe(false);
  expect(cache.mark(1, 5, false)).toBe(true);
  expect(cache.mark(1, 5, false)).toBe(false);
});
