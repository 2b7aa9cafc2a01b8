import type { Clock } from "../../nodes/shared/clock.ts";

/** A clock that a test advances; it runs due work in order. */
export class HeldClock implements Clock {
  #now = 0;
  #due: { readonly at: number; readonly work: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, work: () => void): () => void {
    const due = { at: this.#now + ms, work };
    this.#due.push(due);
    return () => {
      this.#due = this.#due.filter((each) => each !== due);
    };
  }

  /** The number of pending timers. */
  get waiting(): number {
    return this.#due.length;
  }

  pass(seconds: number): void {
    const end = this.#now + seconds * 1000;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#due = this.#due.filter((each) => each !== next);
      this.#now = next.at;
      next.work();
    }
    this.#now = end;
  }

  #next(end: number) {
    return this.#due.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
  }
}
