import type { Logger } from "pino";
import type { RigState } from "../../fleet/state.ts";

/** A read with changes. */
export interface ReadingChange {
  readonly id: number;
  /** Decode their `reading` only when needed; `briefOf` has the figures at once. */
  readonly state: RigState;
  readonly before: RigState;
  /** A set of keys: `keyBits` gives the bits, `keysIn` the names. */
  readonly keys: number;
}

export type ReadingListener = (changes: readonly ReadingChange[]) => void;

/**
 * Delivers the changes of all reads of a turn to its listeners together; without listeners it keeps and computes
 * nothing.
 */
export class ReadingWatch {
  readonly #log: Logger;
  readonly #watched: (watched: boolean) => void;
  readonly #listeners = new Set<ReadingListener>();
  #changes: ReadingChange[] = [];

  /** `watched` is called when the first listener is added and when the last one is removed. */
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
    // A reading that turned stale counts, even without other changes.
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
