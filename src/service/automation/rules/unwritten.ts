import type { Store } from "../../../store/index.ts";
import { firingsOf, keptFirings, type LiveRule, rowOf } from "./live-rule.ts";
import type { Instant } from "./machine.ts";
import { rowOfTrace, type Traces } from "./traces.ts";

/** ms after which a state with a running time is written again. */
const rewriteMs = 60_000;

/** The unwritten states of rules: written once a second, with the traces, in one transaction. */
export class UnwrittenStates {
  readonly #store: Store;
  readonly #traces: Traces;
  readonly #touch: (rule: LiveRule) => void;
  readonly #changed = new Map<LiveRule, Set<number>>();
  readonly #gone = new Map<LiveRule, Set<number>>();
  #rewrittenAt = 0;

  /** `touch` is called when a state changes. */
  constructor(store: Store, traces: Traces, touch: (rule: LiveRule) => void) {
    this.#store = store;
    this.#traces = traces;
    this.#touch = touch;
  }

  changed(rule: LiveRule, minerId: number): void {
    this.#touch(rule);
    this.#add(rule, minerId);
  }

  #add(rule: LiveRule, minerId: number): void {
    setOf(this.#changed, rule).add(minerId);
    this.#gone.get(rule)?.delete(minerId);
  }

  /** The state has ended and is deleted. */
  gone(rule: LiveRule, minerId: number): void {
    this.#touch(rule);
    this.#changed.get(rule)?.delete(minerId);
    setOf(this.#gone, rule).add(minerId);
  }

  /** Drops the states of all other rules. */
  keepOnly(rules: readonly LiveRule[]): void {
    for (const each of [this.#changed, this.#gone])
      for (const rule of each.keys()) if (!rules.includes(rule)) each.delete(rule);
  }

  /** `all`: also writes how long the conditions of each have held. */
  async write(rules: readonly LiveRule[], now: Instant, all: boolean): Promise<void> {
    if (all || now.monotonic - this.#rewrittenAt >= rewriteMs) {
      this.#rewrittenAt = now.monotonic;
      for (const rule of rules)
        for (const [minerId, { at, phase }] of rule.cells)
          if (at !== null && (phase === "pending" || phase === "clearing")) this.#add(rule, minerId);
    }
    const changed = taken(this.#changed);
    const states = [...changed].flatMap(([rule, ids]) =>
      [...ids].flatMap((minerId) => {
        const cell = rule.cells.get(minerId);
        if (cell === undefined) return [];
        if (cell.fired !== null) cell.fired = keptFirings(firingsOf(cell), now.monotonic);
        return [rowOf(rule, minerId, cell, now)];
      }),
    );
    const gone = taken(this.#gone);
    const keys = [...gone].flatMap(([rule, ids]) =>
      Array.from(ids, (minerId) => ({ kind: "rule" as const, ownerId: rule.id, minerId })),
    );
    const traces = this.#traces.unwritten;
    if (states.length === 0 && keys.length === 0 && traces.length === 0) return;
    let isWritten = false;
    try {
      isWritten = await this.#store.ruleLog.save(states, keys, traces.map(rowOfTrace));
    } finally {
      if (isWritten) this.#traces.written(traces);
      else {
        putBack(changed, this.#changed, this.#gone);
        putBack(gone, this.#gone, this.#changed);
      }
    }
  }
}

function taken<K>(map: Map<K, Set<number>>): ReadonlyMap<K, ReadonlySet<number>> {
  const all = new Map(map);
  map.clear();
  return all;
}

/** Unless the opposite has happened meanwhile. */
function putBack<K>(
  from: ReadonlyMap<K, ReadonlySet<number>>,
  to: Map<K, Set<number>>,
  opposite: ReadonlyMap<K, ReadonlySet<number>>,
): void {
  for (const [key, ids] of from) for (const id of ids) if (opposite.get(key)?.has(id) !== true) setOf(to, key).add(id);
}

function setOf<K>(map: Map<K, Set<number>>, key: K): Set<number> {
  const found = map.get(key) ?? new Set<number>();
  map.set(key, found);
  return found;
}
