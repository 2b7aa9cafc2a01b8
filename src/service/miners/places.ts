import type { Place } from "../../contract/place-operations.ts";
import type { PlaceKind } from "../../contract/places.ts";
import { invalid, RigbridgeError, thing } from "../../contract/problems.ts";
import type { Input, MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, Stored, StoredPlace } from "../../store/index.ts";
import { done, find, given } from "../crud.ts";
import { isLarger, type PlaceBook, type PlaceNode, plainName } from "../places/place-book.ts";
import { newPlaceUid } from "../places/placing.ts";
import type { Access, AccessBook } from "../users/access.ts";
import type { MinerRegistry } from "./miner-registry.ts";
import { PlaceSum, wholeSums } from "./place-sums.ts";
import type { Totals } from "./summary.ts";

type PlaceOperations = Pick<MiningService, "listPlaces" | "addPlace" | "changePlace" | "deletePlace">;

export interface PlaceContext {
  readonly store: Store;
  readonly places: PlaceBook;
  readonly accessBook: AccessBook;
  readonly registry: Pick<MinerRegistry, "visible" | "nameFor">;
  readonly totals: (access: Access) => Totals;
  /** Open notifications by miner. */
  readonly alarms: () => ReadonlyMap<number, number>;
  /** Drops what was recorded of a place. */
  readonly forget: (id: number) => Promise<void>;
  /** Called when a place has changed, with those whose names or whereabouts are others; null: the tree is as it was. */
  readonly changed: (moved: ReadonlySet<number> | null) => Promise<void>;
}

/** Sites, buildings, rows and racks. */
export function placeOperations(context: PlaceContext): PlaceOperations {
  const { store, places, accessBook, forget, changed } = context;
  const shown = (id: number, access: Access): Place => {
    const node = places.get(id);
    if (node === undefined) throw new RigbridgeError("internal", "Nothing was written");
    const { sums, alarms } = figuresFor(context, access);
    return presentPlace(node, access, sums.get(id), alarms.get(id));
  };
  return {
    listPlaces: async (_input, caller) => {
      const access = accessBook.of(caller);
      const { sums, alarms } = figuresFor(context, access);
      return places
        .all()
        .filter(({ row: { id } }) => access.all || sums.has(id))
        .map((node) => presentPlace(node, access, sums.get(node.row.id), alarms.get(node.row.id)));
    },
    addPlace: async (body, caller) => {
      const row = { ...body, uid: newPlaceUid() };
      check(row, null, places);
      const { id } = await store.places.add(row);
      await changed(new Set());
      return shown(id, accessBook.of(caller));
    },
    changePlace: async ({ id, ...body }, caller) => {
      const access = accessBook.of(caller);
      const before = find(store.places, id, "place");
      const changes = changesOf(body);
      const next = { ...before, ...changes };
      check(next, id, places);
      checkPositions(next, context, access);
      await store.places.change(id, changes);
      const isMoved = next.kind !== before.kind || next.name !== before.name || next.parentId !== before.parentId;
      await changed(isMoved ? places.within([id]) : null);
      return shown(id, access);
    },
    deletePlace: async ({ id }) => {
      const { parentId, name } = find(store.places, id, "place");
      const inside = places.inside(id);
      const beside = places.inside(parentId).filter(({ row }) => row.id !== id);
      const clash = inside.find(({ row }) => beside.some((other) => isNamed(other, row.kind, row.name)));
      if (clash !== undefined) throw new RigbridgeError("in.use", detail("place.clash", { name: clash.row.name }));
      const affected = places.within([id]);
      const moved = store.miners.all().filter(({ placeId }) => placeId === id);
      await store.miners.addAndChange(
        [],
        new Map(moved.map((miner) => [miner.id, { placeId: parentId, position: null }])),
        [
          store.places.prepare({
            changed: new Map(inside.map(({ row }) => [row.id, { parentId }])),
            removed: [id],
          }),
        ],
      );
      await forget(id);
      await changed(affected);
      return done(`Place ${name} removed`);
    },
  };
}

/** The sums and alarms of each place with those inside it, of the miners that this access sees. */
function figuresFor({ places, registry, totals, alarms }: PlaceContext, access: Access) {
  const counts = new Map<number, number>();
  for (const [minerId, count] of alarms())
    for (
      let node = places.get(registry.visible(minerId, access)?.facts.placeId ?? null);
      node !== undefined;
      node = node.parent ?? undefined
    )
      counts.set(node.row.id, (counts.get(node.row.id) ?? 0) + count);
  return { sums: wholeSums(totals(access).places, places), alarms: counts };
}

/** What a place is fed by is shown only to those who see all of its miners. */
function presentPlace(
  { row, path, parent }: PlaceNode,
  { all }: Pick<Access, "all">,
  sum = new PlaceSum(),
  alarms = 0,
): Place {
  const { owner: _owner, key: _key, disabled: _disabled, meter, maxPower, exempt, ...place } = row;
  const feed = all ? given({ meter, maxPower, exempt }) : {};
  return { ...place, ...feed, path, parentId: parent?.row.id ?? null, ...sum.shown(), alarms };
}

/** The changes of a row: null removes what a place need not have. */
function changesOf({ kind, name, parentId, order, ...others }: Omit<Input<"changePlace">, "id">): Partial<StoredPlace> {
  const removable = Object.entries(others).filter(([, value]) => value !== undefined);
  return {
    ...given({ kind, name, parentId, order }),
    ...Object.fromEntries(removable.map(([key, value]) => [key, value ?? undefined])),
  };
}

const isNamed = ({ row }: PlaceNode, kind: PlaceKind, name: string): boolean =>
  row.kind === kind && plainName(row.name) === plainName(name);

/**
 * A place is inside a larger one, so that none can be inside itself, and has a name of its own among those of
 * its kind there. Throws `input.invalid`.
 */
function check({ kind, name, parentId }: StoredPlace, id: number | null, places: PlaceBook): void {
  const parent = places.get(parentId);
  if (parentId !== null && parent === undefined)
    throw invalid("parentId", detail("input.noThing", { thing: thing("place"), id: parentId }));
  if (id !== null && parentId !== null && places.within([id]).has(parentId))
    throw invalid("parentId", detail("place.larger"));
  const inside = id === null ? [] : places.inside(id);
  if ((parent !== undefined && !isLarger(parent.row.kind, kind)) || inside.some(({ row }) => !isLarger(kind, row.kind)))
    throw invalid("kind", detail("place.larger"));
  if (places.inside(parentId).some((other) => other.row.id !== id && isNamed(other, kind, name)))
    throw invalid("name", detail("place.nameTaken", { name }));
}

/** Throws `input.invalid` if a miner is beyond the rows or columns. */
function checkPositions(place: Stored<StoredPlace>, { store, registry }: PlaceContext, access: Access): void {
  for (const [part, limit] of [["row", "rows"] as const, ["column", "columns"] as const]) {
    const most = place[limit];
    if (most === undefined) continue;
    for (const { id, placeId, position, disabled } of store.miners.all())
      if (placeId === place.id && !disabled && position !== null && position[part] > most)
        throw invalid(limit, detail("place.tooSmall", { least: position[part], miner: registry.nameFor(id, access) }));
  }
}
