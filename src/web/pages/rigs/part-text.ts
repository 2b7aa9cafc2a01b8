import { number } from "../../format.ts";
import { t } from "../../language.ts";
import { reasonText } from "../../parts/status.tsx";
import { none } from "./filter.ts";
import type { GroupTree } from "./groups.ts";
import { type FacetKey, isFacet, isRange, type Part, type View } from "./view.ts";

/** The text for a key from outside, or the key itself. */
export const named = (texts: Readonly<Record<string, string>>, key: string): string =>
  Object.hasOwn(texts, key) ? (texts[key] ?? key) : key;

/** How a value of a filter is shown. */
export function valueText(key: FacetKey, value: string, tree: GroupTree): string {
  if (key === "group") return value === "0" ? t.rigs.noGroup : (tree.nameOf(Number(value)) ?? value);
  if (key === "place" && value !== none) return tree.places.get(Number(value))?.path ?? value;
  if (key === "repair") return value === none ? t.rigs.notInRepair : t.rigs.inRepair;
  if (value === none) return t.rigs.noValue;
  if (key === "status") return named(t.status, value);
  return key === "reason" ? reasonText(value) : value;
}

/** A filter of a view with its values: "Status: Idle, Stopped". */
export function partText(view: View, part: Part, tree: GroupTree): string {
  const name = t.rigs.filters[part];
  if (isFacet(part))
    return `${name}: ${(view.facets[part] ?? []).map((value) => valueText(part, value, tree)).join(", ")}`;
  if (isRange(part)) {
    const { min = null, max = null } = view.ranges[part] ?? {};
    const [from, below] = [min, max].map((each) => (each === null ? null : rangeNumber(part, each)));
    if (from !== null && from !== undefined && below !== null && below !== undefined)
      return `${name}: ${t.rigs.between({ from, below })}`;
    return `${name}: ${from === null || from === undefined ? t.rigs.under({ below: below ?? "" }) : t.rigs.atLeast({ from })}`;
  }
  return `${name}: ${view.text.trim()}`;
}

/** Shares are filtered in percent. */
const rangeNumber = (part: Part, value: number): string => number(part === "performance" ? value * 100 : value, 2);
