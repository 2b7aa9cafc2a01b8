import type { Publication } from "./connection.ts";

/** What is sent through: calls back once it has arrived, or never will; says whether there is room for telemetry. */
export interface Wire {
  send(publication: Publication, arrived: () => void): void;
  readonly hasRoom: boolean;
  /** QoS 1 messages that may be under way at once. */
  readonly window: number;
  /** Something was held back for want of acknowledgements. */
  nudge(): void;
}

/** Messages that wait for a broker, at most. */
const patient = 1_000;

/**
 * What goes out, in order: telemetry at once or never, the rest with as many under way as the broker takes. What waits
 * is bounded while there is no broker; while there is one whoever publishes is asked for no more than it knows of.
 */
export class Outgoing {
  readonly #now: () => number;
  #wire: Wire | null = null;
  #waiting: { readonly publication: Publication; readonly until: number }[] = [];
  #first = 0;
  #underWay = 0;
  /** Since the wire was nudged. */
  #sent = 0;
  #settled: (() => void)[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  publish(publication: Publication): void {
    const wire = this.#wire;
    const { qos, retain, expiry } = publication;
    if (wire === null) {
      if (qos === 1 && !retain && expiry !== undefined) this.#keep(publication, expiry);
    } else if (qos === 0) {
      if (wire.hasRoom) wire.send(publication, () => undefined);
    } else {
      this.#waiting.push({ publication, until: Number.POSITIVE_INFINITY });
      this.#pump();
    }
  }

  settled(): Promise<void> {
    if (this.#wire === null || this.#isEmpty) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled.push(resolve);
    return promise;
  }

  /** There is a broker; what waited goes out behind what is published meanwhile. */
  open(wire: Wire): void {
    this.#wire = wire;
    this.#underWay = 0;
    const now = this.#now();
    this.#waiting = this.#waiting.slice(this.#first).filter(({ until }) => until > now);
    this.#first = 0;
    this.#pump();
  }

  /** The broker is gone, and with it what was under way. */
  lost(): void {
    this.#wire = null;
    const rest = this.#waiting.slice(this.#first).map(({ publication }) => publication);
    this.#waiting = [];
    this.#first = 0;
    for (const { retain, expiry, ...publication } of rest)
      if (!retain && expiry !== undefined) this.#keep({ ...publication, retain, expiry }, expiry);
    this.#settle();
  }

  get #isEmpty(): boolean {
    return this.#underWay === 0 && this.#first === this.#waiting.length;
  }

  #keep(publication: Publication, expiry: number): void {
    this.#waiting.push({ publication, until: this.#now() + expiry * 1000 });
    if (this.#waiting.length > patient) this.#waiting.shift();
  }

  #pump(): void {
    const wire = this.#wire;
    if (wire === null) return;
    while (this.#underWay < wire.window) {
      const next = this.#waiting[this.#first];
      if (next === undefined) break;
      this.#first += 1;
      this.#underWay += 1;
      this.#sent += 1;
      wire.send(next.publication, () => this.#arrived(wire));
    }
    if (this.#first === this.#waiting.length) {
      this.#waiting = [];
      this.#first = 0;
    } else if (this.#sent >= wire.window) {
      this.#sent = 0;
      wire.nudge();
    }
  }

  #arrived(wire: Wire): void {
    if (wire !== this.#wire) return;
    this.#underWay -= 1;
    this.#pump();
    if (this.#isEmpty) this.#settle();
  }

  #settle(): void {
    const settled = this.#settled;
    this.#settled = [];
    for (const resolve of settled) resolve();
  }
}
