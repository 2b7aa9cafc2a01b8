import { Fault } from "./faults.ts";

/** ms that a command may wait for the miner's earlier ones; a later effect would surprise. */
const timeoutMs = 60_000;

/** Runs work for the same key one after the other, in the order of the calls. */
export class KeyedMutex<K> {
  readonly #last = new Map<K, Promise<unknown>>();

  /** Throws a Fault `rig.busy` if earlier work takes longer than a minute. */
  async run<T>(key: K, work: () => Promise<T>): Promise<T> {
    const queuedAt = Date.now();
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(() => {
      if (Date.now() - queuedAt > timeoutMs) throw new Fault("rig.busy", "waited", { seconds: timeoutMs / 1000 });
      return work();
    });
    const settled = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, settled);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}

/** Runs at most `count` at once; the others start in the order of the calls. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
