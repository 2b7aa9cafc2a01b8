import { Fault } from "./faults.ts";

/** ms that a command waits for those before it; what comes later would be a surprise. */
const patience = 60_000;

/** Work in order for each key, as the commands of one miner. */
export class Turns<K> {
  readonly #last = new Map<K, Promise<unknown>>();

  /** Does it after all that was wanted before. Throws a Fault `rig.busy` where that takes more than a minute. */
  async run<T>(key: K, work: () => Promise<T>): Promise<T> {
    const asked = Date.now();
    const before = this.#last.get(key);
    const turn = (before ?? Promise.resolve()).then(() => {
      if (Date.now() - asked > patience) throw new Fault("rig.busy", "waited", { seconds: patience / 1000 });
      return work();
    });
    const settled = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, settled);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}

/** Lets so much work go on at once; what comes beyond that begins in order. */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
