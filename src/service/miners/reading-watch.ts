import type { Logger } from "pino";
import type { RigState } from "../../fleet/state.ts";

/** A read that changed something of a miner. */
export interface ReadingChange {
  readonly id: number;
  /** Their `reading` may be decoded only when it is accessed; `briefOf` has the figures at once. */
  readonly state: RigState;
  readonly before: RigState;
  /** A set of keys, of which `keyBits` has the bits and `keysIn` the names. */
  readonly keys: number;
}

export type ReadingListener = (changes: readonly ReadingChange[]) => void;

/** Hands the changes of all reads of a turn to its listeners at once; without listeners it keeps and computes nothing. */
export class ReadingWatch {
  readonly #log: Logger;
  readonly #watched: (watched: boolean) => void;
  readonly #listeners = new Set<ReadingListener>();
  #changes: ReadingChange[] = [];

  /** `watched` is called when the first listener comes and when the last one leaves. */
  constructor(log: Logger, watched: (watched: boolean) => void) {
    this.#log = log;
    this.#watched = watched;
  }

  /** Returns a function that ends it. */
  watch(listener: ReadingListener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#watched(true);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#watched(false);
    };
  }

  add(id: number, state: RigState, before: RigState, keys: number): void {
    if (this.#listeners.size === 0) return;
    // A reading that has become stale counts, though nothing else of it has changed.
    if (keys === 0 && (state.missed === 0) === (before.missed === 0)) return;
    if (this.#changes.length === 0) setImmediate(() => this.#hand());
    this.#changes.push({ id, state, before, keys });
  }

  #hand(): void {
    const changes = this.#changes;
    this.#changes = [];
    for (const listener of this.#listeners) {
      try {
        listener(changes);
      } catch (error) {
        this.#log.error({ err: error }, "a listener to readings failed");
      }
    }
  }
}
