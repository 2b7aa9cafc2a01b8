import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Control } from "../../src/contract/readings.ts";
import type { Row } from "../../src/web/live.ts";
import { csvOfRigs } from "../../src/web/pages/rigs/csv.ts";
import { drops, facetCounts, matcher } from "../../src/web/pages/rigs/filter.ts";
import { groupTree } from "../../src/web/pages/rigs/groups.ts";
import { OrderedRows } from "../../src/web/pages/rigs/ordered.ts";
import { settingsOf } from "../../src/web/pages/rigs/settings.ts";
import { allRigs, facetKeys, searchOf, toggled, viewIn, withFacet, withRange } from "../../src/web/pages/rigs/view.ts";

const rig = (id: number, more: Partial<Row> = {}): Row => ({
  id,
  uid: `uid-${id}`,
  name: `Rig ${id}`,
  group: 0,
  location: null,
  tags: [],
  status: "Mining",
  reason: null,
  hashrate: 1e12,
  expected: 1e12,
  power: 100,
  temperature: 60,
  pool: "pool.example.com",
  coin: "BTC",
  profit: 1,
  alarms: 0,
  readAt: null,
  repair: null,
  algorithm: "SHA-256",
  model: "S19",
  address: "10.0.0.1:80",
  worker: "a.b",
  ...more,
});
const tree = groupTree([
  { id: 1, name: "Hall", parentId: 0 },
  { id: 2, name: "Row 1", parentId: 1 },
  { id: 3, name: "Row 2", parentId: 1 },
]);
const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);

describe("a view in the address", () => {
  test("is read back as it was written", () => {
    const view = {
      ...allRigs,
      text: "a b&c=d,ü",
      facets: { status: ["Idle", "Error"], tag: ["a,b", ""], group: ["0"] },
      ranges: { temperature: { min: 75, max: null }, profit: { min: null, max: -0.5 } },
      sort: "power",
      descending: true,
      columns: ["name", "power"],
      layout: "cards",
    } as const;
    expect(viewIn(searchOf(view))).toEqual(view);
  });

  test("of all rigs is empty", () => {
    expect(searchOf(allRigs)).toBe("");
    expect(viewIn("")).toEqual(allRigs);
  });

  test("ignores what it does not know", () => {
    expect(viewIn("?status=Nonsense&sort=-nothing&columns=,x&layout=3d&temperature=hot&power=..&other=1")).toEqual(
      allRigs,
    );
  });

  test("of any text is a view that stays the same", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300 }),
        fc.constantFrom("q", "sort", "temperature", ...facetKeys),
        (text, key) => {
          const view = viewIn(`?${new URLSearchParams([[key, text]])}`);
          expect(viewIn(searchOf(view))).toEqual(view.text.trim() === "" ? { ...view, text: "" } : view);
        },
      ),
    );
  });
});

