/** What happens to work that takes long. */
export interface Slack {
  /** After this time work gives its place to another and goes on beside, so that slow work delays nobody. */
  readonly afterMs: number;
  /** How much work may go on beside at once; any more keeps its place. */
  readonly beside: number;
}

/** A bounded number of places; work that finds none waits in order. */
export class Semaphore {
  #places: number;
  readonly #slack: Slack | null;
  #taken = 0;
  #beside = 0;
  readonly #waiting: (() => Promise<void>)[] = [];
  #next = 0;

  constructor(places: number, slack: Slack | null = null) {
    this.#places = places;
    this.#slack = slack;
  }

  /** Runs work as soon as there is a place, and settles with it. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => this.enter(() => work().then(resolve, reject)));
  }

  /** The same for work that never rejects and that nobody waits for: without a promise of its own. */
  enter(work: () => Promise<void>): void {
    if (this.#taken >= this.#places) this.#waiting.push(work);
    else this.#start(work);
  }

  /** Work that waits for a place. */
  get waiting(): number {
    return this.#waiting.length - this.#next;
  }

  /** Changes the number of places; work that has begun keeps its place. */
  resize(places: number): void {
    this.#places = places;
    while (this.#taken < places && this.waiting > 0) this.#startNext();
  }

  /** Drops all work that waits. */
  clear(): void {
    this.#waiting.length = 0;
    this.#next = 0;
  }

  #start(work: () => Promise<void>): void {
    this.#taken += 1;
    let isBeside = false;
    const stepAside = (): void => {
      isBeside = this.#beside < (this.#slack?.beside ?? 0);
      if (!isBeside) return;
      this.#beside += 1;
      this.#leave();
    };
    const timer = this.#slack === null ? undefined : setTimeout(stepAside, this.#slack.afterMs);
    void work().finally(() => {
      clearTimeout(timer);
      if (isBeside) this.#beside -= 1;
      else this.#leave();
    });
  }

  #leave(): void {
    this.#taken -= 1;
    if (this.#taken < this.#places) this.#startNext();
  }

  #startNext(): void {
    const next = this.#waiting[this.#next];
    if (next === undefined) return;
    this.#next += 1;
    if (this.#next > 1000) {
      this.#waiting.splice(0, this.#next);
      this.#next = 0;
    }
    this.#start(next);
  }
}
