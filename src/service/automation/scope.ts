import type { Places, Scope } from "../../contract/rules.ts";
import type { MinerFacts } from "../miners/present-miner.ts";
import { withInnerGroups } from "../nested-groups.ts";
import { type PlaceBook, plainName } from "../places/place-book.ts";

interface NamedGroup {
  readonly id: number;
  readonly name: string;
  readonly parentId: number;
}

/**
 * Whether a miner is in a scope. A scope may name groups, places and miners that do not exist yet, so names are looked up when
 * the test is made.
 */
export function scopeTest(
  scope: Scope | undefined,
  groups: readonly NamedGroup[],
  book: PlaceBook,
): (facts: MinerFacts, uid: string | null) => boolean {
  if (scope === undefined) return () => true;
  const { not, ...places } = scope;
  const tests = placeTests(places, groups, book);
  const exceptions = not === undefined ? [] : placeTests(not, groups, book);
  return (facts, uid) => tests.every((fits) => fits(facts, uid)) && !exceptions.some((fits) => fits(facts, uid));
}

type Fits = (facts: MinerFacts, uid: string | null) => boolean;

/** Whether a miner is at one of these locations. */
export function placeTests(places: Places, groups: readonly NamedGroup[], book: PlaceBook): Fits[] {
  const tests: Fits[] = [];
  if (places.places !== undefined) {
    const ids = book.within(places.places.flatMap((place) => book.called(place)).map(({ row }) => row.id));
    tests.push(({ placeId }) => placeId !== null && ids.has(placeId));
  }
  if (places.groups !== undefined) {
    const names = new Set(places.groups);
    const ids = withInnerGroups(
      groups.filter(({ name }) => names.has(name)).map(({ id }) => id),
      groups,
    );
    tests.push(({ groupId }) => ids.has(groupId));
  }
  const among = (names: readonly string[] | undefined, holds: (names: ReadonlySet<string>) => Fits): void => {
    if (names !== undefined) tests.push(holds(new Set(names)));
  };
  among(
    places.tags,
    (names) =>
      ({ tags }) =>
        tags.some((tag) => names.has(tag)),
  );
  among(
    places.miners,
    (names) =>
      ({ name }, uid) =>
        names.has(name) || (uid !== null && names.has(uid)),
  );
  for (const [part, names] of [["site", places.sites] as const, ["rack", places.racks] as const]) {
    if (names === undefined) continue;
    const plain = new Set(names.map(plainName));
    tests.push(({ location }) => {
      const name = location[part];
      return name !== null && plain.has(plainName(name));
    });
  }
  return tests;
}
