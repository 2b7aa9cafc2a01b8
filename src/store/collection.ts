import type { z } from "zod";
import type { Mutex } from "../async/index.ts";
import { notFound, RigbridgeError } from "../contract/problems.ts";
import type { Database, Statement } from "./database.ts";
import { StandbyRows } from "./standby-rows.ts";
import type { Tables } from "./tables.ts";
import { upsert } from "./upsert.ts";

export type Stored<T> = T & {
  readonly id: number;
  /** "file": declared by the configuration file; "store": added over the API. */
  readonly owner: "file" | "store";
  /** Its key in the file. */
  readonly key: string | null;
  /** Removed from the file; kept for its id and history. */
  readonly disabled: boolean;
};

/** Changes of one collection that are not written yet. */
export interface Changes<T> {
  readonly added?: readonly T[];
  readonly changed?: ReadonlyMap<number, Partial<T>>;
  readonly removed?: readonly number[];
}

/** Changes that are written together with those of other collections, by `commit` of the store. */
export interface Prepared {
  /** When it is their turn, so that they follow every earlier change. Throws not.found. */
  written(): WrittenChanges;
}

export interface WrittenChanges {
  readonly statements: readonly Statement[];
  /** Called once they are stored. */
  apply(): void;
}

/**
 * Rows are kept in memory and written through: reads are synchronous, a resolved write is stored, and nobody sees what is
 * not. Changes of all collections are made one after another, in the order in which they were asked for.
 */
export interface Collection<T> {
  /** By id, disabled ones included. The array never changes; a later call may return another. */
  all(): readonly Stored<T>[];
  get(id: number): Stored<T> | undefined;
  add(value: T): Promise<Stored<T>>;
  /** Throws not.found. */
  change(id: number, patch: Partial<T>): Promise<Stored<T>>;
  /** The highest id so far: rows get the next ones in their order. Only who alone adds rows can rely on it. */
  readonly lastId: number;
  /**
   * Adds rows and changes others in one transaction, in which prepared changes of other collections are made first;
   * resolves with the rows, added ones first. Throws not.found.
   */
  addAndChange(
    added: readonly T[],
    changes: ReadonlyMap<number, Partial<T>>,
    first?: readonly Prepared[],
  ): Promise<readonly Stored<T>[]>;
  /** Throws not.found. */
  remove(id: number): Promise<void>;
  /** Changes for `commit`. */
  prepare(changes: Changes<T>): Prepared;
  /**
   * Applies the declarations of the configuration file, by key, in one transaction: new keys are added with owner
   * "file", existing ones changed and enabled, and missing ones disabled.
   */
  declare(declared: ReadonlyMap<string, T>): Promise<ReadonlyMap<string, Stored<T>>>;
}

interface RowHeader {
  readonly id: number;
  readonly owner: "file" | "store";
  readonly key: string | null;
  readonly disabled: boolean;
}

interface Entry<T> {
  readonly value: T;
  readonly json: string;
  readonly row: Stored<T>;
}

const entry = <T extends object>(
  value: T,
  { id, owner, key, disabled }: RowHeader,
  json = JSON.stringify(value),
): Entry<T> => ({
  value,
  json,
  row: { ...value, id, owner, key, disabled },
});

interface RowKind<T> {
  readonly name: string;
  readonly schema: z.ZodType<T>;
}

export interface CollectionKind<T> extends RowKind<T> {
  /** The first id is one higher. */
  readonly after: number;
}

/**
 * Reads a collection into memory, unless this service had it there while it waited. `turns`: shared by all of a store.
 * Throws store.refused if a row does not fit the schema.
 */
