import { z } from "zod";
import { Line, PoolBody } from "../../../contract/inputs.ts";
import { didYouMean } from "../../../contract/nearest.ts";
import type { RefusedDefinition } from "../../../contract/owned.ts";
import { invalid, invalidAll, RigbridgeError } from "../../../contract/problems.ts";
import type { Input } from "../../../contract/service.ts";
import { noTemplateProgram, TemplateBody } from "../../../contract/templates.ts";
import type {
  Collection,
  Prepared,
  Store,
  Stored,
  StoredPool,
  StoredPoolGroup,
  StoredTemplate,
} from "../../../store/index.ts";
import { enabled, given } from "../../crud.ts";
import { shownName } from "../../money/pool-book.ts";
import { type Access, needsAll } from "../../users/access.ts";
import { forgetFor } from "../../users/users.ts";
import { nameSpace } from "../rights.ts";
import { words } from "../step-targets.ts";
import { refuseUsedTemplate } from "../templates.ts";
import { parsed, type RuleOperationsOptions } from "./made-rows.ts";
import { type Centre, sentenceOf, untakenNames } from "./owned-set.ts";

type TargetSet = Pick<Input<"replaceOwned">, "pools" | "poolGroups" | "templates">;
type Kind = "pool" | "poolGroup" | "template";
type Definition = Readonly<Record<string, unknown>>;

interface Left {
  readonly refused: readonly RefusedDefinition[];
  readonly isChanged: boolean;
}

interface Taken extends Left {
  /** What of the set is not here, not even as it was before, as `kind name`. */
  readonly untaken: ReadonlySet<string>;
}

type OwnedTargetsOptions = Pick<RuleOperationsOptions, "store" | "book" | "targets" | "accessBook" | "programMistakes">;

const GroupOfSet = z.object({ name: Line(200).min(1), pools: z.array(Line(200).min(1)).max(100).default([]) });

const nameOfPool = (definition: Definition): unknown => definition.description;
const nameIn = (definition: Definition): unknown => definition.name;

/** The pools, pool groups and templates that centres define here, which steps name. */
export class OwnedTargets {
  readonly #options: OwnedTargetsOptions;
  readonly #store: Store;

