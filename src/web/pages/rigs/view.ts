import type { MinerStatus } from "../../../contract/resources.ts";
import { type ColumnKey, isColumn } from "./column-keys.ts";

/** In counting order. */
export const statuses: readonly MinerStatus[] = [
  ...(["Mining", "Starting", "Idle", "Stopped", "Error", "Disconnected", "Disabled"] as const),
];

/** Filters by value: a rig must have one of the values. */
export const facetKeys = [
  ...(["status", "repair", "reason", "group", "tag", "place", "site", "container", "rack"] as const),
  ...(["model", "algorithm", "pool", "coin"] as const),
];
export type FacetKey = (typeof facetKeys)[number];

/** Filters by number: from `min`, below `max`. */
export const rangeKeys = ["temperature", "performance", "power", "profit", "alarms"] as const;
export type RangeKey = (typeof rangeKeys)[number];
export interface Range {
  readonly min: number | null;
  readonly max: number | null;
}

export const layouts = ["table", "cards"] as const;
export type Layout = (typeof layouts)[number];

/** What is listed and how: stored in the address, so that it can be sent to a colleague. */
export interface View {
  /** Must occur in one of the rig's texts. */
  readonly text: string;
  readonly facets: Readonly<Partial<Record<FacetKey, readonly string[]>>>;
  readonly ranges: Readonly<Partial<Record<RangeKey, Range>>>;
  readonly sort: ColumnKey;
  readonly descending: boolean;
  /** Null: the default columns of this browser. */
  readonly columns: readonly ColumnKey[] | null;
  readonly layout: Layout | null;
}

export const allRigs: View = {
  text: "",
  facets: {},
  ranges: {},
  sort: "name",
  descending: false,
  columns: null,
  layout: null,
};

/** One filter of a view. */
export type Part = "text" | FacetKey | RangeKey;

export const isFacet = (part: Part): part is FacetKey => facetKeys.some((key) => key === part);
export const isRange = (part: Part): part is RangeKey => rangeKeys.some((key) => key === part);

/** The active filters of a view. */
export const partsOf = ({ text, facets, ranges }: View): Part[] => [
  ...(text.trim() === "" ? [] : (["text"] as const)),
  ...facetKeys.filter((key) => facets[key] !== undefined),
  ...rangeKeys.filter((key) => ranges[key] !== undefined),
];

export function without(view: View, part: Part): View {
  if (part === "text") return { ...view, text: "" };
  if (isFacet(part)) return withFacet(view, part, []);
  return withRange(view, part, null);
}

export function withFacet(view: View, key: FacetKey, values: readonly string[]): View {
  const { [key]: _, ...others } = view.facets;
  return { ...view, facets: values.length === 0 ? others : { ...others, [key]: values } };
}

export function withRange(view: View, key: RangeKey, range: Range | null): View {
  const { [key]: _, ...others } = view.ranges;
  const isEmpty = range === null || (range.min === null && range.max === null);
  return { ...view, ranges: isEmpty ? others : { ...others, [key]: range } };
}

export const toggled = (view: View, key: FacetKey, value: string): View => {
  const values = view.facets[key] ?? [];
  return withFacet(view, key, values.includes(value) ? values.filter((each) => each !== value) : [...values, value]);
};

/** Limits for input from an address. */
const longestText = 200;
const mostValues = 100;

/** The view in the query of an address. Unknown parts are ignored. */
export function viewIn(search: string): View {
  const query = new URLSearchParams(search);
  const sort = query.get("sort") ?? "";
  const column = sort.replace(/^-/, "");
  const columns = (query.get("columns") ?? "").split(",").filter(isColumn);
  const facets = facetKeys.flatMap((key): [FacetKey, string[]][] => {
    const values = [...new Set(query.getAll(key).map((value) => value.slice(0, longestText)))]
      .filter((value) => key !== "status" || statuses.some((status) => status === value))
      .slice(0, mostValues);
    return values.length === 0 ? [] : [[key, values]];
  });
  const ranges = rangeKeys.flatMap((key): [RangeKey, Range][] => {
    const range = rangeIn(query.get(key));
    return range === null ? [] : [[key, range]];
  });
  return {
    text: (query.get("q") ?? "").slice(0, longestText),
    facets: Object.fromEntries(facets),
    ranges: Object.fromEntries(ranges),
    sort: isColumn(column) ? column : allRigs.sort,
    descending: isColumn(column) && sort.startsWith("-"),
    columns: columns.length === 0 ? null : [...new Set(columns)],
    layout: layouts.find((layout) => layout === query.get("layout")) ?? null,
  };
}

/** "75..", "..0" and "60..80". */
function rangeIn(text: string | null): Range | null {
  const found = /^(-?\d{1,15}(?:\.\d{1,6})?)?\.\.(-?\d{1,15}(?:\.\d{1,6})?)?$/.exec(text ?? "");
  if (found === null) return null;
  const [min = null, max = null] = [found[1], found[2]].map((each) => (each === undefined ? null : Number(each)));
  return min === null && max === null ? null : { min, max };
}

/** The query of a view, with its question mark; empty for the default view. */
export function searchOf(view: View): string {
  const query = new URLSearchParams();
  if (view.text.trim() !== "") query.set("q", view.text);
  for (const key of facetKeys) for (const value of view.facets[key] ?? []) query.append(key, value);
  for (const key of rangeKeys) {
    const range = view.ranges[key];
    if (range !== undefined) query.set(key, `${range.min ?? ""}..${range.max ?? ""}`);
  }
  if (view.sort !== allRigs.sort || view.descending) query.set("sort", `${view.descending ? "-" : ""}${view.sort}`);
  if (view.columns !== null) query.set("columns", view.columns.join(","));
  if (view.layout !== null) query.set("layout", view.layout);
  const text = query.toString().replaceAll("%2C", ",");
  return text === "" ? "" : `?${text}`;
}

/** Only the filters and the order, which a saved view keeps. */
export const filtersOf = (view: View): string => searchOf({ ...view, columns: null, layout: null });
