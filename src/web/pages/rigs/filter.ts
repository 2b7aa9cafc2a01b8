import { isHere, numberAt, siteOf } from "../../../contract/site-numbers.ts";
import type { Row } from "../../live.ts";
import type { GroupTree } from "./groups.ts";
import { type FacetKey, isFacet, type Part, partsOf, type Range, type RangeKey, type View, without } from "./view.ts";

/** Stands for rigs with an absent or unknown value. */
export const none = "";
/** In an address. */
export const isInRepair = "yes";

/** The site of a centre that a rig belongs to, which is a group, and the one of its location. */
export function sitesOf({ id, location }: Row, tree: GroupTree): readonly string[] {
  const ofCentre = isHere(id) ? undefined : tree.nameOf(numberAt(siteOf(id), 0));
  return [...new Set([ofCentre, location?.site ?? undefined])].filter((site) => site !== undefined);
}

type Reader = (row: Row, tree: GroupTree) => readonly string[];
const one = (value: string | null | undefined): readonly string[] => [value ?? none];

const readers: Readonly<Record<FacetKey, Reader>> = {
  status: ({ status }) => [status],
  repair: ({ repair }) => one(repair === null ? null : isInRepair),
  reason: ({ reason }) => one(reason),
  group: ({ group }, tree) => tree.pathOf(group),
  tag: ({ tags }) => (tags.length === 0 ? [none] : tags),
  place: ({ place }, { places }) => (place == null ? [none] : places.lineOf(place)),
  site: (row, tree) => {
    const sites = sitesOf(row, tree);
    return sites.length === 0 ? [none] : sites;
  },
  container: ({ location }) => one(location?.container),
  rack: ({ location }) => one(location?.rack),
  model: ({ model }) => one(model),
  algorithm: ({ algorithm }) => one(algorithm),
  pool: ({ pool }) => one(pool),
  coin: ({ coin }) => one(coin),
};

const figures: Readonly<Record<RangeKey, (row: Row) => number | null>> = {
  temperature: ({ temperature }) => temperature,
  performance: (row) => performanceOf(row),
  power: ({ power }) => power,
  profit: ({ profit }) => profit,
  alarms: ({ alarms }) => alarms,
};

/** Share of the expected hash rate; null if either is unknown. */
export const performanceOf = ({ hashrate, expected }: Row): number | null =>
  hashrate === null || expected === null || expected === 0 ? null : hashrate / expected;

/** The searched texts of a rig, each built once: rows are replaced, never changed. */
const texts = new WeakMap<Row, string>();

function textOf(row: Row): string {
  const before = texts.get(row);
  if (before !== undefined) return before;
  const { name, address, uid, worker, model, pool, location, tags } = row;
  const { site, container, rack, slot } = location ?? {};
  const parts = [name, address, uid, worker, model, pool, site, container, rack, slot, ...tags];
  const text = parts
    .filter((part) => part !== null && part !== undefined)
    .join("\n")
    .toLowerCase();
  texts.set(row, text);
  return text;
}

type Test = (row: Row) => boolean;

function testOf(view: View, part: Part, tree: GroupTree): Test {
  if (part === "text") {
    // Matched as a whole: single digits would occur in nearly every address.
    const words = view.text.trim().replace(/\s+/g, " ").toLowerCase();
    return (row) => textOf(row).includes(words);
  }
  if (isFacet(part)) {
    const wanted = new Set(view.facets[part]);
    const read = readers[part];
    return (row) => read(row, tree).some((value) => wanted.has(value));
  }
  const { min, max }: Range = view.ranges[part] ?? { min: null, max: null };
  const read = figures[part];
  return (row) => {
    const value = read(row);
    return value !== null && (min === null || value >= min) && (max === null || value < max);
  };
}

/** Whether a rig is listed. */
export function matcher(view: View, tree: GroupTree): Test {
  const tests = partsOf(view).map((part) => testOf(view, part, tree));
  if (tests.length === 0) return () => true;
  return (row) => tests.every((test) => test(row));
}

export const countOf = (rows: Iterable<Row>, view: View, tree: GroupTree): number => {
  const matches = matcher(view, tree);
  let count = 0;
  for (const row of rows) if (matches(row)) count += 1;
  return count;
};

/** The number of rigs for each value of a facet, with the other filters unchanged. */
export function facetCounts(rows: Iterable<Row>, view: View, key: FacetKey, tree: GroupTree): Map<string, number> {
  const matches = matcher(without(view, key), tree);
  const counts = new Map<string, number>();
  for (const row of rows)
    if (matches(row)) for (const value of readers[key](row, tree)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** The number of rigs without one of the filters, most first; only those that would help. */
export const drops = (rows: readonly Row[], view: View, tree: GroupTree): { part: Part; count: number }[] =>
  partsOf(view)
    .map((part) => ({ part, count: countOf(rows, without(view, part), tree) }))
    .filter(({ count }) => count > 0)
    .sort((first, second) => second.count - first.count);
