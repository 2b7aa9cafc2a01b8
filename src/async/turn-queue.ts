/**
 * Runs one callback in each turn of the event loop, in their order. A turn accepts a single new connection, so long turns
 * would delay every client that connects.
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
