/** The treatment of long-running work. */
export interface Slack {
  /** After this time, work releases its slot and continues, so that slow work delays nobody. */
  readonly afterMs: number;
  /** Maximum work that continues without a slot; any more keeps its slot. */
  readonly beside: number;
}

/** A bounded number of slots; further work waits in order. */
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

  /** Runs work as soon as there is a slot, and settles with it. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => this.enter(() => work().then(resolve, reject)));
  }

  /** Like `run`, for work that never rejects and that nobody awaits: creates no promise. */
  enter(work: () => Promise<void>): void {
    if (this.#taken >= this.#places) this.#waiting.push(work);
    else this.#start(work);
  }

  /** The amount of waiting work. */
  get waiting(): number {
    return this.#waiting.length - this.#next;
  }

  /** Changes the number of slots; running work keeps its slot. */
  resize(places: number): void {
    this.#places = places;
    while (this.#taken < places && this.waiting > 0) this.#startNext();
  }

  /** Drops all waiting work. */
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
