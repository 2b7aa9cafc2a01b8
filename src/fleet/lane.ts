/** What happens to slow work. */
export interface Slack {
  /** After this time work continues outside the lane and frees its place, so that slow work does not block the rest. */
  readonly afterMs: number;
  /** How much work may continue outside at once; more keeps its places. */
  readonly beside: number;
}

/** Limits how much work runs at once; the rest waits in order. */
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
    const timer = this.#slack === null ? undefined : setTimeout(step, this.#slack.afterMs);
    void work().finally(() => {
      clearTimeout(timer);
      if (isBeside) this.#beside -= 1;
      else this.#leave();
    });
  }

  /** Gives the free place to the next in line. */
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
