import type { Publication } from "./mqtt-link.ts";
import { type Waiter, Waiting } from "./waiting.ts";

/** What is sent through: calls back once it has arrived, or never will; says whether there is room for telemetry. */
export interface Wire {
  send(publication: Publication, arrived: () => void): void;
  readonly hasRoom: boolean;
  /** QoS 1 messages that may be under way at once. */
  readonly window: number;
  /** Something was held back for want of acknowledgements. */
  nudge(): void;
}

export interface OutgoingOptions {
  /** Epoch ms. */
  readonly now: () => number;
  /** Told how many messages found no room, once there is room again or the broker is gone. */
  readonly dropped: (count: number) => void;
}

/** Messages that are not retained and wait: for a broker that is away, and for one that is slow. */
const patient = { away: 1_000, slow: 10_000 };
/** Characters of payloads that may be under way at once; one message may be longer. */
const underWayAtMost = 8 * 1024 * 1024;

/**
 * What goes out, in order: telemetry at once or never, the rest with as many under way as the broker takes. What waits
 * is bounded, whether there is no broker or a slow one.
 */
export class Outgoing {
  readonly #options: OutgoingOptions;
  #wire: Wire | null = null;
  #waiting = new Waiting(patient.away);
  #underWay = 0;
  /** Characters of the payloads under way. */
  #size = 0;
  /** Since the wire was nudged. */
  #sent = 0;
  #settled: (() => void)[] = [];

  constructor(options: OutgoingOptions) {
    this.#options = options;
  }

  publish(publication: Publication): void {
    const wire = this.#wire;
    if (wire === null) this.#keep({ publication, until: Number.POSITIVE_INFINITY });
    else if (publication.qos === 0) {
      if (wire.hasRoom) wire.send(publication, () => undefined);
    } else {
      this.#waiting.put({ publication, until: Number.POSITIVE_INFINITY });
      this.#pump();
    }
  }

  settled(): Promise<void> {
    if (this.#wire === null || this.#isEmpty) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled.push(resolve);
    return promise;
  }

  /** There is a broker; what waited goes out before what is published from now on. */
  open(wire: Wire): void {
    this.#wire = wire;
    this.#underWay = 0;
    this.#size = 0;
    this.#report();
    const before = this.#waiting;
    this.#waiting = new Waiting(patient.slow);
    for (let next = before.take(); next !== undefined; next = before.take()) this.#waiting.put(next);
    this.#pump();
  }

  /** The broker is gone, and with it what was under way. */
  lost(): void {
    this.#wire = null;
    this.#report();
    const before = this.#waiting;
    this.#waiting = new Waiting(patient.away);
    for (let next = before.take(); next !== undefined; next = before.take()) this.#keep(next);
    this.#settle();
  }

  get #isEmpty(): boolean {
    return this.#underWay === 0 && this.#waiting.isEmpty;
  }

  /** Without a broker only that waits which nobody would publish again. */
  #keep({ publication, until }: Waiter): void {
    const { qos, retain, expiry } = publication;
    if (qos === 0 || retain || expiry === undefined) return;
    this.#waiting.put({ publication, until: Math.min(until, this.#options.now() + expiry * 1000) });
  }

  #pump(): void {
    const wire = this.#wire;
    if (wire === null) return;
    while (this.#underWay < wire.window && (this.#size < underWayAtMost || this.#underWay === 0)) {
      const next = this.#waiting.take();
      if (next === undefined) break;
      const { publication, until } = next;
      if (until <= this.#options.now()) continue;
      this.#underWay += 1;
      this.#size += publication.payload.length;
      this.#sent += 1;
      wire.send(publication, () => this.#arrived(wire, publication));
    }
    if (!this.#waiting.isEmpty && this.#sent >= wire.window) {
      this.#sent = 0;
      wire.nudge();
    }
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
    const count = this.#waiting.takeDropped();
    if (count > 0) this.#options.dropped(count);
  }

  #settle(): void {
    const settled = this.#settled;
    this.#settled = [];
    for (const resolve of settled) resolve();
  }
}
