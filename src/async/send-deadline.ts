import { AsyncLocalStorage } from "node:async_hooks";

/** A time by both clocks of this machine: the steady one stands still while the machine sleeps, the other may be set. */
export interface Moment {
  /** ns. */
  readonly steady: bigint;
  /** Epoch ms. */
  readonly clock: bigint;
}

export const momentNow = (): Moment => ({ steady: process.hrtime.bigint(), clock: BigInt(Date.now()) });

/**
 * A deadline that is moved on again and again, and is over once one of the two clocks says so. All threads of the process
 * see it, each as it is now: a message with it may have waited while the process stood still.
 */
export class SendDeadline {
  /** For another thread: by the steady clock and by the other. */
  readonly shared: SharedArrayBuffer;
  readonly #until: BigInt64Array;

  /** It is over until it is moved on. */
  constructor(shared = new SharedArrayBuffer(16)) {
    this.shared = shared;
    this.#until = new BigInt64Array(shared);
  }

  moveTo(from: Moment, ms: number): void {
    Atomics.store(this.#until, 0, from.steady + BigInt(ms) * 1_000_000n);
    Atomics.store(this.#until, 1, from.clock + BigInt(ms));
  }

  end(): void {
    Atomics.store(this.#until, 0, 0n);
  }

  get isOver(): boolean {
    const { steady, clock } = momentNow();
    return steady >= Atomics.load(this.#until, 0) || clock >= Atomics.load(this.#until, 1);
  }
}

// Imported by its own path, since browsers have no such module, and the client for them uses other parts of this folder.
const current = new AsyncLocalStorage<SendDeadline>();

/** Runs work of which no byte leaves after the deadline; null: it has none. */
export const sendingBefore = <T>(deadline: SendDeadline | null, work: () => T): T =>
  deadline === null ? work() : current.run(deadline, work);

/** That of the work that is running; null if it has none. */
export const sendDeadline = (): SendDeadline | null => current.getStore() ?? null;
