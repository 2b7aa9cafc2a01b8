/**
 * How long a rig may take to answer. A rig that answers too slowly for a read gets more time for the next ones, so that
 * it does not count as offline. A rig that accepts connections without answering gets it once.
 */
export class Pace {
  #usualMs: number;
  #longestMs: number;
  #stretch = 1;
  /** Of the present read. */
  #answers = 0;
  #cuts = 0;
  /** Whether the last reads failed without an answer even with more time. */
  #hasTried = false;

  /** ms of one read; the default is for one outside a fleet. */
  constructor(usualMs = 5_000, longestMs = usualMs) {
    this.#usualMs = usualMs;
    this.#longestMs = Math.max(usualMs, longestMs);
  }

  /** The ms of one read from now on, and their maximum for a rig that needs more time than others. */
  change(usualMs: number, longestMs: number): void {
    this.#usualMs = usualMs;
    this.#longestMs = Math.max(this.#usualMs, longestMs);
    this.#stretch = Math.min(this.#stretch, this.#longestMs / this.#usualMs);
  }

  /** Whether the rig needs more time than others; its reads then leave out everything that can wait. */
  get isSlow(): boolean {
    return this.#stretch > 1;
  }

  /** For one read. */
  get readMs(): number {
    return this.#usualMs * this.#stretch;
  }

  /** For a part of a read that may take at most this share of it, so that the rest is read even if the part is not. */
  partMs(share: number): number {
    return share * this.readMs;
  }

  /** The rig has answered a request. */
  answered(): void {
    this.#answers += 1;
  }

  /** It accepted a connection and did not answer in time. */
  cut(): void {
    this.#cuts += 1;
  }

  begin(): void {
    this.#answers = 0;
    this.#cuts = 0;
  }

  succeeded(tookMs: number): void {
    this.#hasTried = false;
    if (tookMs < this.#usualMs / 2) this.#stretch = 1;
  }

  failed(): void {
    if (this.#cuts === 0) return;
    if (this.#answers === 0 && this.#hasTried) this.#stretch = 1;
    else this.#stretch = Math.min(2 * this.#stretch, this.#longestMs / this.#usualMs);
    this.#hasTried ||= this.#answers === 0;
  }
}
