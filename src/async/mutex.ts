/** Runs work one at a time, in order of arrival. */
export class Mutex {
  #locked = false;
  readonly #waiting: (() => void)[] = [];

  get locked(): boolean {
    return this.#locked;
  }

  /** Work that has not started. */
  get waiting(): number {
    return this.#waiting.length;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#locked) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#locked = true;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#locked = false;
      else next();
    }
  }
}

/** One mutex per key, for as long as it is in use. */
export class KeyedMutex<K> {
  readonly #mutexes = new Map<K, Mutex>();

  /** Running and waiting work of this key. */
  pending(key: K): number {
    const mutex = this.#mutexes.get(key);
    return mutex === undefined ? 0 : mutex.waiting + 1;
  }

  async run<T>(key: K, work: () => Promise<T>): Promise<T> {
    const mutex = this.#mutexes.get(key) ?? new Mutex();
    this.#mutexes.set(key, mutex);
    try {
      return await mutex.run(work);
    } finally {
      if (!mutex.locked && this.#mutexes.get(key) === mutex) this.#mutexes.delete(key);
    }
  }
}
