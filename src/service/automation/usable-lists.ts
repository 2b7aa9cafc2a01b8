import { RuleSettings } from "../../contract/rules.ts";
import type { Store, Stored, StoredGroup, StoredRule, StoredTemplate } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { linkKey, namedBy } from "../links.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { PoolBook } from "../money/pool-book.ts";
import { placesOf } from "../places/place-book.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { accessOfMaker, isMaker } from "./rights.ts";
import { runsRowHere } from "./rule-rows.ts";
import { scopeTest } from "./scope.ts";

interface UsableListsOptions {
  readonly store: Pick<Store, "groups" | "places" | "rules" | "templates">;
  readonly accessBook: AccessBook;
  readonly book: Pick<PoolBook, "addList">;
  readonly registry: Pick<MinerRegistry, "entriesFor" | "isDemoOnly">;
}

/** The manual rules and templates that a user can run: all others, and their names, are hidden from that user. */
export class UsableLists {
  readonly #options: UsableListsOptions;
  readonly #scopes = new WeakMap<
    object,
    { groups: readonly StoredGroup[]; places: unknown; fits: ReturnType<typeof scopeTest> }
  >();

  constructor(options: UsableListsOptions) {
    this.#options = options;
  }

  manualRules(access: Access): Stored<StoredRule>[] {
    return enabled(this.#options.store.rules).filter((row) => row.manual && this.rule(row, access));
  }

  templates(access: Access): Stored<StoredTemplate>[] {
    return enabled(this.#options.store.templates).filter((row) => this.template(row, access));
  }

  /** A user's own rules, and manual ones that reach one of the user's miners. */
  rule(row: Stored<StoredRule>, access: Access): boolean {
    if (!runsRowHere(row)) return false;
    if (access.all || isMaker(row, access)) return true;
    const maker = accessOfMaker(row, this.#options.accessBook);
    if (!row.manual || maker === null) return false;
    const fits = this.#scopeOf(row);
    for (const { facts, rig } of this.#options.registry.entriesFor(access))
      if (
        (!facts.demo || this.#options.registry.isDemoOnly) &&
        maker.seesGroup(facts.groupId) &&
        fits(facts, rig.state.uid)
      )
        return true;
    return false;
  }

  /** A user's own templates, and those of creators who share a group with the user, if the user sees their pools. */
  template(row: Stored<StoredTemplate>, access: Access): boolean {
    if (access.all || isMaker(row, access)) return true;
    const { store, accessBook, book } = this.#options;
    const maker = accessOfMaker(row, accessBook);
    const groups = [0, ...enabled(store.groups).map(({ id }) => id)];
    if (maker === null || !groups.some((id) => maker.seesGroup(id) && access.seesGroup(id))) return false;
    const listed = book.addList(access);
    return (row.do ?? []).every((step) => {
      const named = namedBy(step);
      if (named === null) return true;
      const id = row.owner === "file" ? undefined : row.links?.[linkKey(named)];
      return listed.some(
        (each) =>
          (each.type === "single") === (named.kind === "pool") &&
          (id === undefined ? each.name === named.name : each.id === String(id)),
      );
    });
  }

  #scopeOf(row: Stored<StoredRule>): ReturnType<typeof scopeTest> {
    const { store } = this.#options;
    const [groups, places] = [store.groups.all(), placesOf(store).shape()];
    const known = this.#scopes.get(row);
    if (known?.groups === groups && known.places === places) return known.fits;
    const { data } = RuleSettings.safeParse(row.definition ?? { name: row.name });
    const fits = scopeTest(data?.scope, enabled(store.groups), placesOf(store));
    this.#scopes.set(row, { groups, places, fits });
    return fits;
  }
}
