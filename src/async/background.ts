/** Background work without a waiting caller, awaited only at the end of the program or in a test. */
export class Background {
  readonly #running = new Set<Promise<unknown>>();

  /** Tracks the work; returns the same promise. */
  add<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    const remove = (): void => void this.#running.delete(work);
    work.then(remove, remove);
    return work;
  }

  /** Resolves when no work is left, including work started by other work; failures are left to the callers. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}
