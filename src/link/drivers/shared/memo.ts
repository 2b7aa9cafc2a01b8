/** A device's answer that is read again only after a while. */
export class Memo<T> {
  readonly #maxAgeMs: number;
  readonly #now: () => number;
  #kept: { readonly at: number; readonly value: T } | undefined;

  /** `now`: milliseconds of a clock that never jumps. */
  constructor(maxAgeMs: number, now: () => number = () => performance.now()) {
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
  }

  /** However old; undefined before the first. */
  get value(): T | undefined {
    return this.#kept?.value;
  }

  /** When it was kept; -Infinity before the first. */
  get at(): number {
    return this.#kept?.at ?? Number.NEGATIVE_INFINITY;
  }

  get isFresh(): boolean {
    return this.#now() - this.at < this.#maxAgeMs;
  }

  keep(value: T): T {
    this.#kept = { at: this.#now(), value };
    return value;
  }

  forget(): void {
    this.#kept = undefined;
  }
}
