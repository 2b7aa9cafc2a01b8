/** Whether the other end of a connection is still there: it is pinged only when nothing came of it for an interval. */
export class SignsOfLife {
  readonly #ping: () => void;
  #wasHeard = true;
  #isPinged = false;

  constructor(ping: () => void) {
    this.#ping = ping;
  }

  /** Something came. */
  readonly heard = (): void => {
    this.#wasHeard = true;
  };

  /** Called once an interval; false if nothing came in the whole interval since a ping either. */
  check(): boolean {
    if (this.#isPinged && !this.#wasHeard) return false;
    this.#isPinged = !this.#wasHeard;
    if (this.#isPinged) this.#ping();
    this.#wasHeard = false;
    return true;
  }
}