export const openCollection = async <T extends object>(
  database: Database,
  turns: Mutex,
  kind: CollectionKind<T>,
  standby?: CollectionRows<T>,
): Promise<Collection<T>> => {
  const { tables } = database;
  const { name, after } = kind;
  const entries = standby?.take()?.toSorted((one, other) => one.row.id - other.row.id) ?? (await read(database, kind));
  const sequence = await tables.selectFrom("sequence").select("last").where("collection", "=", name).execute();
  const byId = new Map(entries.map((each) => [each.row.id, each]));
  return new StoredCollection(database, turns, name, byId, sequence[0]?.last ?? after);
};

const read = async <T extends object>(
  { name: store, tables }: Database,
  kind: CollectionKind<T>,
): Promise<readonly Entry<T>[]> => {
  const ofKind = tables.selectFrom("resource").selectAll().where("collection", "=", kind.name);
  return (await ofKind.orderBy("id").execute()).map((row) => stored(store, kind, row));
};

export type CollectionRows<T> = StandbyRows<Tables["resource"], Entry<T>>;

/** For a service that waits. */
export const collectionRows = <T extends object>(kind: RowKind<T>): CollectionRows<T> =>
  new StandbyRows({
    from: "resource",
    where: `collection = '${kind.name}'`,
    key: "id",
    read: (row) => stored("", kind, row),
  });

const stored = <T extends object>(store: string, kind: RowKind<T>, row: Tables["resource"]): Entry<T> =>
  entry(parse(store, kind, row), { ...row, disabled: row.disabled === 1 }, row.value);

const parse = <T>(store: string, { name, schema }: RowKind<T>, row: Tables["resource"]): T => {
  try {
    return schema.parse(JSON.parse(row.value));
  } catch {
    // Without the cause: a JSON error quotes the text, which may hold a password.
    throw new RigbridgeError(
      "store.refused",
      `The store ${store} is damaged: ${name} ${row.id} cannot be read; restore the store from a backup. Nothing was changed.`,
    );
  }
};

const resourceRows = upsert(
  "resource",
  { collection: "text", id: "integer", owner: "text", key: "text", disabled: "integer", value: "text" },
  ["collection", "id"],
);

class StoredCollection<T extends object> implements Collection<T> {
  readonly #database: Database;
  readonly #turns: Mutex;
  readonly #name: string;
  readonly #entries: Map<number, Entry<T>>;
  #last: number;
  #all: readonly Stored<T>[] | undefined;

  constructor(database: Database, turns: Mutex, name: string, entries: Map<number, Entry<T>>, last: number) {
    this.#database = database;
    this.#turns = turns;
    this.#name = name;
    this.#entries = entries;
    this.#last = last;
  }

  all(): readonly Stored<T>[] {
    this.#all ??= [...this.#entries.values()].map(({ row }) => row);
    return this.#all;
  }

  get(id: number): Stored<T> | undefined {
    return this.#entries.get(id)?.row;
  }

  async add(value: T): Promise<Stored<T>> {
    return onlyOf(await this.addAndChange([value], new Map()));
  }

  async change(id: number, patch: Partial<T>): Promise<Stored<T>> {
    return onlyOf(await this.addAndChange([], new Map([[id, patch]])));
  }

  get lastId(): number {
    return this.#last;
  }

  async addAndChange(
    added: readonly T[],
    changes: ReadonlyMap<number, Partial<T>>,
    first: readonly Prepared[] = [],
  ): Promise<readonly Stored<T>[]> {
    const entries = await this.#save(() => this.#entriesOf(added, changes), first);
    return entries.map(({ row }) => row);
  }

