import type { Clock } from "../shared/clock.ts";

export interface PollerOptions {
  /** Never rejects. */
  readonly poll: () => Promise<void>;
  /** ms between polls without a request. */
  readonly intervalMs: number;
  /** ms between polls at least. */
  readonly minIntervalMs: number;
  readonly clock: Clock;
}

/** Polls at an interval, and soon after a request; one poll at a time. */
export class Poller {
  readonly #options: PollerOptions;
  #cancel: () => void = () => undefined;
  #isPolling = false;
  #isRequested = false;
  #isPaused = true;
  /** ms */
  #polledAt = Number.NEGATIVE_INFINITY;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** Requests a poll; also starts the poller, and resumes it after `pause`. */
  soon(): void {
    this.#isPaused = false;
    this.#isRequested = true;
    if (!this.#isPolling) this.#schedule();
  }

  /** Stops polling until `soon`. */
  pause(): void {
    this.#isPaused = true;
    this.#cancel();
  }

  #schedule(): void {
    if (this.#isPaused) return;
    const { intervalMs, minIntervalMs, clock } = this.#options;
    const at = this.#polledAt + (this.#isRequested ? minIntervalMs : intervalMs);
    this.#cancel();
    this.#cancel = clock.after(Math.max(0, at - clock.now()), () => void this.#poll());
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    this.#isRequested = false;
    await this.#options.poll();
    this.#polledAt = this.#options.clock.now();
    this.#isPolling = false;
    this.#schedule();
  }
}
