import { expect, test } from "@jest/globals";
import type { Scope } from "../../../src/contract/rules.ts";
import { scopeTest } from "../../../src/service/automation/scope.ts";
import type { MinerFacts } from "../../../src/service/miners/present-miner.ts";
import { PlaceBook } from "../../../src/service/places/place-book.ts";

const place = (id: number, kind: "site" | "row" | "rack", name: string, parentId: number | null) => {
  const row = { id, kind, name, parentId, uid: `place-${id}`, order: 0 } as const;
  return { ...row, owner: "store", key: null, disabled: false } as const;
};
const rows = [
  place(1, "site", "Texas", null),
  place(2, "row", "A", 1),
  place(3, "rack", "R1", 2),
  place(4, "rack", "R2", 1),
  place(5, "site", "Ohio", null),
];
const book = new PlaceBook({ all: () => rows });

const nowhere = { site: null, container: null, rack: null };

/** The ids of the places whose miners are in a scope; 0: none. */
const placesIn = (scope: Scope): number[] => {
  const fits = scopeTest(scope, [], book);
  const facts = (placeId: number | null): MinerFacts => ({
    id: 1,
    name: "rig",
    named: true,
    demo: false,
    groupId: 0,
    location: { ...(book.get(placeId)?.location ?? nowhere), slot: null },
    placeId,
    position: null,
    tags: [],
    repair: null,
    host: { name: "rig", description: "rig:80" },
  });
  return [0, 1, 2, 3, 4, 5].filter((id) => fits(facts(id === 0 ? null : id), null));
};

test.each<[string, Scope, number[]]>([
  ["a path, with the places inside it, in any case", { places: ["texas"] }, [1, 2, 3, 4]],
  ["a path of several names", { places: ["Texas/A"] }, [2, 3]],
  ["an id", { places: [4] }, [4]],
  ["its site, in any case", { sites: ["texas"] }, [1, 2, 3, 4]],
  ["its rack, in any case", { racks: ["r2 ", "R3"] }, [4]],
  ["several", { places: ["Texas/A/R1", 5] }, [3, 5]],
  ["a place that there is not", { places: ["Utah"] }, []],
  ["all but those of a place", { not: { places: ["Texas"] } }, [0, 5]],
  ["a place but for a part of it", { places: ["Texas"], not: { places: ["Texas/A"] } }, [1, 4]],
])("a scope names places by %s", (_, scope, ids) => {
  expect(placesIn(scope)).toEqual(ids);
});
