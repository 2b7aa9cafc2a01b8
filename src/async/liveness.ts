/** Whether the peer of a connection is still there. It is pinged only after an interval without data. */
export class Liveness {
  readonly #ping: () => void;
  #hasReceived = true;
  #isPinged = false;

  constructor(ping: () => void) {
    this.#ping = ping;
  }

  /** Data, a ping or a pong has arrived. */
  readonly received = (): void => {
    this.#hasReceived = true;
  };

  /** Call it once per interval; false if a ping has gone unanswered for a whole interval. */
  check(): boolean {
    if (this.#isPinged && !this.#hasReceived) return false;
    this.#isPinged = !this.#hasReceived;
    if (this.#isPinged) this.#ping();
    this.#hasReceived = false;
    return true;
  }
}
