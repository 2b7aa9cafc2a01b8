/** Wakes loops that wait for a change. */
export class Bell {
  readonly #wakers = new Set<() => void>();

  ring(): void {
    for (const wake of [...this.#wakers]) wake();
  }

  /** Resolves when it rings next, or after this time. */
  next(ms?: number): Promise<null> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#wakers.delete(wake);
        resolve(null);
      };
      const timer = ms === undefined ? undefined : setTimeout(wake, ms);
      this.#wakers.add(wake);
    });
  }
}
