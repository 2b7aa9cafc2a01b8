import type { Clock } from "../shared/clock.ts";

export interface PollerOptions {
  /** Reads the whole list, or only new entries. Never rejects. */
  readonly poll: (isWhole: boolean) => Promise<void>;
  /** ms between polls of the whole list. */
  readonly intervalMs: number;
  /** ms between polls at least. */
  readonly minIntervalMs: number;
  readonly clock: Clock;
}

/** Polls the whole list at an interval, and new entries soon after a request; one poll at a time. */
export class Poller {
  readonly #options: PollerOptions;
  #cancel: () => void = () => undefined;
  #isPolling = false;
  #isRequested = false;
  #isPaused = true;
  /** ms */
  #polledAt = Number.NEGATIVE_INFINITY;
  /** ms of the last poll of the whole list, or of the start. */
  #wholeAt: number | null = null;

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
    this.#wholeAt ??= clock.now();
    const due = this.#wholeAt + intervalMs;
    const at = this.#isRequested ? Math.min(due, this.#polledAt + minIntervalMs) : due;
    this.#cancel();
    this.#cancel = clock.after(Math.max(0, at - clock.now()), () => void this.#poll(clock.now() >= due));
  }

  async #poll(isWhole: boolean): Promise<void> {
    this.#isPolling = true;
    this.#isRequested = false;
    await this.#options.poll(isWhole);
    this.#polledAt = this.#options.clock.now();
    if (isWhole) this.#wholeAt = this.#polledAt;
    this.#isPolling = false;
    this.#schedule();
  }
}
