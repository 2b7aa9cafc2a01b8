import { TurnQueue } from "../../async/index.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Caller } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";

/** ms of work, as measured on a small machine, that a user may request at once, and again each second. */
const burstMs = 500;
const refillMsPerSecond = 250;

/** The cost of reads and jobs that grow with the amount of data; ms each. */
export const costs = {
  /** Finding out the amount. */
  look: 1,
  /** One reading of a history. */
  reading: 0.0001,
  /** One command in a list. */
  command: 0.02,
  /** One miner whose commands are searched. */
  miner: 0.001,
  /** One miner of a bulk action: parsed, checked or listed. */
  result: 0.01,
} as const;

/**
 * Each user's share of the one thread that serves all callers: a user who requests more has to wait, and the others do
 * not. Callers without a key share one. The owner, with the service's own key, has no limit.
 */
export class ReadShares {
  readonly #now: () => number;
  readonly #turns = new TurnQueue();
  readonly #left = new Map<number | "keyless", { readonly ms: number; readonly at: number }>();

  /** `now`: ms of the monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes this time from the caller's share, even more than is left. Throws `too.many` if nothing was left. */
  take(caller: Caller, ms: number): void {
    const holder = holderOf(caller);
    if (holder === undefined) return;
    const left = this.#leftOf(holder);
    if (left <= 0) {
      const seconds = Math.max(1, Math.ceil(-left / refillMsPerSecond));
      throw new RigbridgeError("too.many", detail("rights.share", { seconds }));
    }
    this.#left.set(holder, { ms: left - ms, at: this.#now() });
  }

  /** Charges the actual cost of a reply. */
  charge(caller: Caller, ms: number): void {
    const holder = holderOf(caller);
    if (holder !== undefined) this.#left.set(holder, { ms: this.#leftOf(holder) - ms, at: this.#now() });
  }

  /** Like `measured`, for work that the store does: for the time until it is done. */
  async measuredRead<T>(caller: Caller, ms: number, work: () => Promise<T>): Promise<T> {
    const began = this.#now();
    try {
      return await work();
    } finally {
      this.charge(caller, Math.max(ms, this.#now() - began));
    }
  }

  /** Runs work with an estimated cost in ms, and charges the actual time if that is more, as on a busy machine. */
  measured<T>(caller: Caller, ms: number, work: () => T): T {
    const began = this.#now();
    try {
      return work();
    } finally {
      this.charge(caller, Math.max(ms, this.#now() - began));
    }
  }

  /** Runs a long read in a separate turn of the event loop, so that others are served between the reads of one user. */
  async inTurn<T>(read: () => T | Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => this.#turns.enqueue(resolve));
    return read();
  }

  #leftOf(holder: number | "keyless"): number {
    const last = this.#left.get(holder);
    if (last === undefined) return burstMs;
    return Math.min(burstMs, last.ms + ((this.#now() - last.at) / 1000) * refillMsPerSecond);
  }
}

/** The holder of the share. Only callers admitted by `keylessRead` have a `privilege`, whatever user they name. */
const holderOf = ({ userId, privilege }: Caller): number | "keyless" | undefined =>
  privilege === undefined ? userId : "keyless";