  #entriesOf(added: readonly T[], changed: ReadonlyMap<number, Partial<T>>): Entry<T>[] {
    return [
      ...added.map((value, index) => this.#added(value, index + 1)),
      ...Array.from(changed, ([id, patch]) => this.#changed(id, patch)),
    ];
  }

  prepare({ added = [], changed = new Map(), removed = [] }: Changes<T>): Prepared {
    return {
      written: () => {
        for (const id of removed) this.#existing(id);
        return this.#written(this.#entriesOf(added, changed), removed);
      },
    };
  }

  #added(value: T, place: number): Entry<T> {
    return entry(value, { id: this.#last + place, owner: "store", key: null, disabled: false });
  }

  #changed(id: number, patch: Partial<T>): Entry<T> {
    const existing = this.#existing(id);
    return entry({ ...existing.value, ...patch }, existing.row);
  }

  async remove(id: number): Promise<void> {
    await this.#turns.run(async () => {
      this.#existing(id);
      const { statements, apply } = this.#written([], [id]);
      await this.#database.free(statements);
      apply();
    });
  }

  async declare(declared: ReadonlyMap<string, T>): Promise<ReadonlyMap<string, Stored<T>>> {
    await this.#save(() => this.#declared(declared).filter((each) => this.#differs(each)));
    const present = [...this.#entries.values()].map(({ row }) => row).filter(({ disabled }) => !disabled);
    return new Map(present.flatMap((row) => (row.key !== null && declared.has(row.key) ? [[row.key, row]] : [])));
  }

  #declared(declared: ReadonlyMap<string, T>): Entry<T>[] {
    const existing = new Map(
      [...this.#entries.values()].flatMap((each) => (each.row.key === null ? [] : [[each.row.key, each]])),
    );
    let last = this.#last;
    const present = [...declared].map(([key, value]) =>
      entry(value, { id: existing.get(key)?.row.id ?? ++last, owner: "file", key, disabled: false }),
    );
    const gone = [...existing.values()]
      .filter(({ row }) => row.key !== null && !declared.has(row.key))
      .map(({ value, row }) => entry(value, { ...row, disabled: true }));
    return [...present, ...gone];
  }

  #differs({ row, json }: Entry<T>): boolean {
    const existing = this.#entries.get(row.id);
    return existing === undefined || existing.json !== json || existing.row.disabled !== row.disabled;
  }

  #existing(id: number): Entry<T> {
    const existing = this.#entries.get(id);
    if (existing === undefined) throw notFound(this.#name, id);
    return existing;
  }

  /** When it is their turn, writes the entries in one transaction, then updates memory. Resolves with the entries. */
  #save(entriesNow: () => readonly Entry<T>[], first: readonly Prepared[] = []): Promise<readonly Entry<T>[]> {
    return this.#turns.run(async () => {
      const entries = entriesNow();
      const written = first.map((each) => each.written());
      if (entries.length > 0) written.push(this.#written(entries, []));
      const statements = written.flatMap((each) => each.statements);
      if (statements.length > 0) await this.#database.write(statements);
      for (const { apply } of written) apply();
      return entries;
    });
  }

  #written(entries: readonly Entry<T>[], removed: readonly number[]): WrittenChanges {
    const last = entries.reduce((highest, { row }) => Math.max(highest, row.id), this.#last);
    return {
      statements: [
        ...removed.map((id) => this.#deletion(id)),
        ...(entries.length > 0 ? [resourceRows(entries.map((each) => this.#rowOf(each)))] : []),
        ...(last > this.#last ? [this.#counted(last)] : []),
      ],
      apply: () => {
        for (const id of removed) this.#entries.delete(id);
        for (const each of entries) this.#entries.set(each.row.id, each);
        this.#last = last;
        this.#all = undefined;
      },
    };
  }

  #deletion(id: number): Statement {
    return this.#database.tables.deleteFrom("resource").where("collection", "=", this.#name).where("id", "=", id);
  }

  #rowOf({ json, row: { id, owner, key, disabled } }: Entry<T>) {
    return [this.#name, id, owner, key, disabled ? 1 : 0, json];
  }

  #counted(last: number): Statement {
    return this.#database.tables
      .insertInto("sequence")
      .values({ collection: this.#name, last })
      .onConflict((conflict) => conflict.column("collection").doUpdateSet({ last }));
  }
}

function onlyOf<T>([row]: readonly Stored<T>[]): Stored<T> {
  if (row === undefined) throw new RigbridgeError("internal", "Nothing was written");
  return row;
}
