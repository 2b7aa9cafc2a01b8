import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Place } from "../../src/contract/place-operations.ts";
import { matcher } from "../../src/web/pages/rigs/filter.ts";
import { groupTree } from "../../src/web/pages/rigs/groups.ts";
import { allRigs, withFacet } from "../../src/web/pages/rigs/view.ts";
import { ordersToMove, placeTree, sumsByPlace } from "../../src/web/places.ts";
import { place, rigRow } from "./place-rows.ts";

const texas = place(1, "site", "Texas");
const hall = place(2, "building", "B1", texas);
const rack = place(3, "rack", "R01", hall);
const ohio = place(4, "site", "Ohio");
const tree = placeTree([texas, hall, rack, ohio]);

describe("the tree of places", () => {
  test("names the places around one, and those inside it", () => {
    expect(tree.lineOf(3)).toEqual(["3", "2", "1"]);
    expect([...tree.within(2)]).toEqual([2, 3]);
    expect(tree.inside(null).map(({ name }) => name)).toEqual(["Texas", "Ohio"]);
  });

  test("has a line for a place that the user does not see", () => {
    expect(tree.lineOf(99)).toEqual(["99"]);
    expect(tree.within(99).size).toBe(0);
  });

  test("sums the rigs of a place with those inside it", () => {
    const rows = [rigRow(1, { place: 3 }), rigRow(2, { place: 1, alarms: 2 }), rigRow(3, { place: null }), rigRow(4)];
    const sums = sumsByPlace(tree, rows);
    expect([1, 2, 3, 4].map((id) => sums.get(id)?.count)).toEqual([2, 1, 1, 0]);
    expect([1, 2].map((id) => sums.get(id)?.alarms)).toEqual([2, 0]);
  });

  test("filters a list of rigs, with the places inside", () => {
    const rows = [rigRow(1, { place: 3 }), rigRow(2, { place: 4 }), rigRow(3, { place: null })];
    const listed = (value: string) =>
      rows.filter(matcher(withFacet(allRigs, "place", [value]), groupTree([], tree))).map(({ id }) => id);
    expect([listed("1"), listed("4"), listed("")]).toEqual([[1], [2], [3]]);
  });
});

describe("moving a place among the others", () => {
  const sorted = (places: readonly Pick<Place, "id" | "order">[]) =>
    places.toSorted((one, other) => one.order - other.order || one.id - other.id);

  test("changes its order alone if there is room", () => {
    const places = [10, 20, 30].map((order, index) => ({ id: index + 1, order }));
    expect([...ordersToMove(places, 3, 0)]).toEqual([[3, 4]]);
    expect([...ordersToMove(places, 1, 2)]).toEqual([[1, 40]]);
  });

  test("puts it there, whatever the orders are", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 8 }),
        fc.nat(7),
        fc.nat(7),
        (orders, from, to) => {
          const places = sorted(orders.map((order, index) => ({ id: index + 1, order })));
          const moved = places[from % places.length];
          const index = to % places.length;
          if (moved === undefined) return;
          const changes = ordersToMove(places, moved.id, index);
          const after = sorted(places.map(({ id, order }) => ({ id, order: changes.get(id) ?? order })));
          const others = places.filter((each) => each !== moved).map(({ id }) => id);
          expect(after.map(({ id }) => id)).toEqual(others.toSpliced(index, 0, moved.id));
          for (const { order } of after) expect(order >= 0 && order <= 1_000_000).toBe(true);
        },
      ),
    );
  });
});
