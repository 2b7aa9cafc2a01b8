import { RigbridgeError } from "../contract/problems.ts";

interface Lane {
  tail: Promise<unknown>;
  waiting: number;
  /** What was wanted last. */
  last: string;
}

/** Commands of one miner that may wait. */
const most = 50;

/** Work in order for each miner, however many miners there are. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();

  /**
   * Does it after all that was wanted of this miner before; what is just what is wanted last, and not done yet, is left
   * out (undefined). Throws `too.many`.
   */
  async run<T>(miner: string, key: string, work: () => Promise<T>): Promise<T | undefined> {
    const lane = this.#lanes.get(miner) ?? { tail: Promise.resolve(), waiting: 0, last: "" };
    if (lane.waiting > 0 && lane.last === key) return undefined;
    if (lane.waiting >= most) throw new RigbridgeError("too.many", `${most} commands for this miner wait already`);
    this.#lanes.set(miner, lane);
    lane.waiting += 1;
    lane.last = key;
    const done = lane.tail.then(work);
    lane.tail = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      lane.waiting -= 1;
      if (lane.waiting === 0) this.#lanes.delete(miner);
    }
  }
}
