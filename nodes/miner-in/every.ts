import type { Miner } from "rigbridge";
import type { Clock } from "../shared/clock.ts";
import { isUnread, type MinerMessage } from "../shared/miner-state.ts";
import type { Watcher } from "./watched.ts";

export interface EveryOptions {
  /** ms */
  readonly interval: number;
  /** Also when nothing has changed but the time. */
  readonly repeat: boolean;
  /** A list of all of them, when one of them has changed, instead of each that has. */
  readonly together: boolean;
  readonly clock: Clock;
  readonly message: (miner: Miner) => MinerMessage;
  readonly send: (messages: readonly MinerMessage[]) => void;
}

/** ms within which those that are known first come together. */
const gathering = 1_000;

/** Sends the state of miners at once when it is first known, and then in an interval. */
export class Every implements Watcher {
  readonly #options: EveryOptions;
  /** Made when it is told of, for what fails then concerns that miner alone. */
  readonly #known = new Map<number, MinerMessage>();
  /** What was sent of each last. */
  readonly #sent = new Map<number, string>();
  #first: (() => void) | null = null;
  #next: () => void;

  constructor(options: EveryOptions) {
    this.#options = options;
    this.#next = options.clock.after(options.interval, () => this.#tick());
  }

  miner(miner: Miner): void {
    if (isUnread(miner)) return;
    const message = this.#options.message(miner);
    this.#known.set(miner.id, message);
    if (this.#sent.has(miner.id)) return;
    if (!this.#options.together) this.#send([message]);
    else if (this.#sent.size === 0) this.#first ??= this.#options.clock.after(gathering, () => this.#look());
  }

  forget(id: number): void {
    this.#known.delete(id);
    this.#sent.delete(id);
  }

  lost(): void {
    this.#known.clear();
  }

  close(): void {
    this.#first?.();
    this.#next();
  }

  #tick(): void {
    this.#next = this.#options.clock.after(this.#options.interval, () => this.#tick());
    this.#look();
  }

  #look(): void {
    const { repeat, together } = this.#options;
    const all = [...this.#known.values()];
    const changed = all.filter((message) => repeat || this.#sent.get(message.miner.id) !== keyOf(message));
    if (changed.length > 0) this.#send(together ? all : changed);
  }

  #send(messages: readonly MinerMessage[]): void {
    for (const message of messages) this.#sent.set(message.miner.id, keyOf(message));
    this.#options.send(messages);
  }
}

/** Passing time alone is no change. */
const keyOf = ({ payload: { at: _, ...state } }: MinerMessage): string => JSON.stringify(state);
