import { signal } from "@preact/signals";
import { filtersOf, viewIn } from "./view.ts";

/** A named view. Its filters are stored as in an address. */
export interface SavedView {
  readonly name: string;
  readonly search: string;
}

const storageKey = "rigbridge.rigs.views";
export const longestName = 60;
export const mostViews = 30;

function stored(): readonly SavedView[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(list) ? list.flatMap(viewsIn).slice(0, mostViews) : [];
  } catch {
    return [];
  }
}

function viewsIn(each: unknown): SavedView[] {
  if (typeof each !== "object" || each === null || !("name" in each) || !("search" in each)) return [];
  const { name, search } = each;
  if (typeof name !== "string" || typeof search !== "string" || name.trim() === "") return [];
  return [{ name: name.slice(0, longestName), search: filtersOf(viewIn(search)) }];
}

/** The views saved in this browser. */
export const savedViews = signal(stored());

function keep(views: readonly SavedView[]): void {
  savedViews.value = views;
  localStorage.setItem(storageKey, JSON.stringify(views));
}

/** Replaces the view with the same name. */
export const saveView = (view: SavedView): void =>
  keep([...savedViews.value.filter(({ name }) => name !== view.name), view].slice(-mostViews));

export const deleteView = (wanted: SavedView): void => keep(savedViews.value.filter((view) => view !== wanted));

/** Built-in views. °C and money per day, as in the filters. */
export const builtInViews = [
  { name: "notMining", search: "?status=Idle&status=Stopped&status=Error&status=Disconnected" },
  { name: "hot", search: "?temperature=75..&sort=-temperature" },
  { name: "losing", search: "?profit=..0&sort=profit" },
] as const;
