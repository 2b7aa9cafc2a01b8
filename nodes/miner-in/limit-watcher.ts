import type { Miner } from "rigbridge";
import type { Clock } from "../shared/clock.ts";
import { type Condition, clear, dueAt, evaluate, type Threshold, type Value } from "./threshold.ts";
import type { Watcher } from "./watched-miners.ts";

/** A miner whose condition has begun or ended. */
export interface Crossing {
  readonly miner: Miner;
  readonly event: "begun" | "over";
  readonly value: number;
  /** s for which its values have been beyond the limit, including the hold time. */
  readonly seconds: number;
}

/** The numbers of watched miners, of those beyond the limit, and of those whose value is unknown. */
export interface Tally {
  readonly total: number;
  readonly begun: number;
  readonly unknown: number;
}

export interface LimitWatcherOptions {
  readonly threshold: Threshold;
  readonly clock: Clock;
  readonly measure: (miner: Miner) => Value;
  readonly crossed: (crossing: Crossing) => void;
  /** After each evaluation. */
  readonly counted: (tally: Tally) => void;
}

interface Entry {
  readonly miner: Miner;
  readonly value: Value;
  readonly condition: Condition;
  readonly cancelTimer: () => void;
}

/** Evaluates the limit for each miner at every change, and when its hold time ends. */
export class LimitWatcher implements Watcher {
  readonly #options: LimitWatcherOptions;
  readonly #entries = new Map<number, Entry>();

  constructor(options: LimitWatcherOptions) {
    this.#options = options;
  }

  miner(miner: Miner): void {
    this.#evaluate(miner, this.#options.measure(miner));
  }

  forget(id: number): void {
    this.#entries.get(id)?.cancelTimer();
    if (this.#entries.delete(id)) this.#count();
  }

  lost(): void {
    for (const { miner } of [...this.#entries.values()]) this.#evaluate(miner, "unknown");
  }

  close(): void {
    for (const { cancelTimer } of this.#entries.values()) cancelTimer();
    this.#entries.clear();
  }

  #evaluate(miner: Miner, value: Value): void {
    const { threshold, clock, crossed } = this.#options;
    const before = this.#entries.get(miner.id);
    before?.cancelTimer();
    const previous = before?.condition ?? clear;
    const now = clock.now();
    const { condition, event } = evaluate(threshold, previous, value, now);
    const due = value === "stale" ? null : dueAt(threshold, condition);
    const cancelTimer = due === null ? () => undefined : clock.after(Math.max(1, due - now), () => this.miner(miner));
    this.#entries.set(miner.id, { miner, value, condition, cancelTimer });
    const since = previous.kind === "clear" ? now : previous.since;
    if (event !== null && typeof value === "number") crossed({ miner, event, value, seconds: (now - since) / 1000 });
    this.#count();
  }

  #count(): void {
    const all = [...this.#entries.values()];
    this.#options.counted({
      total: all.length,
      begun: all.filter(({ condition }) => condition.kind === "begun").length,
      unknown: all.filter(({ value }) => value === "unknown").length,
    });
  }
}
