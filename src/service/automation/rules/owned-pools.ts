import { z } from "zod";
import { Line, PoolBody } from "../../../contract/inputs.ts";
import { didYouMean } from "../../../contract/nearest.ts";
import type { RefusedDefinition } from "../../../contract/owned.ts";
import { invalid, invalidAll, RigbridgeError } from "../../../contract/problems.ts";
import type { Input } from "../../../contract/service.ts";
import type { Collection, Prepared, Store, Stored, StoredPool, StoredPoolGroup } from "../../../store/index.ts";
import { enabled } from "../../crud.ts";
import { type PoolBook, shownName } from "../../money/pool-book.ts";
import { forgetFor } from "../../users/users.ts";
import { parsed } from "./made-rows.ts";
import { type Centre, sentenceOf } from "./owned-set.ts";

type PoolSet = Pick<Input<"replaceOwned">, "pools" | "poolGroups">;
type Kind = "pool" | "poolGroup";
type Definition = Readonly<Record<string, unknown>>;

interface Left {
  readonly refused: readonly RefusedDefinition[];
  readonly isChanged: boolean;
}

interface Taken extends Left {
  /** What of the set is not here, not even as it was before, as `kind name`. */
  readonly untaken: ReadonlySet<string>;
}

interface OwnedPoolsOptions {
  readonly store: Store;
  readonly book: PoolBook;
}

const GroupOfSet = z.object({ name: Line(200).min(1), pools: z.array(Line(200).min(1)).max(100).default([]) });

const nameOfPool = (definition: Definition): unknown => definition.description;
const nameOfGroup = (definition: Definition): unknown => definition.name;

/** The pools and pool groups that centres define here. */
export class OwnedPools {
  readonly #store: Store;
  readonly #book: PoolBook;

  constructor({ store, book }: OwnedPoolsOptions) {
    this.#store = store;
    this.#book = book;
  }

  counts(centre: string) {
    const { pools, poolGroups } = this.#store;
    return { pools: ownedBy(pools, centre).length, poolGroups: ownedBy(poolGroups, centre).length };
  }

