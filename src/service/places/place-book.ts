import { type PlaceKind, type PlaceName, placeKinds } from "../../contract/places.ts";
import type { Location } from "../../contract/resources.ts";
import type { Store, Stored, StoredPlace } from "../../store/index.ts";

/** A location without its slot, which is no place. */
export type PlaceLocation = Omit<Location, "slot">;

export const nowhere: PlaceLocation = { site: null, container: null, rack: null };

/** A place in the tree. */
export interface PlaceNode {
  readonly row: Stored<StoredPlace>;
  /** Null at the top. */
  readonly parent: PlaceNode | null;
  /** In their order. */
  readonly children: readonly PlaceNode[];
  /** Names from the top: `Texas/B1/R07`. */
  readonly path: string;
  readonly location: PlaceLocation;
}

/** The names of a place and of those around it, by kind. */
export type PlaceChain = Readonly<Record<PlaceKind, string | null>>;

export function chainOf(node: PlaceNode | undefined): PlaceChain {
  const chain: Record<PlaceKind, string | null> = { site: null, building: null, row: null, rack: null };
  for (let at = node; at !== undefined; at = at.parent ?? undefined) chain[at.row.kind] = at.row.name;
  return chain;
}

const books = new WeakMap<object, PlaceBook>();

/** The tree of a store's places, one for all who ask. */
export function placesOf({ places }: Pick<Store, "places">): PlaceBook {
  const book = books.get(places) ?? new PlaceBook(places);
  books.set(places, book);
  return book;
}

/** The tree of places, built again when a place has changed. */
export class PlaceBook {
  readonly #places: Pick<Store["places"], "all">;
  #rows: readonly Stored<StoredPlace>[] | null = null;
  #tree: Tree = emptyTree;
  #shape: object = {};

  constructor(places: Pick<Store["places"], "all">) {
    this.#places = places;
  }

  /** The same object as long as no place is added, removed, renamed or moved. */
  shape(): object {
    this.#now();
    return this.#shape;
  }

  get(id: number | null): PlaceNode | undefined {
    return id === null ? undefined : this.#now().byId.get(id);
  }

  /** Every place, each before those inside it. */
  all(): readonly PlaceNode[] {
    return this.#now().nodes;
  }

  /** The places inside this one; null: those at the top. */
  inside(id: number | null): readonly PlaceNode[] {
    return id === null ? this.#now().tops : (this.get(id)?.children ?? []);
  }

  /** A place and those around it, itself first. */
  lineOf(id: number | null): readonly number[] {
    const ids: number[] = [];
    for (let node = this.get(id); node !== undefined; node = node.parent ?? undefined) ids.push(node.row.id);
    return ids;
  }

  /** These places and all inside them. */
  within(ids: Iterable<number>): ReadonlySet<number> {
    const found = new Set<number>();
    const add = ({ row, children }: PlaceNode): void => {
      if (found.has(row.id)) return;
      found.add(row.id);
      children.forEach(add);
    };
    for (const id of ids) {
      const node = this.get(id);
      if (node !== undefined) add(node);
    }
    return found;
  }

  /** The place of a kind with this name inside another, in any case. */
  child(parentId: number | null, kind: PlaceKind, name: string): PlaceNode | undefined {
    return this.#now().byName.get(childKey(parentId, kind, name));
  }

  /** The places with this path, in any case. */
  named(path: string): readonly PlaceNode[] {
    return this.#now().byPath.get(plainName(path)) ?? [];
  }

  /** The places that an id or a path names. */
  called(place: PlaceName): readonly PlaceNode[] {
    const node = typeof place === "number" ? this.get(place) : undefined;
    return typeof place === "string" ? this.named(place) : node === undefined ? [] : [node];
  }

  /** The sites, buildings and racks with this location: racks of several rows may have the same. */
  at(location: PlaceLocation): readonly PlaceNode[] {
    return this.#now().byLocation.get(locationKey(location)) ?? [];
  }

  #now(): Tree {
    const rows = this.#places.all();
    if (rows === this.#rows) return this.#tree;
    if (this.#rows === null || !isSameShape(rows, this.#rows)) this.#shape = {};
    [this.#rows, this.#tree] = [rows, treeOf(rows)];
    return this.#tree;
  }
}

const isSameShape = (rows: readonly Stored<StoredPlace>[], others: readonly Stored<StoredPlace>[]): boolean =>
  rows.length === others.length &&
  rows.every(({ id, kind, name, parentId }, index) => {
    const other = others[index];
    return other?.id === id && other.kind === kind && other.name === name && other.parentId === parentId;
  });

/** Names that differ by case alone are the same. */
export const plainName = (name: string): string => name.trim().toLowerCase();

export const locationKey = ({ site, container, rack }: PlaceLocation): string =>
  JSON.stringify([site, container, rack].map((part) => (part === null ? null : plainName(part))));

export const childKey = (parentId: number | null, kind: PlaceKind, name: string): string =>
  `${parentId ?? ""}/${kind}/${plainName(name)}`;

interface Tree {
  readonly nodes: readonly PlaceNode[];
  readonly tops: readonly PlaceNode[];
  readonly byId: ReadonlyMap<number, PlaceNode>;
  readonly byName: ReadonlyMap<string, PlaceNode>;
  readonly byPath: ReadonlyMap<string, readonly PlaceNode[]>;
  readonly byLocation: ReadonlyMap<string, readonly PlaceNode[]>;
}

const emptyTree: Tree = {
  nodes: [],
  tops: [],
  byId: new Map(),
  byName: new Map(),
  byPath: new Map(),
  byLocation: new Map(),
};

export const isLarger = (one: PlaceKind, other: PlaceKind): boolean =>
  placeKinds.indexOf(one) < placeKinds.indexOf(other);

/** The part of a location that a place of this kind gives. */
export const partOf = { site: "site", building: "container", row: null, rack: "rack" } as const;

function treeOf(rows: readonly Stored<StoredPlace>[]): Tree {
  const kinds = new Map(rows.map(({ id, kind }) => [id, kind]));
  // A row whose parent is missing or not larger is at the top, so that none is out of reach.
  const inside = Map.groupBy(rows, ({ parentId, kind }) => {
    const around = parentId === null ? undefined : kinds.get(parentId);
    return around !== undefined && isLarger(around, kind) ? parentId : null;
  });
  const nodes: PlaceNode[] = [];
  const grow = (parent: PlaceNode | null): PlaceNode[] =>
    (inside.get(parent?.row.id ?? null) ?? []).toSorted(byOrder).map((row) => {
      const part = partOf[row.kind];
      const around = parent?.location ?? nowhere;
      const children: PlaceNode[] = [];
      const node: PlaceNode = {
        row,
        parent,
        children,
        path: parent === null ? row.name : `${parent.path}/${row.name}`,
        location: part === null ? around : { ...around, [part]: row.name },
      };
      nodes.push(node);
      children.push(...grow(node));
      return node;
    });
  const tops = grow(null);
  return {
    nodes,
    tops,
    byId: new Map(nodes.map((node) => [node.row.id, node])),
    byName: new Map(nodes.map((node) => [childKey(node.parent?.row.id ?? null, node.row.kind, node.row.name), node])),
    byPath: Map.groupBy(nodes, ({ path }) => plainName(path)),
    byLocation: Map.groupBy(
      nodes.filter(({ row }) => partOf[row.kind] !== null),
      ({ location }) => locationKey(location),
    ),
  };
}

const names = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

const byOrder = (one: Stored<StoredPlace>, other: Stored<StoredPlace>): number =>
  one.order - other.order || names.compare(one.name, other.name) || one.id - other.id;