  constructor(options: OwnedTargetsOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  counts(centre: string) {
    const { pools, poolGroups, templates } = this.#store;
    return {
      pools: ownedBy(pools, centre).length,
      poolGroups: ownedBy(poolGroups, centre).length,
      templates: ownedBy(templates, centre).length,
    };
  }

  /**
   * Adds and changes what a set has. `before`: the name of the centre when it last defined something here; `access`: that
   * of its user.
   */
  async take(set: TargetSet, { name: centre, id: makerId }: Centre, before: string, access: Access): Promise<Taken> {
    const { pools = [], poolGroups = [], templates = [] } = set;
    const { book, accessBook } = this.#options;
    const centres = [centre, before];
    const untaken = new Set<string>();
    const ofPools = takeEach({
      kind: "pool",
      collection: this.#store.pools,
      rows: enabled(this.#store.pools),
      centres,
      nameOf: shownName,
      nameIn: nameOfPool,
      read: (definition): StoredPool => {
        const { id: _, runsAt: __, ...body } = parsed(PoolBody, { ...definition, id: 0 });
        return { ...book.poolOf(body), centre };
      },
      definitions: pools,
      untaken,
    });
    await this.#store.commit([ofPools.prepared]);
    const ofGroups = takeEach({
      kind: "poolGroup",
      collection: this.#store.poolGroups,
      rows: enabled(this.#store.poolGroups),
      centres,
      nameOf: ({ name }) => name,
      nameIn,
      read: (definition): StoredPoolGroup => {
        const { name, pools: names } = parsed(GroupOfSet, definition);
        return { name, pools: this.#idsOf(names, centre, untaken), centre };
      },
      definitions: poolGroups,
      untaken,
    });
    await this.#store.commit([ofGroups.prepared]);
    book.renew();
    const space = nameSpace(makerId, accessBook);
    const ofTemplates = takeEach({
      kind: "template",
      collection: this.#store.templates,
      rows: enabled(this.#store.templates).filter((row) => nameSpace(row.makerId, accessBook) === space),
      centres,
      nameOf: ({ name }) => name,
      nameIn,
      read: (definition, was) => this.#templateOf(definition, { centre, makerId, was, access, untaken }),
      definitions: templates,
      untaken,
    });
    await this.#store.commit([ofTemplates.prepared]);
    const all = [ofPools, ofGroups, ofTemplates];
    return {
      refused: all.flatMap(({ refused }) => refused),
      isChanged: all.some(({ isChanged }) => isChanged),
      untaken,
    };
  }

  /** The template of a definition, whose names mean what is here. */
  #templateOf(definition: Definition, { centre, makerId, was, access, untaken }: TemplateOf): StoredTemplate {
    const { targets, programMistakes } = this.#options;
    const { id: _, runsAt: __, name, do: steps = null, ...fields } = parsed(TemplateBody, { ...definition, id: 0 });
    const program = { ...noTemplateProgram, ...given(fields) };
    const made = { owner: "store", makerId } as const;
    const { links, mistakes: unclear } = targets.resolve({ do: steps ?? [] }, made, was?.links);
    const mistakes = [...unclear, ...untakenNames({ links }, untaken), ...programMistakes(program)];
    if (mistakes.length > 0) throw invalidAll(mistakes);
    // The same right as for managed miners.
    if (Object.values(program).some((field) => field !== null)) needsAll(access);
    return { name, do: steps, links, ...program, makerId, centre };
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
  async drop({ pools = [], poolGroups = [], templates = [] }: TargetSet, centre: string): Promise<Left> {
    const { book, targets } = this.#options;
    const store = this.#store;
    // What names others goes before them.
    const all = [
      await dropEach(
        "template",
        goneFrom(store.templates, centre, templates.map(nameIn), ({ name }) => name),
        (template) => refuseUsedTemplate(template, targets),
        ({ id }) => store.templates.remove(id),
      ),
      await dropEach(
        "poolGroup",
        goneFrom(store.poolGroups, centre, poolGroups.map(nameIn), ({ name }) => name),
        ({ id }) => book.refuseUsedGroup(id),
        ({ id }) => store.poolGroups.remove(id),
      ),
      await dropEach(
        "pool",
        goneFrom(store.pools, centre, pools.map(nameOfPool), shownName),
        ({ id }) => book.refuseUsedPool(id),
        async ({ id }) => {
          await store.pools.remove(id);
          await forgetFor(store, "pools", id);
        },
      ),
    ];
    book.renew();
    return { refused: all.flatMap(({ refused }) => refused), isChanged: all.some(({ isChanged }) => isChanged) };
  }

  /** Makes what a centre has defined that of this service; `makerId`: who released it. */
  release(centre: string, makerId: number | null): Prepared[] {
    const { pools, poolGroups, templates } = this.#store;
    const released = <R extends object>(rows: readonly { readonly id: number }[], own: R) => ({
      changed: new Map(rows.map(({ id }) => [id, { centre: undefined, ...own }])),
    });
    return [
      pools.prepare(released(ownedBy(pools, centre), {})),
      poolGroups.prepare(released(ownedBy(poolGroups, centre), {})),
      templates.prepare(released(ownedBy(templates, centre), { makerId })),
    ];
  }
}

interface Gone {
  readonly id: number;
  readonly name: string;
}

async function dropEach(
  kind: Kind,
  gone: readonly Gone[],
  refuseUsed: (each: Gone) => void,
  remove: (each: Gone) => Promise<unknown>,
): Promise<Left> {
  const refused: RefusedDefinition[] = [];
  for (const each of gone) {
    try {
      refuseUsed(each);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      refused.push({ kind, name: each.name, message: `it stays, since it is used: ${error.message}` });
      continue;
    }
    await remove(each);
  }
  return { refused, isChanged: refused.length < gone.length };
}

interface TemplateOf {
  readonly centre: string;
  readonly makerId: number | null;
  /** The template as it was here. */
  readonly was: StoredTemplate | undefined;
  readonly access: Access;
  readonly untaken: ReadonlySet<string>;
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
  /** Those among which a name is unique. */
  readonly rows: readonly Stored<R>[];
  readonly centres: readonly string[];
  readonly nameOf: (row: R) => string;
  readonly nameIn: (definition: Definition) => unknown;
  readonly read: (definition: Definition, was: R | undefined) => R;
  readonly definitions: readonly Definition[];
  /** Gets the names of what is not taken and was not here before. */
  readonly untaken: Set<string>;
}

/** The changes that bring definitions of one kind into the store, and why some are not taken. */
function takeEach<R extends Ownable & object>(taking: Taking<R>) {
  const { kind, collection, rows, centres, nameOf, nameIn, read, definitions, untaken } = taking;
  const owned = new Map(ownedBy(collection, ...centres).map((row) => [nameOf(row), row]));
  const others = new Map(rows.flatMap((row) => (owned.has(nameOf(row)) ? [] : [[nameOf(row), row]])));
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
      if (other !== undefined) throw invalid(path, `"${name}" is the name of ${words[kind]} ${other.id} already`);
      const row = read(definition, before);
      if (before === undefined) added.push(row);
      else if (!isSameAs(before, row)) changed.set(before.id, row);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      refused.push({ kind, name: name.slice(0, 200), message: sentenceOf(error.errors) || error.message });
      if (before === undefined) untaken.add(`${kind} ${name}`);
    }
  }
  return { prepared: collection.prepare({ added, changed }), refused, isChanged: added.length + changed.size > 0 };
}

const isSameAs = <R extends object>(before: Stored<R>, row: R): boolean =>
  Object.entries(row).every(([name, value]) => JSON.stringify(Reflect.get(before, name)) === JSON.stringify(value));
