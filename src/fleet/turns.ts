/** Runs work one at a time, in order: a rig never has two exchanges at once. */
export class Turns {
  #busy = false;
  readonly #waiting: (() => void)[] = [];

  get busy(): boolean {
    return this.#busy;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy = true;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#busy = false;
      else next();
    }
  }
}
