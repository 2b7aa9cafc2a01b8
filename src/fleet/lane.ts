/** A bounded number of places; who finds none waits in line. */
export class Lane {
  readonly #places: number;
  #taken = 0;
  readonly #waiting: (() => Promise<void>)[] = [];
  #next = 0;

  constructor(places: number) {
    this.#places = places;
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
    void work().finally(() => {
      this.#taken -= 1;
      const waiting = this.#waiting[this.#next];
      if (waiting === undefined) return;
      this.#next += 1;
      if (this.#next > 1000) {
        this.#waiting.splice(0, this.#next);
        this.#next = 0;
      }
      this.#run(waiting);
    });
  }
}
