/** What becomes of work that takes long. */
export interface Slack {
  /** ms after which work goes on beside the lane and another has its place, so that slow work keeps nobody waiting. */
  readonly patience: number;
  /** Pieces of work that go on beside at once; further ones keep their places. */
  readonly beside: number;
}

/** A bounded number of places; who finds none waits in line. */
export class Lane {
  readonly #places: number;
  readonly #slack: Slack | null;
  #taken = 0;
  #beside = 0;
  readonly #waiting: (() => Promise<void>)[] = [];
  #next = 0;

  constructor(places: number, slack: Slack | null = null) {
    this.#places = places;
    this.#slack = slack;
  }

  /** Runs the work as soon as there is a place. The work never rejects. */
  enter(work: () => Promise<void>): void {
    if (this.#taken >= this.#places) this.#waiting.push(work);
    else this.#run(work);
  }

  clear(): void {
    this.#waiting.length = 0;
    this.#next = 0;
  }

  #run(work: () => Promise<void>): void {
    this.#taken += 1;
    let isBeside = false;
    const step = (): void => {
      isBeside = this.#beside < (this.#slack?.beside ?? 0);
      if (!isBeside) return;
      this.#beside += 1;
      this.#leave();
    };
    const timer = this.#slack === null ? undefined : setTimeout(step, this.#slack.patience);
    void work().finally(() => {
      clearTimeout(timer);
      if (isBeside) this.#beside -= 1;
      else this.#leave();
    });
  }

  /** A place is free: the next in line has it. */
  #leave(): void {
    this.#taken -= 1;
    const waiting = this.#waiting[this.#next];
    if (waiting === undefined) return;
    this.#next += 1;
    if (this.#next > 1000) {
      this.#waiting.splice(0, this.#next);
      this.#next = 0;
    }
    this.#run(waiting);
  }
}
