import type { Publication } from "./mqtt-link.ts";
import { type QueuedMessage, SendQueue } from "./send-queue.ts";

/** Sends messages; calls back once one has arrived or never will. */
export interface Wire {
  send(publication: Publication, arrived: () => void): void;
  /** Whether there is room for telemetry. */
  readonly hasRoom: boolean;
  /** Whether all that was sent has left this process. */
  readonly isEmpty: boolean;
  /** Maximum QoS 1 messages in flight. */
  readonly window: number;
  /** Called when messages wait for acknowledgements. */
  nudge(): void;
}

export interface OutgoingOptions {
  /** Epoch ms. */
  readonly now: () => number;
  /** Called with the number of messages dropped, once there is room again or the connection is lost. */
  readonly dropped: (count: number) => void;
}

/** Limits for queued messages that are not retained: with the broker away, and with a slow one. */
const queueLimits = { away: 1_000, slow: 10_000 };
/** Maximum characters of payloads in flight; a single message may be longer. */
const maxCharactersUnderWay = 8 * 1024 * 1024;
/** ms between two looks at what a slow broker has not taken yet. */
const lookMs = 20;

/**
 * Sends messages in order: telemetry at once or never, others with as many in flight as the broker accepts. The queue
 * is bounded, both without a connection and with a slow broker.
 */
export class Outgoing {
  readonly #options: OutgoingOptions;
  #wire: Wire | null = null;
  #queue = new SendQueue(queueLimits.away);
  /** A message with a deadline, which would leave late behind what has not left yet; nothing is sent before it. */
  #next: QueuedMessage | undefined;
  #look: NodeJS.Timeout | undefined;
  /** Messages that must not be sent over this connection. */
  #held = new SendQueue(queueLimits.away);
  #underWay = 0;
  /** Characters of the payloads in flight. */
  #size = 0;
  /** Messages sent since the wire was last nudged. */
  #sent = 0;
  #settled: (() => void)[] = [];

  constructor(options: OutgoingOptions) {
    this.#options = options;
  }

  publish(publication: Publication): void {
    const wire = this.#wire;
    if (wire === null) this.#enqueueOffline({ publication, until: Number.POSITIVE_INFINITY });
    else if (publication.qos === 0) {
      if (wire.hasRoom && this.#next === undefined) wire.send(publication, () => undefined);
    } else {
      this.#queue.put({ publication, until: this.#until(publication) });
      this.#pump();
    }
  }

  settled(): Promise<void> {
    if (this.#wire === null || this.#isEmpty) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled.push(resolve);
    return promise;
  }

  /** Connected: queued messages are sent before new ones; those not `wanted` wait for the next connection. */
  open(wire: Wire, wanted: (publication: Publication) => boolean = () => true): void {
    this.#wire = wire;
    this.#underWay = 0;
    this.#size = 0;
    this.#report();
    const before = this.#queue;
    this.#queue = new SendQueue(queueLimits.slow);
    for (let next = before.take(); next !== undefined; next = before.take())
      (wanted(next.publication) ? this.#queue : this.#held).put(next);
    this.#pump();
  }

  /** The connection is lost, along with the messages in flight. */
  lost(): void {
    this.#wire = null;
    this.#report();
    const before = [this.#held, this.#queue];
    const next = this.#takeNext();
    if (next !== undefined) before[0]?.put(next);
    this.#held = new SendQueue(queueLimits.away);
    this.#queue = new SendQueue(queueLimits.away);
    for (const queue of before)
      for (let next = queue.take(); next !== undefined; next = queue.take()) this.#enqueueOffline(next);
    this.#settle();
  }

  get #isEmpty(): boolean {
    return this.#underWay === 0 && this.#next === undefined && this.#queue.isEmpty;
  }

  /** Without a connection, only messages that will not be published again wait. */
  #enqueueOffline({ publication, until }: QueuedMessage): void {
    const { qos, retain, expiry } = publication;
    if (qos === 0 || retain || expiry === undefined) return;
    this.#queue.put({ publication, until: Math.min(until, this.#options.now() + expiry * 1000) });
  }

  #pump(): void {
    const wire = this.#wire;
    if (wire === null) return;
    while (this.#underWay < wire.window && (this.#size < maxCharactersUnderWay || this.#underWay === 0)) {
      const next = this.#takeNext() ?? this.#queue.take();
      if (next === undefined) break;
      const { publication, until } = next;
      const { sendBefore } = publication;
      if (until <= this.#options.now() || sendBefore?.isOver) continue;
      if (sendBefore !== undefined && !wire.isEmpty) {
        this.#next = next;
        this.#look = setTimeout(() => {
          this.#pump();
          if (this.#isEmpty) this.#settle();
        }, lookMs);
        break;
      }
      this.#underWay += 1;
      this.#size += publication.payload.length;
      this.#sent += 1;
      wire.send(publication, () => this.#arrived(wire, publication));
    }
    if (!this.#queue.isEmpty && this.#sent >= wire.window) {
      this.#sent = 0;
      wire.nudge();
    }
  }

  #takeNext(): QueuedMessage | undefined {
    clearTimeout(this.#look);
    const next = this.#next;
    this.#next = undefined;
    return next;
  }

  /** Who waits for the effect of a message with a deadline has given up when it expires. */
  #until({ sendBefore, expiry }: Publication): number {
    return sendBefore === undefined || expiry === undefined
      ? Number.POSITIVE_INFINITY
      : this.#options.now() + expiry * 1000;
  }

  #arrived(wire: Wire, { payload }: Publication): void {
    if (wire !== this.#wire) return;
    this.#underWay -= 1;
    this.#size -= payload.length;
    this.#pump();
    if (!this.#isEmpty) return;
    this.#report();
    this.#settle();
  }

  #report(): void {
    const count = this.#queue.takeDropped();
    if (count > 0) this.#options.dropped(count);
  }

  #settle(): void {
    const settled = this.#settled;
    this.#settled = [];
    for (const resolve of settled) resolve();
  }
}
