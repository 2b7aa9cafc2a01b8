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
  readonly #known = new Map<number, Miner>();
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
    this.#known.set(miner.id, miner);
    if (this.#sent.has(miner.id)) return;
    if (!this.#options.together) this.#send([miner]);
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
    const { repeat, together, message } = this.#options;
    const all = [...this.#known.values()];
    const changed = all.filter((miner) => repeat || this.#sent.get(miner.id) !== keyOf(message(miner)));
    if (changed.length > 0) this.#send(together ? all : changed);
  }

  #send(miners: readonly Miner[]): void {
    const messages = miners.map((miner) => this.#options.message(miner));
    for (const message of messages) this.#sent.set(message.miner.id, keyOf(message));
    this.#options.send(messages);
  }
}

/** Passing time alone is no change. */
const keyOf = ({ payload: { at: _, ...state } }: MinerMessage): string => JSON.stringify(state);
