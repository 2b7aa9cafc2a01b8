import { randomBytes } from "node:crypto";
import { type PlaceKind, placeKinds } from "../../contract/places.ts";
import { invalid, thing } from "../../contract/problems.ts";
import type { Location, Position } from "../../contract/resources.ts";
import { detail } from "../../messages/detail.ts";
import type { Prepared, Store, StoredMiner, StoredPlace } from "../../store/index.ts";
import { childKey, locationKey, type PlaceBook, type PlaceChain, type PlaceLocation, partOf } from "./place-book.ts";

/** The parts of a location that are places, largest first, and their kinds. */
const levels = [
  ["site", "site"],
  ["container", "building"],
  ["rack", "rack"],
] as const;

/** A miner's place, and where it is there. */
export type Placement = Pick<StoredMiner, "placeId" | "position" | "slot">;

/** Two miners of one position; null: a miner that is being added. */
export interface PositionConflict {
  readonly minerId: number | null;
  /** The line of a file that puts it there. */
  readonly line: number | null;
  readonly other: { readonly minerId: number | null; readonly line: number | null };
  readonly position: Position;
}

/**
 * Where one change puts miners, with the places that it adds. Changes of definitions are made one after another, so that
 * the ids of new places, and what is free, stay as they are here.
 */
export class Placing {
  readonly #book: PlaceBook;
  readonly #store: Pick<Store, "places" | "miners">;
  readonly #visible: ReadonlySet<number> | null;
  readonly #added: StoredPlace[] = [];
  /** New places by parent, kind and name. */
  readonly #newNames = new Map<string, number>();
  /** Places by the key of their location. */
  readonly #found = new Map<string, number>();
  readonly #put: { readonly minerId: number | null; readonly placement: Placement; readonly line: number | null }[] =
    [];

  /** `visible`: the places that the caller sees, who finds no others and adds none at the top; null: all. */
  constructor(book: PlaceBook, store: Pick<Store, "places" | "miners">, visible: ReadonlySet<number> | null = null) {
    this.#book = book;
    this.#store = store;
    this.#visible = visible;
  }

  /**
   * The place of a location, which is added if it is missing. `present`, the place now, stays if it has this location.
   * Throws `input.invalid` if several racks have it and `first` is false, or if the caller may not use or add it.
   */
  at(location: PlaceLocation, { present = null, first = false }: At = {}): number | null {
    const own = this.#book.get(present);
    if (own !== undefined && locationKey(own.location) === locationKey(location)) return present;
    let parent: number | null = null;
    const around: { -readonly [Part in keyof PlaceLocation]: string | null } = {
      site: null,
      container: null,
      rack: null,
    };
    for (const [part, kind] of levels) {
      const name = location[part]?.trim();
      if (name === undefined || name === "") continue;
      around[part] = name;
      const key = locationKey(around);
      const [only, another] = this.#book.at(around).filter(({ row }) => this.#sees(row.id));
      if (another !== undefined && !first) throw invalid(`location.${part}`, detail("place.several", { name }));
      const id: number = this.#found.get(key) ?? only?.row.id ?? this.#inside(parent, kind, name, `location.${part}`);
      this.#found.set(key, id);
      parent = id;
    }
    return parent;
  }

  /** The placement of a location as a whole: the place in which the miner is now keeps its position. */
  placed({ slot, ...location }: Location, now: Placement | null, first = false): Placement {
    const present = now?.placeId ?? null;
    const placeId = this.at(location, { present, first });
    return { placeId, position: placeId === present ? (now?.position ?? null) : null, slot: slot || null };
  }

  /**
   * The place of a chain of names, largest first, which is added with those around it if it is missing. Throws
   * `input.invalid` if the caller may not use or add it.
   */
  inside(chain: PlaceChain): number | null {
    let parent: number | null = null;
    for (const kind of placeKinds) {
      const name = chain[kind];
      if (name !== null) parent = this.#inside(parent, kind, name, `location.${partOf[kind] ?? kind}`);
    }
    return parent;
  }

  /** A place with this name inside another. Throws `input.invalid` at `path`. */
  #inside(parentId: number | null, kind: PlaceKind, name: string, path: string): number {
    const known = this.#book.child(parentId, kind, name)?.row.id;
    if (known !== undefined && this.#sees(known)) return known;
    const key = childKey(parentId, kind, name);
    const added = this.#newNames.get(key);
    if (added !== undefined) return added;
    // Hidden places keep their names.
    if (known !== undefined || (parentId === null && this.#visible !== null))
      throw invalid(path, detail("input.noThing", { thing: thing("place"), id: name }));
    this.#added.push({ uid: newPlaceUid(), kind, name, parentId, order: 0 });
    const id = this.#store.places.lastId + this.#added.length;
    this.#newNames.set(key, id);
    return id;
  }

  #sees(id: number): boolean {
    return this.#visible === null || this.#visible.has(id);
  }

  /** Takes note of where a miner comes, for `conflicts`; null: one that is being added. */
  put(minerId: number | null, placement: Placement, line: number | null = null): void {
    this.#put.push({ minerId, placement, line });
  }

  /** Positions that two miners would have. */
  conflicts(): readonly PositionConflict[] {
    if (this.#put.every(({ placement }) => placement.position === null)) return [];
    const moved = new Set(this.#put.map(({ minerId }) => minerId));
    const holders = new Map<string, PositionConflict["other"]>();
    for (const { id, disabled, ...placement } of this.#store.miners.all()) {
      const key = disabled || moved.has(id) ? null : positionKey(placement);
      if (key !== null) holders.set(key, { minerId: id, line: null });
    }
    return this.#put.flatMap(({ minerId, placement, line }) => {
      const key = positionKey(placement);
      if (key === null || placement.position === null) return [];
      const other = holders.get(key);
      holders.set(key, { minerId, line });
      return other === undefined ? [] : [{ minerId, line, other, position: placement.position }];
    });
  }

  /** The places that are added. */
  get added(): readonly StoredPlace[] {
    return this.#added;
  }

  /** To be written together with the miners. */
  get changes(): readonly Prepared[] {
    return this.#added.length === 0 ? [] : [this.#store.places.prepare({ added: this.#added })];
  }
}

interface At {
  readonly present?: number | null;
  readonly first?: boolean;
}

export const newPlaceUid = (): string => randomBytes(6).toString("hex");

const positionKey = ({ placeId, position }: Placement): string | null =>
  placeId === null || position === null ? null : `${placeId} ${position.row} ${position.column}`;
