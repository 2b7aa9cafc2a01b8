import type { Config } from "../../config/schema.ts";
import type { Store } from "../../store/index.ts";
import type { PlaceBook } from "./place-book.ts";
import { Placing } from "./placing.ts";

/** Makes places of the locations that miners of an earlier release have, once, in one transaction. */
export async function placeStoredLocations(store: Pick<Store, "places" | "miners">, book: PlaceBook): Promise<void> {
  const placing = new Placing(book, store);
  const changes = store.miners.all().flatMap(({ id, location }) => {
    if (location === null) return [];
    return [[id, { location: null, ...placing.placed(location, null, true) }] as const];
  });
  if (changes.length > 0) await store.miners.addAndChange([], new Map(changes), placing.changes);
}

/** Adds the places that the defaults of rigs name and that are missing. Resolves with whether there were any. */
export async function placeDefaults(
  { defaults }: Pick<Config, "defaults">,
  store: Pick<Store, "places" | "miners">,
  book: PlaceBook,
): Promise<boolean> {
  const placing = new Placing(book, store);
  for (const { location } of defaults) if (location !== undefined) placing.at(location, { first: true });
  if (placing.added.length === 0) return false;
  await store.places.addAndChange(placing.added, new Map());
  return true;
}
