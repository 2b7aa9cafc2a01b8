import { expect, test } from "@jest/globals";
import type { OperationName } from "../../src/contract/operations.ts";
import type { Place } from "../../src/contract/place-operations.ts";
import type { Miner } from "../../src/contract/resources.ts";
import { PlaceTopics } from "../../src/mqtt/places.ts";
import { topicsOf } from "../../src/mqtt/topics.ts";

const offered = new Set<OperationName>(["listPlaces"]);

const place = (id: number, parentId: number | null, sums: Partial<Place> = {}): Place => ({
  id,
  uid: `place-${id}`,
  kind: parentId === null ? "site" : "rack",
  name: `P${id}`,
  path: `P${id}`,
  parentId,
  order: 0,
  rigs: 2,
  mining: 2,
  power: 6000,
  hashrates: [{ algorithm: "sha256", hashrate: 2e14 }],
  alarms: 0,
  ...sums,
});

function placeTopics() {
  let places: Place[] = [];
  let unread: Pick<Miner, "placeId">[] | null = null;
  let now = 0;
  const sites: (readonly string[])[] = [];
  const published: [string, Record<string, unknown> | null][] = [];
  const topics = new PlaceTopics({
    service: { listPlaces: async () => places },
    connection: {
      isConnected: true,
      publish: ({ topic, payload }) =>
        void published.push([topic.slice("rb/place/".length), payload === "" ? null : JSON.parse(`${payload}`)]),
    },
    topics: topicsOf("rb"),
    announcer: { sites: (all) => void sites.push(all.map(({ name }) => name)) },
    unread: () => unread as Miner[] | null,
    qos: 0,
    interval: 30,
    now: () => now,
  });
  return {
    topics,
    sites,
    at: async (seconds: number, next: Place[], waiting: Pick<Miner, "placeId">[] | null = []) => {
      [now, places, unread] = [seconds * 1000, next, waiting];
      await topics.read();
      topics.tick();
      return published.splice(0);
    },
  };
}

test("a place is published when it changes: counts at once, power after the interval, a removed place is emptied", async () => {
  const { topics, sites, at } = placeTopics();
  expect(await at(0, [place(1, null), place(2, 1)])).toEqual([]);
  topics.follow(offered);
  expect(await at(0, [place(1, null), place(2, 1)])).toEqual([
    [
      "place-1/state",
      { name: "P1", path: "P1", kind: "site", rigs: 2, mining: 2, power: 6000, hashrate_sha256: 2e14, alarms: 0 },
    ],
    ["place-2/state", expect.objectContaining({ kind: "rack", rigs: 2 })],
  ]);
  expect(await at(10, [place(1, null), place(2, 1)])).toEqual([]);
  expect(await at(10, [place(1, null, { power: 5000 }), place(2, 1, { alarms: 1 })])).toEqual([
    ["place-2/state", expect.objectContaining({ alarms: 1 })],
  ]);
  expect(await at(30, [place(1, null, { power: 5000 }), place(2, 1, { alarms: 1 })])).toEqual([
    ["place-1/state", expect.objectContaining({ power: 5000 })],
  ]);
  expect(await at(31, [place(1, null, { power: 5000 })])).toEqual([["place-2/state", null]]);
  expect([topics.has("place-1"), topics.has("place-2"), sites.at(-1)]).toEqual([true, false, ["P1"]]);
  // An unchanged state is published again before the broker drops it.
  expect(await at(95, [place(1, null, { power: 5000 })])).toHaveLength(1);
});

test("what is retained stays while rigs of the place, or all, are not known yet, and places of other sites are left to those", async () => {
  const { topics, at } = placeTopics();
  topics.follow(offered);
  expect([await at(0, [place(1, null)], null), topics.has("place-1")]).toEqual([[], null]);
  const here = [place(1, null), place(2, 1), place(3, null), place(10_000_000_000_004, null)];
  expect((await at(1, here, [{ placeId: 2 }, { placeId: null }])).map(([topic]) => topic)).toEqual(["place-3/state"]);
  expect((await at(2, here)).map(([topic]) => topic)).toEqual(["place-1/state", "place-2/state"]);
});
