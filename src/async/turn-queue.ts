/**
 * Runs one callback per turn of the event loop, in order. A turn accepts a single new connection, so long turns would
 * delay every connecting client.
 */
export class TurnQueue {
  readonly #waiting: (() => void)[] = [];

  enqueue(callback: () => void): void {
    if (this.#waiting.push(callback) === 1) setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const callback = this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(this.#next);
    callback?.();
  };
}
