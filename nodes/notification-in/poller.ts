import type { Clock } from "../shared/clock.ts";

export interface PollerOptions {
  /** Never rejects. */
  readonly poll: () => Promise<void>;
  /** ms after which it is looked without being asked for. */
  readonly interval: number;
  /** ms between two looks at least. */
  readonly pace: number;
  readonly clock: Clock;
}

/** Looks again and again, one look after the other: soon after it is asked for, and after a while anyhow. */
export class Poller {
  readonly #options: PollerOptions;
  #callOff: () => void = () => undefined;
  #isLooking = false;
  #isWanted = false;
  #isPaused = true;
  /** ms */
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** Also what begins it, and what goes on after `pause`. */
  soon(): void {
    this.#isPaused = false;
    this.#isWanted = true;
    if (!this.#isLooking) this.#schedule();
  }

  /** No look until `soon`. */
  pause(): void {
    this.#isPaused = true;
    this.#callOff();
  }

  #schedule(): void {
    if (this.#isPaused) return;
    const { interval, pace, clock } = this.#options;
    const at = this.#lookedAt + (this.#isWanted ? pace : interval);
    this.#callOff();
    this.#callOff = clock.after(Math.max(0, at - clock.now()), () => void this.#look());
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    this.#isWanted = false;
    await this.#options.poll();
    this.#lookedAt = this.#options.clock.now();
    this.#isLooking = false;
    this.#schedule();
  }
}
