import type { Place } from "../contract/place-operations.ts";
import type { PlaceKind } from "../contract/places.ts";
import type { Row } from "./live.ts";
import { type Sums, sumsOf } from "./sums.ts";

/** Largest first. The contract's own list comes with a library that the browser need not load. */
export const placeKinds = ["site", "building", "row", "rack"] as const satisfies readonly PlaceKind[];

/** The places of the farm. */
export interface PlaceTree {
  /** Each before those inside it, in their order. */
  readonly all: readonly Place[];
  get(id: number | null): Place | undefined;
  /** Those directly inside a place; null: at the top. */
  inside(id: number | null): readonly Place[];
  /** The ids of a place and of those around it, itself first, as texts; that of an unknown place alone. */
  lineOf(id: number): readonly string[];
  /** A place and all inside it; empty if it is unknown. */
  within(id: number): ReadonlySet<number>;
}

/** `places`: each before those inside it, as the service lists them. */
export function placeTree(places: readonly Place[]): PlaceTree {
  const byId = new Map(places.map((place) => [place.id, place]));
  const inside = Map.groupBy(places, ({ parentId }) => parentId);
  const lines = new Map<number, readonly string[]>();
  for (const { id, parentId } of places)
    lines.set(id, [String(id), ...((parentId === null ? undefined : lines.get(parentId)) ?? [])]);
  return {
    all: places,
    get: (id) => (id === null ? undefined : byId.get(id)),
    inside: (id) => inside.get(id) ?? [],
    lineOf: (id) => lines.get(id) ?? [String(id)],
    within: (id) => {
      const own = String(id);
      return new Set(places.flatMap((place) => (lines.get(place.id)?.includes(own) === true ? [place.id] : [])));
    },
  };
}

export const noPlaces: PlaceTree = placeTree([]);

/** Sums over the rigs of each place and of those inside it, by id. */
export function sumsByPlace({ all, lineOf }: PlaceTree, rows: Iterable<Row>): ReadonlyMap<number, Sums> {
  const rowsIn = new Map<string, Row[]>(all.map(({ id }) => [String(id), []]));
  for (const row of rows) if (row.place != null) for (const id of lineOf(row.place)) rowsIn.get(id)?.push(row);
  return new Map(all.map(({ id }) => [id, sumsOf(rowsIn.get(String(id)) ?? [])]));
}

/** An order between those of its neighbours needs a gap; new orders leave one. */
const gap = 10;
const mostOrder = 1_000_000;

type Ordered = Pick<Place, "id" | "order">;

/**
 * The orders by which a place comes to another index among those of its parent, by id: its own alone where the orders
 * of its neighbours leave room for it, else those of all that change.
 */
export function ordersToMove(siblings: readonly Ordered[], id: number, to: number): ReadonlyMap<number, number> {
  const moved = siblings.filter((place) => place.id === id);
  const others = siblings.filter((place) => place.id !== id);
  const before = others[to - 1]?.order ?? -1;
  const after = others[to]?.order ?? Math.min(mostOrder, before + 2 * gap);
  const between = Math.floor((before + after) / 2);
  if (before < between && between < after) return new Map([[id, between]]);
  const orders = others.toSpliced(to, 0, ...moved).map((place, index) => [place, gap * (index + 1)] as const);
  return new Map(orders.flatMap(([place, order]) => (place.order === order ? [] : [[place.id, order]])));
}
