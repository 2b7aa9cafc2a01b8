/** The turns of large farms take a tenth of the time at most, while nothing changes. */
export const restFactor = 10;

/** Turns that do not overlap, each followed by a rest. */
export class PacedTurns {
  readonly #work: () => Promise<number>;
  readonly #monotonicNow: () => number;
  #turning: Promise<void> | null = null;
  #restsUntil = Number.NEGATIVE_INFINITY;

  /**
   * `work`: one turn; resolves with ms to rest. Those follow from its work alone: with time spent waiting for the store, a
   * store that is away would keep the turns away for minutes. `monotonicNow`: ms.
   */
  constructor(work: () => Promise<number>, monotonicNow: () => number) {
    this.#work = work;
    this.#monotonicNow = monotonicNow;
  }

  /** One turn, unless one is under way, which it then waits for, or the rest after the last one is not over. */
  run(): Promise<void> {
    this.#turning ??= this.#run().finally(() => {
      this.#turning = null;
    });
    return this.#turning;
  }

  async settled(): Promise<void> {
    await this.#turning;
  }

  async #run(): Promise<void> {
    if (this.#monotonicNow() < this.#restsUntil) return;
    const restMs = await this.#work();
    this.#restsUntil = this.#monotonicNow() + restMs;
  }
}
