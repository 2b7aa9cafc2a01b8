import { isUnread, type Miner, type MinerStatus } from "rigbridge";
import type { Clock } from "../shared/clock.ts";
import type { MinerMessage } from "../shared/miner-state.ts";
import type { Watcher } from "./watched-miners.ts";

export interface IntervalReporterOptions {
  readonly intervalMs: number;
  /** Sends unchanged miners too. */
  readonly repeat: boolean;
  /** Sends a list of all miners if one has changed, instead of each changed one. */
  readonly together: boolean;
  readonly clock: Clock;
  readonly message: (miner: Miner) => MinerMessage;
  readonly send: (messages: readonly MinerMessage[]) => void;
}

/** ms to collect the first states for one list. */
const collectMs = 1_000;

/** Sends the state of each miner once it is known, and then at an interval. */
export class IntervalReporter implements Watcher {
  readonly #options: IntervalReporterOptions;
  /** Made as each miner arrives, so that an error in one concerns that miner alone. */
  readonly #latest = new Map<number, MinerMessage>();
  /** The last state sent of each miner. */
  readonly #sent = new Map<number, string>();
  #cancelFirst: (() => void) | null = null;
  #cancelNext: () => void;

  constructor(options: IntervalReporterOptions) {
    this.#options = options;
    this.#cancelNext = options.clock.after(options.intervalMs, () => this.#tick());
  }

  miner(miner: Miner): void {
    if (isUnread(miner)) return;
    const message = this.#options.message(miner);
    this.#latest.set(miner.id, message);
    if (this.#sent.has(miner.id)) return;
    if (!this.#options.together) this.#send([message]);
    else if (this.#sent.size === 0)
      this.#cancelFirst ??= this.#options.clock.after(collectMs, () => this.#sendChanged());
  }

  forget(id: number): void {
    this.#latest.delete(id);
    this.#sent.delete(id);
  }

  lost(): void {
    this.#latest.clear();
  }

  close(): void {
    this.#cancelFirst?.();
    this.#cancelNext();
  }

  #tick(): void {
    this.#cancelNext = this.#options.clock.after(this.#options.intervalMs, () => this.#tick());
    this.#sendChanged();
  }

  #sendChanged(): void {
    const { repeat, together } = this.#options;
    const all = [...this.#latest.values()];
    const changed = all.filter((message) => repeat || this.#sent.get(message.miner.id) !== keyOf(message));
    if (changed.length > 0) this.#send(together ? all : changed);
  }

  #send(messages: readonly MinerMessage[]): void {
    for (const message of messages) this.#sent.set(message.miner.id, keyOf(message));
    // A flow may change its messages, and these are compared and sent again.
    this.#options.send(structuredClone(messages));
  }
}

/** Everything but the time. */
const keyOf = ({ payload: { at: _, ...state } }: MinerMessage): string => JSON.stringify(state);

/** Reports status changes; the first known status is not one. */
export class StatusReporter implements Watcher {
  readonly #statuses = new Map<number, MinerStatus>();
  readonly #changed: (miner: Miner, before: MinerStatus) => void;

  constructor(changed: (miner: Miner, before: MinerStatus) => void) {
    this.#changed = changed;
  }

  miner(miner: Miner): void {
    if (isUnread(miner)) return;
    const { statusDisplay: status } = miner.statusInfo;
    const before = this.#statuses.get(miner.id);
    this.#statuses.set(miner.id, status);
    if (before !== undefined && before !== status) this.#changed(miner, before);
  }

  forget(id: number): void {
    this.#statuses.delete(id);
  }

  /** Changes in the meantime are reported once they are known. */
  lost(): void {}

  close(): void {}
}
