import type { Miner } from "rigbridge";
import type { Clock } from "../shared/clock.ts";
import { type Condition, clear, dueAt, judge, type Threshold, type Value } from "./threshold.ts";
import type { Watcher } from "./watched.ts";

/** A miner that has gone beyond the limit, or is back. */
export interface Turn {
  readonly miner: Miner;
  readonly event: "begun" | "over";
  readonly value: number;
  /** s since its values are beyond the limit, the hold time included. */
  readonly seconds: number;
}

/** How many miners there are, how many are beyond the limit, and of how many nobody knows. */
export interface Tally {
  readonly total: number;
  readonly begun: number;
  readonly unknown: number;
}

export interface LimitsOptions {
  readonly threshold: Threshold;
  readonly clock: Clock;
  readonly measure: (miner: Miner) => Value;
  readonly turned: (turn: Turn) => void;
  /** After everything that was judged. */
  readonly counted: (tally: Tally) => void;
}

interface Judged {
  readonly miner: Miner;
  readonly value: Value;
  readonly condition: Condition;
  /** Calls off looking again when the hold time is over. */
  readonly rest: () => void;
}

/** Judges each miner with each change, and when a hold time is over. */
export class Limits implements Watcher {
  readonly #options: LimitsOptions;
  readonly #judged = new Map<number, Judged>();

  constructor(options: LimitsOptions) {
    this.#options = options;
  }

  miner(miner: Miner): void {
    this.#judge(miner, this.#options.measure(miner));
  }

  forget(id: number): void {
    this.#judged.get(id)?.rest();
    if (this.#judged.delete(id)) this.#count();
  }

  lost(): void {
    for (const { miner } of [...this.#judged.values()]) this.#judge(miner, "unknown");
  }

  close(): void {
    for (const { rest } of this.#judged.values()) rest();
    this.#judged.clear();
  }

  #judge(miner: Miner, value: Value): void {
    const { threshold, clock, turned } = this.#options;
    const before = this.#judged.get(miner.id);
    before?.rest();
    const known = before?.condition ?? clear;
    const now = clock.now();
    const { condition, event } = judge(threshold, known, value, now);
    const due = value === "stale" ? null : dueAt(threshold, condition);
    const rest = due === null ? () => undefined : clock.after(Math.max(1, due - now), () => this.miner(miner));
    this.#judged.set(miner.id, { miner, value, condition, rest });
    if (event !== null && typeof value === "number")
      turned({ miner, event, value, seconds: (now - sinceOf(known, now)) / 1000 });
    this.#count();
  }

  #count(): void {
    const all = [...this.#judged.values()];
    this.#options.counted({
      total: all.length,
      begun: all.filter(({ condition }) => condition.kind === "begun").length,
      unknown: all.filter(({ value }) => value === "unknown").length,
    });
  }
}

const sinceOf = (condition: Condition, now: number): number => (condition.kind === "clear" ? now : condition.since);
