import { TurnQueue } from "../../async/index.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Caller } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";

/** ms of work, as measured on a small machine, that a user may request at once, and in each second after that. */
const burstMs = 500;
const refillMsPerSecond = 250;

/** The cost of reads and jobs that grow with the amount of data; ms each. */
export const costs = {
  /** To find out the amount. */
  look: 1,
  /** A reading that a history is made of. */
  reading: 0.0001,
  /** A command in a list. */
  command: 0.02,
  /** A miner whose commands are looked for. */
  miner: 0.001,
  /** A miner of a bulk action, written down, judged or shown. */
  result: 0.01,
} as const;

/**
 * Each user's share of the one thread that serves all callers: a user who requests more has to wait, and the others do
 * not. Callers without a key have one share together. The owner, with the service's own key, has no limit.
 */
export class ReadShares {
  readonly #now: () => number;
  readonly #turns = new TurnQueue();
  readonly #left = new Map<number | "keyless", { readonly ms: number; readonly at: number }>();

  /** `now`: ms of a clock that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes so many ms from the caller's share, also more than is left. Throws `too.many` if nothing is left before. */
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

  /** Takes the actual cost of a reply. */
  charge(caller: Caller, ms: number): void {
    const holder = holderOf(caller);
    if (holder !== undefined) this.#left.set(holder, { ms: this.#leftOf(holder) - ms, at: this.#now() });
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

  /** Does a long read in a turn of the event loop of its own, so that others are served between the reads of one user. */
  async inTurn<T>(read: () => T): Promise<T> {
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
