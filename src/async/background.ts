/** Work that nobody waits for, until something has to: the end of the program, or a test. */
export class Background {
  readonly #running = new Set<Promise<unknown>>();

  /** Keeps count of the work, which settles as before. */
  add<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    const remove = (): void => void this.#running.delete(work);
    work.then(remove, remove);
    return work;
  }

  /** Resolves when no work is left, including what it starts; whether it failed is for its own callers. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}
