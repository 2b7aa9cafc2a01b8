/** ms */
const minute = 60_000;

/** At most so many in any minute. */
export class Allowance {
  readonly #most: number;
  readonly #now: () => number;
  /** When those of the last minute were taken, the first one first. */
  #taken: number[] = [];

  /** `now` in ms. */
  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  /** Whether there is room for one more, which is then taken. */
  take(): boolean {
    if (this.wait() > 0) return false;
    this.#taken.push(this.#now());
    return true;
  }

  /** ms until there is room; 0 where there is. */
  wait(): number {
    const since = this.#now() - minute;
    this.#taken = this.#taken.filter((at) => at > since);
    const [first] = this.#taken;
    return first === undefined || this.#taken.length < this.#most ? 0 : first - since;
  }
}
