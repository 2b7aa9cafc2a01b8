import { didYouMean } from "../../contract/nearest.ts";
import type { Mistake } from "../../contract/problems.ts";
import { isRecord } from "../../contract/record.ts";
import { Key, type RunStep } from "../../contract/steps.ts";
import type { Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { type Links, linkKey, type Named, type NamedKind, namedBy } from "../links.ts";
import { type PoolBook, shownName } from "../money/pool-book.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { madeLists, type Naming, type StepLists } from "./made-lists.ts";
import { accessOfMaker, type Made, mayContain } from "./rights.ts";
import { keyOf } from "./rule-rows.ts";
import type { UsableLists } from "./usable-lists.ts";

interface StepTargetsOptions {
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly book: Pick<PoolBook, "addList">;
  readonly usable: UsableLists;
}

/** The rule that is being saved. */
interface Self {
  readonly id: number;
  readonly key: string;
}

/** A possible target of a name. */
interface Candidate {
  readonly id: number;
  readonly key: string;
  readonly name: string;
  /**
   * 0: the creator's own; 1: another user's, which the creator may run; 2: another user's, which the creator only sees.
   */
  readonly rank: number;
}

/** The id of a rule that is not stored yet. */
export const unsaved = -1;

export const words: Readonly<Record<NamedKind, string>> = {
  rule: "rule",
  inhibitor: "rule",
  template: "managed template",
  pool: "pool",
  poolGroup: "pool group",
};

/**
 * Resolves the names in steps. Names are resolved once, when a rule, schedule or template is saved, and only among what
 * its creator owns or sees: no other user can take over a name later. Names in the configuration file refer to the
 * file.
 */
export class StepTargets {
  readonly #options: StepTargetsOptions;

  constructor(options: StepTargetsOptions) {
    this.#options = options;
  }

  /** The id of a name's target; 0 if there is none. */
  idOf(list: Naming, named: Named): number {
    const linked = list.owner === "file" ? undefined : list.links?.[linkKey(named)];
    if (linked !== undefined) return linked;
    const found = this.#find(named, list, null);
    return "message" in found ? 0 : found.id;
  }

  /** The step with the id of its target. */
  bound(step: RunStep, list: Naming): RunStep {
    const named = namedBy(step);
    return named === null ? step : { ...step, target: this.idOf(list, named) };
  }

  /**
   * The links of lists to be saved, and the names that are missing or ambiguous. `before`: the links of unchanged
   * names, which keep their meaning. `together`: keys of rules that are stored in the same step, which get their links
   * afterwards.
   */
  resolve(
    lists: StepLists,
    list: Made,
    before: Links = {},
    self: Self | null = null,
    together: ReadonlySet<string> = new Set(),
  ): { readonly links: Links; readonly mistakes: Mistake[] } {
    const links: Record<string, number> = {};
    const mistakes: Mistake[] = [];
    for (const { path, ...named } of namesIn(lists)) {
      const key = linkKey(named);
      const kept = before[key] ?? 0;
      if (kept !== 0 && this.lossOf({ ...named, id: kept }, list) === null) {
        links[key] = kept;
        continue;
      }
      if ((named.kind === "rule" || named.kind === "inhibitor") && together.has(named.name)) continue;
      const found = this.#find(named, list, self);
      links[key] = "message" in found ? 0 : found.id;
      if ("message" in found) mistakes.push({ path, message: found.message });
      else if (found.rank === 2 && named.kind !== "inhibitor")
        mistakes.push({ path, message: `the ${words[named.kind]} "${named.name}" belongs to another user` });
    }
    return { links, mistakes };
  }

  /** The rules, schedules and templates that use a target. */
  usersOf(kind: NamedKind, id: number): { readonly what: string; readonly name: string }[] {
    return madeLists(this.#options.store).flatMap(({ kind: what, row, lists }) =>
      namesIn(lists).some((named) => named.kind === kind && this.idOf(row, named) === id)
        ? [{ what, name: row.name }]
        : [],
    );
  }

  /** Why a target is no longer available; null if it is. */
  lossOf({ kind, id }: Named & { readonly id: number }, list: Made): string | null {
    const { store, book, accessBook } = this.#options;
    if (id === 0) return "which does not exist, or it is not clear which one is meant";
    if (kind === "pool" || kind === "poolGroup") {
      if ((kind === "pool" ? store.pools : store.poolGroups).get(id)?.disabled !== false) return gone;
      const access = accessOfMaker(list, accessBook);
      const isListed =
        access === null || book.addList(access).some((each) => each.id === String(id) && isOf(kind, each));
      return isListed ? null : "which its creator may no longer use";
    }
    const row = (kind === "template" ? store.templates : store.rules).get(id);
    if (row === undefined || row.disabled) return gone;
    return accessOfMaker(row, accessBook) === null ? "whose creator is no longer an administrator" : null;
  }

  /** See `withNamesNow`. */
  present<T extends object>(definition: T, naming: Naming): { readonly definition: T; readonly links: Links } {
    return withNamesNow(definition, naming, this.#options.store);
  }

  #find(named: Named, list: Made, self: Self | null): Candidate | { readonly message: string } {
    const { kind, name } = named;
    const access = accessOfMaker(list, this.#options.accessBook);
    const all = access === null ? [] : this.#candidates(kind, list, access, self);
    for (const rank of [0, 1, 2]) {
      const ranked = all.filter((each) => each.rank === rank);
      const ofKey = ranked.filter(({ key }) => key === name);
      const [found, another] = ofKey.length > 0 ? ofKey : ranked.filter((each) => each.name === name);
      if (found !== undefined)
        return another === undefined
          ? found
          : {
              message: unclear(
                kind,
                name,
                ranked.filter((each) => each.key === name || each.name === name),
              ),
            };
    }
    const ofId = kind === "rule" || kind === "inhibitor" ? all.find(({ id }) => String(id) === name) : undefined;
    if (ofId !== undefined) return ofId;
    const keys = all.map(({ key }) => key);
    return { message: `there is no ${words[kind]} "${name}"${didYouMean(name, keys)}` };
  }

  #candidates(kind: NamedKind, list: Made, access: Access, self: Self | null): Candidate[] {
    const { store, book, usable } = this.#options;
    if (kind === "pool" || kind === "poolGroup") {
      const rows = kind === "pool" ? store.pools : store.poolGroups;
      return book
        .addList(access)
        .filter((each) => isOf(kind, each))
        .map(({ id, name }) => ({
          key: name,
          name,
          id: Number(id),
          rank: rows.get(Number(id))?.owner === list.owner ? 0 : 1,
        }));
    }
    const rank = (row: Made): number =>
      row.owner === list.owner && row.makerId === list.makerId ? 0 : mayContain(list, row) ? 1 : 2;
    if (kind === "template")
      return usable.templates(access).map((row) => ({ id: row.id, key: row.name, name: row.name, rank: rank(row) }));
    const rules = enabled(store.rules)
      .filter((row) => row.id !== self?.id && usable.rule(row, access))
      .map((row) => ({ id: row.id, key: keyOf(row), name: row.name, rank: rank(row) }));
    // A rule may run itself, which is reported as a loop; it cannot inhibit itself.
    return self === null || kind === "inhibitor" ? rules : [{ ...self, name: self.key, rank: 0 }, ...rules];
  }
}

const gone = "which no longer exists";
const stepKinds = ["rule", "template", "pool", "poolGroup"] as const;
const listNames = ["do", "onClear", "onGiveUp", "onEnd", "inhibitedBy"] as const;

const isOf = (kind: "pool" | "poolGroup", { type }: { readonly type: "single" | "group" }): boolean =>
  (type === "single") === (kind === "pool");

function unclear(kind: NamedKind, name: string, found: readonly Candidate[]): string {
  const choices = found.map((each) => `${each.key} (id ${each.id})`).join(", ");
  const advice = kind === "rule" || kind === "inhibitor" ? "name it by its key or id" : "give them different names";
  return `there are ${found.length} ${words[kind]}s "${name}": ${choices}; ${advice}`;
}

type Targets = Pick<Store, "rules" | "templates" | "pools" | "poolGroups">;

/**
 * The definition of a row with the present names of its targets, and the links by these names: since it was saved, a
 * target may have been renamed, or its name given to another.
 */
export function withNamesNow<T extends object>(
  definition: T,
  { links = {} }: { readonly links?: Links | undefined },
  store: Targets,
): { readonly definition: T; readonly links: Links } {
  const renamed: Record<string, number> = { ...links };
  const now = (kind: NamedKind, name: string): string => {
    const id = links[linkKey({ kind, name })] ?? 0;
    const current = id === 0 ? name : (nameOf(kind, id, store) ?? name);
    if (current !== name) renamed[linkKey({ kind, name: current })] = id;
    return current;
  };
  const withNames = (value: unknown, list: string): unknown => {
    if (!Array.isArray(value)) return value;
    if (list === "inhibitedBy")
      return value.map((key: unknown) => (typeof key === "string" ? now("inhibitor", key) : key));
    return value.map((step: unknown) => {
      const kind = isRecord(step) ? stepKinds.find((each) => typeof step[each] === "string") : undefined;
      return isRecord(step) && kind !== undefined ? { ...step, [kind]: now(kind, String(step[kind])) } : step;
    });
  };
  const shown = { ...definition };
  for (const list of listNames)
    if (Object.hasOwn(definition, list)) Reflect.set(shown, list, withNames(Reflect.get(definition, list), list));
  return { definition: shown, links: renamed };
}

function nameOf(kind: NamedKind, id: number, { rules, templates, pools, poolGroups }: Targets): string | undefined {
  if (kind === "template") return templates.get(id)?.name;
  if (kind === "poolGroup") return poolGroups.get(id)?.name;
  const pool = kind === "pool" ? pools.get(id) : undefined;
  if (kind === "pool") return pool && shownName(pool);
  const rule = rules.get(id);
  // A rule may have only a name, which is not a key.
  return rule && Key.safeParse(keyOf(rule)).data;
}

/** All names in lists, each with its path. */
export function namesIn({ inhibitedBy = [], ...lists }: StepLists): (Named & { readonly path: string })[] {
  const held = inhibitedBy.map((name, index) => ({ kind: "inhibitor" as const, name, path: `inhibitedBy[${index}]` }));
  const inSteps = listNames.flatMap((list) =>
    list === "inhibitedBy"
      ? []
      : (lists[list] ?? []).flatMap((step, index) => {
          const named = namedBy(step);
          return named === null ? [] : [{ ...named, path: `${list}[${index}]` }];
        }),
  );
  return [...held, ...inSteps];
}
