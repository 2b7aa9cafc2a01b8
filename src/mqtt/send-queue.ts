import type { Publication } from "./mqtt-link.ts";

export interface QueuedMessage {
  readonly publication: Publication;
  /** Epoch ms at which it expires. */
  readonly until: number;
}

interface Item {
  message: QueuedMessage;
  /** Its position among all. */
  readonly number: number;
}

/** Characters of all payloads that are not retained; the newest is kept whatever its length. */
const maxCharacters = 16 * 1024 * 1024;

/**
 * Messages to send, in order. Of a retained topic only the newest message waits, at the position of the first; of all
 * others, the newest `limit`.
 */
export class SendQueue {
  readonly #limit: number;
  readonly #retained = new Fifo();
  readonly #byTopic = new Map<string, Item>();
  readonly #others = new Fifo();
  /** Characters of the payloads in `others`. */
  #size = 0;
  #number = 0;
  #dropped = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#retained.first === undefined && this.#others.first === undefined;
  }

  put(message: QueuedMessage): void {
    const { topic, payload, retain } = message.publication;
    const waiting = retain ? this.#byTopic.get(topic) : undefined;
    if (waiting !== undefined) {
      waiting.message = message;
      return;
    }
    this.#number += 1;
    const item: Item = { message, number: this.#number };
    if (retain) {
      this.#byTopic.set(topic, item);
      this.#retained.push(item);
      return;
    }
    this.#others.push(item);
    this.#size += payload.length;
    while (this.#others.length > this.#limit || (this.#size > maxCharacters && this.#others.length > 1)) {
      this.#takeOther();
      this.#dropped += 1;
    }
  }

  /** The first message; undefined if none waits. */
  take(): QueuedMessage | undefined {
    const [retained, other] = [this.#retained.first, this.#others.first];
    if (retained === undefined || (other !== undefined && other.number < retained.number)) return this.#takeOther();
    this.#retained.shift();
    this.#byTopic.delete(retained.message.publication.topic);
    return retained.message;
  }

  /** The number of messages dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  #takeOther(): QueuedMessage | undefined {
    const message = this.#others.shift()?.message;
    this.#size -= message?.publication.payload.length ?? 0;
    return message;
  }
}

/** First in, first out, without moving all items at each `shift`. */
class Fifo {
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
