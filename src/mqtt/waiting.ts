import type { Publication } from "./mqtt-link.ts";

export interface Waiter {
  readonly publication: Publication;
  /** Epoch ms after which nobody needs it any more. */
  readonly until: number;
}

interface Item {
  waiter: Waiter;
  /** Its place among all. */
  readonly number: number;
}

/** Characters of the payloads that are not retained; the newest is kept however long it is. */
const longest = 16 * 1024 * 1024;

/**
 * What waits to be sent, in the order in which it came. Of a retained topic only the newest message waits, at the place
 * of the first; of all else the newest `most`.
 */
export class Waiting {
  readonly #most: number;
  readonly #retained = new Line();
  readonly #byTopic = new Map<string, Item>();
  readonly #others = new Line();
  /** Characters of the payloads in `others`. */
  #size = 0;
  #number = 0;
  #dropped = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#retained.first === undefined && this.#others.first === undefined;
  }

  put(waiter: Waiter): void {
    const { topic, payload, retain } = waiter.publication;
    const known = retain ? this.#byTopic.get(topic) : undefined;
    if (known !== undefined) {
      known.waiter = waiter;
      return;
    }
    this.#number += 1;
    const item: Item = { waiter, number: this.#number };
    if (retain) {
      this.#byTopic.set(topic, item);
      this.#retained.push(item);
      return;
    }
    this.#others.push(item);
    this.#size += payload.length;
    while (this.#others.length > this.#most || (this.#size > longest && this.#others.length > 1)) {
      this.#takeOther();
      this.#dropped += 1;
    }
  }

  /** The first of all; undefined where nothing waits. */
  take(): Waiter | undefined {
    const [kept, other] = [this.#retained.first, this.#others.first];
    if (kept === undefined || (other !== undefined && other.number < kept.number)) return this.#takeOther();
    this.#retained.shift();
    this.#byTopic.delete(kept.waiter.publication.topic);
    return kept.waiter;
  }

  /** How many messages found no room since this was last asked. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  #takeOther(): Waiter | undefined {
    const waiter = this.#others.shift()?.waiter;
    this.#size -= waiter?.publication.payload.length ?? 0;
    return waiter;
  }
}

/** First in, first out, without moving the others up each time. */
class Line {
  #items: Item[] = [];
  #start = 0;

  get first(): Item | undefined {
    return this.#items[this.#start];
  }

  get length(): number {
    return this.#items.length - this.#start;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    const first = this.first;
    if (first === undefined) return undefined;
    this.#start += 1;
    if (this.#start * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
    return first;
  }
}