describe("filters", () => {
  const rows = [
    rig(1, { group: 2, tags: ["loud"], temperature: 80 }),
    rig(2, { group: 3, status: "Error", reason: "hot", temperature: null }),
    rig(3, { status: "Disconnected", hashrate: null, power: null, profit: -1 }),
  ];
  const listed = (view: typeof allRigs) => idsOf(rows.filter(matcher(view, tree)));

  test("a group contains the rigs of the groups in it", () => {
    expect(listed(withFacet(allRigs, "group", ["1"]))).toEqual([1, 2]);
    expect(listed(withFacet(allRigs, "group", ["3"]))).toEqual([2]);
    expect(listed(withFacet(allRigs, "group", ["0"]))).toEqual([3]);
  });

  test("values of one filter add up, filters narrow one another", () => {
    const two = toggled(toggled(allRigs, "status", "Error"), "status", "Mining");
    expect(listed(two)).toEqual([1, 2]);
    expect(listed(withFacet(two, "tag", ["loud"]))).toEqual([1]);
  });

  test("a number that is not known is in no range", () => {
    expect(listed(withRange(allRigs, "temperature", { min: 0, max: null }))).toEqual([1, 3]);
    expect(listed(withRange(allRigs, "profit", { min: null, max: 0 }))).toEqual([3]);
  });

  test("what is searched for must occur in one of the texts", () => {
    expect(listed({ ...allRigs, text: " RIG  1 " })).toEqual([1]);
    expect(listed({ ...allRigs, text: "uid-2" })).toEqual([2]);
    expect(listed({ ...allRigs, text: "rig loud" })).toEqual([]);
  });

  test("each value says how many rigs it would list beside the other filters", () => {
    const counts = facetCounts(rows, { ...withFacet(allRigs, "status", ["Error"]), text: "rig" }, "status", tree);
    expect([...counts]).toEqual([
      ["Mining", 1],
      ["Error", 1],
      ["Disconnected", 1],
    ]);
    expect(facetCounts(rows, allRigs, "tag", tree).get("")).toBe(2);
  });

  test("an empty list says which filter to drop", () => {
    const view = withFacet(withFacet(allRigs, "status", ["Error"]), "tag", ["loud"]);
    expect(drops(rows, view, tree)).toEqual([
      { part: "status", count: 1 },
      { part: "tag", count: 1 },
    ]);
    expect(drops(rows, { ...view, text: "nothing" }, tree)).toEqual([]);
  });
});

describe("the order", () => {
  const byPower = (one: Row, other: Row) => (one.power ?? 0) - (other.power ?? 0) || one.id - other.id;

  test("after any changes is that of a whole sort", () => {
    const change = fc.record({ id: fc.integer({ min: 1, max: 30 }), power: fc.option(fc.integer({ min: 0, max: 9 })) });
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 8 }), (rounds) => {
        const byId = new Map(
          Array.from({ length: 25 }, (_, index) => [index + 1, rig(index + 1, { power: index % 7 })]),
        );
        const ordered = new OrderedRows();
        ordered.update(byId, byPower);
        for (const changes of rounds) {
          for (const { id, power } of changes)
            if (power === null) byId.delete(id);
            else byId.set(id, rig(id, { power }));
          expect(ordered.update(byId, byPower)).toEqual([...byId.values()].sort(byPower));
        }
      }),
    );
  });

  test("without changes is the same list", () => {
    const byId = new Map([[1, rig(1)]]);
    const ordered = new OrderedRows();
    expect(ordered.update(byId, byPower)).toBe(ordered.update(byId, byPower));
  });
});

test("a list for spreadsheets has plain numbers, and runs no formula", () => {
  const text = csvOfRigs([rig(1, { name: '=HYPERLINK("x")', group: 2, tags: ["a", "b"], power: null })], tree.nameOf);
  const [head, row] = text.split("\r\n");
  expect(head).toMatch(/^id,uid,name,group,/);
  expect(row).toContain(`"'=HYPERLINK(""x"")",Hall / Row 1,`);
  expect(row).toContain(",a b,Mining,,1000000000000,1000000000000,,60,");
});

test("settings of several models have the widest range, and say how many have them", () => {
  const limit: Control = {
    key: "power_limit",
    kind: "range",
    unit: "W",
    min: 1000,
    max: 3000,
    step: 10,
    options: null,
    value: 2000,
    lasting: true,
    restartsMining: false,
    seconds: 5,
  };
  const mining: Control = { ...limit, key: "mining", kind: "switch", unit: null, min: null, max: null, step: null };
  const mode: Control = { ...mining, key: "mode", kind: "choice", options: ["low", "high"] };
  const found = settingsOf([[limit, mining], [{ ...limit, min: 500, max: 2000, lasting: false }], [mode]]);
  expect(found).toMatchObject([
    { key: "power_limit", min: 500, max: 3000, lasting: false, models: 2 },
    { key: "mode", options: ["low", "high"], models: 1 },
  ]);
});
