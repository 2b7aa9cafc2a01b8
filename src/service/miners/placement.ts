import { didYouMean } from "../../contract/nearest.ts";
import type { PlaceName } from "../../contract/places.ts";
import { invalid, thing } from "../../contract/problems.ts";
import type { Input } from "../../contract/service.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, Stored, StoredMiner } from "../../store/index.ts";
import { type PlaceBook, type PlaceNode, placesOf } from "../places/place-book.ts";
import type { Placement, Placing, PositionConflict } from "../places/placing.ts";
import type { Access } from "../users/access.ts";
import { blankMiner } from "./declared-miner.ts";
import type { MinerEntries } from "./miner-entries.ts";
import type { MinerFacts } from "./present-miner.ts";

export interface PlacementContext {
  readonly places: PlaceBook;
  readonly registry: Pick<MinerEntries, "entriesFor" | "nameFor" | "visible">;
}

type PlacementInput = Pick<Input<"changeMiner">, "location" | "placeId" | "position">;

/** Where an input puts a miner; nothing if it does not say. Throws `input.invalid`. */
export function placementOf(
  { location, placeId, position }: PlacementInput,
  existing: Stored<StoredMiner> | null,
  context: PlacementContext,
  placing: Placing,
  access: Access,
): Partial<Placement> {
  if (location === undefined && placeId === undefined && position === undefined) return {};
  if (location !== undefined && placeId !== undefined) throw invalid("placeId", detail("place.twoWays"));
  let placement: Placement = existing ?? blankMiner;
  if (location !== undefined) placement = placing.placed(location, placement);
  else if (placeId !== undefined && placeId !== placement.placeId) {
    if (placeId !== null) checkPlace(placeId, context, access);
    placement = { ...placement, placeId, position: null };
  }
  // A rig that has its place from the defaults gets a position in it, and with it the place itself.
  else if (placement.placeId === null && position != null && existing !== null) {
    const facts = context.registry.visible(existing.id, access)?.facts;
    if (facts !== undefined) placement = shownPlacement(facts);
  }
  const { slot } = placement;
  const placed = { placeId: placement.placeId, position: position === undefined ? placement.position : position, slot };
  checkPosition(placed, context.places);
  placing.put(existing?.id ?? null, placed);
  return placed;
}

/** Where a miner is shown: in the place of the defaults if it has none itself. */
export const shownPlacement = ({ placeId, position, location }: MinerFacts): Placement => ({
  placeId,
  position,
  slot: location.slot,
});

function checkPlace(id: number, { places, registry }: PlacementContext, access: Access): void {
  if (places.get(id) === undefined || visiblePlaces(places, registry, access)?.has(id) === false)
    throw invalid("placeId", detail("input.noThing", { thing: thing("place"), id }));
}

/** The places of the miners that this access sees, and those around them; null: all. */
export function visiblePlaces(
  places: PlaceBook,
  registry: Pick<MinerEntries, "entriesFor">,
  access: Access,
): ReadonlySet<number> | null {
  if (access.all) return null;
  const seen = new Set<number>();
  for (const { facts } of registry.entriesFor(access))
    for (
      let node = places.get(facts.placeId);
      node !== undefined && !seen.has(node.row.id);
      node = node.parent ?? undefined
    )
      seen.add(node.row.id);
  return seen;
}

/** Finds a place by its id or path and returns its id, or the reason why it was not found. */
export function placeFinder(
  places: PlaceBook,
  registry: Pick<MinerEntries, "entriesFor">,
  access: Access,
): (place: PlaceName) => number | { readonly message: string } {
  const visible = visiblePlaces(places, registry, access);
  const isSeen = ({ row }: PlaceNode): boolean => visible === null || visible.has(row.id);
  return (place) => {
    const [first, another] = places.called(place).filter(isSeen);
    if (another !== undefined) return { message: `there are several places ${place}; give the id` };
    if (first !== undefined) return first.row.id;
    const paths = places
      .all()
      .filter(isSeen)
      .map(({ path }) => path);
    return { message: `there is no place ${place}${didYouMean(String(place), paths)}` };
  };
}

/** The id of a place. Throws `input.invalid` at `place`. */
export function placeIdOf(
  place: PlaceName,
  store: Pick<Store, "places">,
  registry: Pick<MinerEntries, "entriesFor">,
  access: Access,
): number {
  const found = placeFinder(placesOf(store), registry, access)(place);
  if (typeof found === "number") return found;
  throw invalid("place", found.message);
}

/** The miners in these places that this access sees. */
export const minersInPlaces = (
  placeIds: ReadonlySet<number>,
  registry: Pick<MinerEntries, "entriesFor">,
  access: Access,
): number[] =>
  Array.from(registry.entriesFor(access), ({ facts }) => facts).flatMap(({ id, placeId }) =>
    placeId !== null && placeIds.has(placeId) ? [id] : [],
  );

/** Throws `input.invalid` for a position without a place, or beyond its rows or columns. */
export function checkPosition({ placeId, position }: Placement, places: PlaceBook): void {
  if (position === null) return;
  if (placeId === null) throw invalid("position", detail("place.noPlace"));
  const { rows, columns } = places.get(placeId)?.row ?? {};
  for (const [part, most] of [["row", rows] as const, ["column", columns] as const])
    if (most !== undefined && position[part] > most)
      throw invalid(`position.${part}`, detail("place.beyond", { most }));
}

/** Throws `input.invalid` if two miners would have one position. */
export function refuseConflicts(placing: Placing, registry: PlacementContext["registry"], access: Access): void {
  const [conflict] = placing.conflicts();
  if (conflict !== undefined) throw invalid("position", takenBy(conflict, registry, access));
}

/** The sentence for a position that another miner has. */
export const takenBy = (
  { other, position: { row, column } }: PositionConflict,
  registry: PlacementContext["registry"],
  access: Access,
): Detail =>
  detail("place.taken", {
    row,
    column,
    miner: other.minerId === null ? detail("rig.another") : registry.nameFor(other.minerId, access),
  });
