import type { RigState } from "../../../fleet/state.ts";
import type { Detail } from "../../../messages/coded-text.ts";
import { detail } from "../../../messages/detail.ts";
import type { Store } from "../../../store/index.ts";
import { enabled } from "../../crud.ts";
import type { Entry } from "../../miners/miner-entries.ts";
import { placesOf } from "../../places/place-book.ts";
import type { Access, AccessBook } from "../../users/access.ts";
import { accessOfMaker } from "../rights.ts";
import { scopeTest } from "../scope.ts";
import type { Subject } from "./conditions.ts";
import { delaysOf, type LiveRule } from "./live-rule.ts";

/** A miner with the rules whose scope it is in. */
export interface Slot extends Subject {
  state: RigState;
  readonly disabled: boolean;
  readonly entry: Entry;
  readonly version: number;
  readonly rules: readonly LiveRule[];
}

export interface MembersOptions {
  readonly registry: { all(): Iterable<Entry>; readonly isDemoOnly: boolean };
  readonly store: Store;
  readonly accessBook: AccessBook;
  /** Whole ms of the monotonic clock. */
  readonly monotonicNow: () => number;
  /** A known miner has come into the scope of a rule: its readings may not change for a long time. */
  readonly joined: (rule: LiveRule, minerId: number) => void;
  /** A miner has left the scope of a rule. */
  readonly left: (rule: LiveRule, minerId: number) => void;
  /** A miner was removed. */
  readonly removed: (minerId: number) => void;
}

/** ms between two checks for miners that were added, removed or moved. */
const arrangeMs = 30_000;
const disowned = "its creator is no longer an administrator";

/** Which miners each rule is for: those of its scope that its maker may see. Demo miners beside real ones belong to none. */
export class RuleMembers {
  readonly #options: MembersOptions;
  readonly #slots = new Map<number, Slot>();
  readonly #accesses = new Map<LiveRule, Access | null>();
  #rules: readonly LiveRule[] = [];
  #tests = new Map<LiveRule, (entry: Entry) => boolean>();
  /** Increases whenever scopes may have changed. */
  #version = 0;
  #groups: unknown;
  #places: unknown;
  #arrangedAt = 0;
  #isStale = true;

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  /** Sets the rules; the next `arrange` assigns their miners. */
  set rules(rules: readonly LiveRule[]) {
    this.#rules = rules;
    this.#isStale = true;
  }

  slot(minerId: number): Slot | undefined {
    return this.#slots.get(minerId);
  }

  of(rule: LiveRule): number[] {
    this.arrange();
    return [...this.#slots.values()].filter(({ rules }) => rules.includes(rule)).map(({ id }) => id);
  }

  /** Why a rule does not apply to a miner, as the end of a sentence. */
  whyNot(rule: LiveRule, minerId: number): Detail | string {
    const entry = this.#slots.get(minerId)?.entry;
    if (entry?.facts.demo === true && !this.#options.registry.isDemoOnly) return detail("rule.demo");
    if (rule.problem !== null) return rule.problem;
    const isVisible = entry !== undefined && this.#accesses.get(rule)?.seesGroup(entry.facts.groupId) === true;
    return detail(isVisible ? "rule.outside" : "rule.noAccess");
  }

  /** Reassigns miners to rules after changes of miners, groups, rules or creators. `isNew`: a miner was added. */
  arrange(isNew = false): void {
    const { registry, store, monotonicNow } = this.#options;
    const [groups, places] = [store.groups.all(), placesOf(store).shape()];
    const isChanged = this.#accessChanged() || groups !== this.#groups || places !== this.#places || this.#isStale;
    if (!isChanged && !isNew && monotonicNow() - this.#arrangedAt < arrangeMs) return;
    [this.#groups, this.#places] = [groups, places];
    this.#isStale = false;
    this.#arrangedAt = monotonicNow();
    if (isChanged) this.#makeTests();
    const seen = new Set<number>();
    for (const entry of registry.all()) {
      seen.add(entry.facts.id);
      this.#place(entry);
    }
    for (const [id, slot] of this.#slots) {
      if (seen.has(id)) continue;
      for (const rule of slot.rules) this.#options.left(rule, id);
      this.#options.removed(id);
      this.#slots.delete(id);
    }
    for (const rule of this.#rules) rule.size = 0;
    for (const { rules } of this.#slots.values()) for (const rule of rules) rule.size += 1;
    for (const rule of this.#rules) rule.delays = delaysOf(rule);
  }

  #makeTests(): void {
    const { store } = this.#options;
    const groups = enabled(store.groups);
    this.#version += 1;
    this.#tests = new Map(
      this.#rules.map((rule) => {
        const fits = scopeTest(rule.settings.scope, groups, placesOf(store));
        const access = this.#accesses.get(rule) ?? null;
        return [
          rule,
          ({ facts, rig }: Entry) => access?.seesGroup(facts.groupId) === true && fits(facts, rig.state.uid),
        ];
      }),
    );
  }

  #place(entry: Entry): void {
    const { facts, rig } = entry;
    const slot = this.#slots.get(facts.id);
    if (slot?.entry.facts === facts && slot.entry.rig === rig && slot.version === this.#version) return;
    const isLeftOut = facts.demo && !this.#options.registry.isDemoOnly;
    const rules = isLeftOut ? [] : this.#rules.filter((rule) => this.#tests.get(rule)?.(entry) === true);
    for (const rule of slot?.rules ?? []) if (!rules.includes(rule)) this.#options.left(rule, facts.id);
    const joined = slot === undefined ? [] : rules.filter((rule) => !slot.rules.includes(rule));
    for (const rule of joined) this.#options.joined(rule, facts.id);
    this.#slots.set(facts.id, {
      id: facts.id,
      entry,
      rules,
      version: this.#version,
      state: rig.state,
      disabled: rig.declared.disabled,
    });
  }

  /** Whether the access of a creator has changed; a rule stops if its creator was removed or demoted. */
  #accessChanged(): boolean {
    let changed = this.#accesses.size !== this.#rules.length;
    for (const rule of this.#rules) {
      const access = accessOfMaker(rule, this.#options.accessBook);
      if (this.#accesses.get(rule) === access) continue;
      changed = true;
      this.#accesses.set(rule, access);
      if (access === null) rule.problem = rule.refusal ?? disowned;
      else if (rule.problem === disowned) rule.problem = rule.refusal;
    }
    for (const rule of this.#accesses.keys()) if (!this.#rules.includes(rule)) this.#accesses.delete(rule);
    return changed;
  }
}