  /** Adds and changes what a set has. `before`: the name of the centre when it last defined something here. */
  take({ pools = [], poolGroups = [] }: PoolSet, { name: centre }: Centre, before: string): Taken {
    const untaken = new Set<string>();
    const ofPools = takeEach({
      kind: "pool",
      collection: this.#store.pools,
      centres: [centre, before],
      nameOf: shownName,
      nameIn: nameOfPool,
      read: (definition): StoredPool => {
        const { id: _, runsAt: __, ...body } = parsed(PoolBody, { ...definition, id: 0 });
        return { ...this.#book.poolOf(body), centre };
      },
      definitions: pools,
      untaken,
    });
    this.#store.commit([ofPools.prepared]);
    const ofGroups = takeEach({
      kind: "poolGroup",
      collection: this.#store.poolGroups,
      centres: [centre, before],
      nameOf: ({ name }) => name,
      nameIn: nameOfGroup,
      read: (definition): StoredPoolGroup => {
        const { name, pools: names } = parsed(GroupOfSet, definition);
        return { name, pools: this.#idsOf(names, centre, untaken), centre };
      },
      definitions: poolGroups,
      untaken,
    });
    this.#store.commit([ofGroups.prepared]);
    this.#book.renew();
    return {
      refused: [...ofPools.refused, ...ofGroups.refused],
      isChanged: ofPools.isChanged || ofGroups.isChanged,
      untaken,
    };
  }

  #idsOf(names: readonly string[], centre: string, untaken: ReadonlySet<string>): number[] {
    const all = enabled(this.#store.pools);
    const found = names.map((name) => {
      const [first, another] = all.filter((pool) => shownName(pool) === name);
      return all.find((pool) => pool.centre === centre && shownName(pool) === name) ?? (another ? undefined : first);
    });
    const mistakes = names.flatMap((name, index) => {
      const path = `pools[${index}]`;
      if (untaken.has(`pool ${name}`)) return [{ path, message: `the pool "${name}" is not taken` }];
      if (found[index] !== undefined) return [];
      return [{ path, message: `there is no pool "${name}"${didYouMean(name, all.map(shownName))}` }];
    });
    if (mistakes.length > 0) throw invalidAll(mistakes);
    return found.flatMap((pool) => pool?.id ?? []);
  }

  /** Removes what a set has no longer, except what is used here. */
  async drop({ pools = [], poolGroups = [] }: PoolSet, centre: string): Promise<Left> {
    const ofGroups = await this.#dropEach(
      "poolGroup",
      goneFrom(this.#store.poolGroups, centre, poolGroups.map(nameOfGroup), ({ name }) => name),
    );
    const ofPools = await this.#dropEach("pool", goneFrom(this.#store.pools, centre, pools.map(nameOfPool), shownName));
    this.#book.renew();
    return { refused: [...ofGroups.refused, ...ofPools.refused], isChanged: ofGroups.isChanged || ofPools.isChanged };
  }

  async #dropEach(kind: Kind, gone: readonly { readonly id: number; readonly name: string }[]): Promise<Left> {
    const refused: RefusedDefinition[] = [];
    for (const { id, name } of gone) {
      try {
        if (kind === "pool") this.#book.refuseUsedPool(id);
        else this.#book.refuseUsedGroup(id);
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        refused.push({ kind, name, message: `it stays, since it is used: ${error.message}` });
        continue;
      }
      await (kind === "pool" ? this.#store.pools : this.#store.poolGroups).remove(id);
      if (kind === "pool") await forgetFor(this.#store, "pools", id);
    }
    return { refused, isChanged: refused.length < gone.length };
  }

  /** Makes what a centre has defined that of this service. */
  release(centre: string): Prepared[] {
    const { pools, poolGroups } = this.#store;
    const released = (rows: readonly { readonly id: number }[]) => ({
      changed: new Map(rows.map(({ id }) => [id, { centre: undefined }])),
    });
    return [pools.prepare(released(ownedBy(pools, centre))), poolGroups.prepare(released(ownedBy(poolGroups, centre)))];
  }
}

interface Ownable {
  readonly centre?: string | undefined;
}

const ownedBy = <R extends Ownable>(collection: Collection<R>, ...centres: readonly string[]): Stored<R>[] =>
  enabled(collection).filter(({ centre }) => centre !== undefined && centres.includes(centre));

const goneFrom = <R extends Ownable>(
  collection: Collection<R>,
  centre: string,
  names: readonly unknown[],
  nameOf: (row: R) => string,
) =>
  ownedBy(collection, centre).flatMap((row) =>
    names.includes(nameOf(row)) ? [] : [{ id: row.id, name: nameOf(row) }],
  );

interface Taking<R> {
  readonly kind: Kind;
  readonly collection: Collection<R>;
  readonly centres: readonly string[];
  readonly nameOf: (row: R) => string;
  readonly nameIn: (definition: Definition) => unknown;
  readonly read: (definition: Definition) => R;
  readonly definitions: readonly Definition[];
  /** Gets the names of what is not taken and was not here before. */
  readonly untaken: Set<string>;
}

/** The changes that bring definitions of one kind into the store, and why some are not taken. */
function takeEach<R extends Ownable & object>(taking: Taking<R>) {
  const { kind, collection, centres, nameOf, nameIn, read, definitions, untaken } = taking;
  const owned = new Map(ownedBy(collection, ...centres).map((row) => [nameOf(row), row]));
  const others = new Map(enabled(collection).flatMap((row) => (owned.has(nameOf(row)) ? [] : [[nameOf(row), row]])));
  const added: R[] = [];
  const changed = new Map<number, R>();
  const refused: RefusedDefinition[] = [];
  const seen = new Set<unknown>();
  for (const [index, definition] of definitions.entries()) {
    const given = nameIn(definition);
    const name = typeof given === "string" && given !== "" ? given : `#${index + 1}`;
    const before = owned.get(name);
    const other = others.get(name);
    const path = kind === "pool" ? "description" : "name";
    try {
      if (seen.has(name)) throw invalid(path, "is used twice");
      seen.add(name);
      if (name !== given) throw invalid(path, "is required");
      if (other !== undefined) {
        const what = kind === "pool" ? "pool" : "pool group";
        throw invalid(path, `"${name}" is the name of ${what} ${other.id} already`);
      }
      const row = read(definition);
      if (before === undefined) added.push(row);
      else if (!isSameAs(before, row)) changed.set(before.id, row);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      refused.push({ kind, name: name.slice(0, 200), message: sentenceOf(error.errors) });
      if (before === undefined) untaken.add(`${kind} ${name}`);
    }
  }
  return { prepared: collection.prepare({ added, changed }), refused, isChanged: added.length + changed.size > 0 };
}

const isSameAs = <R extends object>(before: Stored<R>, row: R): boolean =>
  Object.entries(row).every(([name, value]) => JSON.stringify(Reflect.get(before, name)) === JSON.stringify(value));
