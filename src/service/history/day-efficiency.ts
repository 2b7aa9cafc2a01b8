import { setImmediate as yieldToOthers } from "node:timers/promises";
import type { TakeSample } from "../../store/index.ts";

interface DayEfficiencyContext {
  /** Ids of the miners there are. */
  readonly minerIds: () => Iterable<number>;
  readonly recorderOf: (minerId: number) => {
    each(minerId: number, from: number, to: number, take: TakeSample): Promise<void>;
  };
  /** Epoch ms. */
  readonly now: () => number;
  /** ms of the monotonic clock. */
  readonly monotonicNow: () => number;
}

const minuteMs = 60_000;
const roundMs = 60 * minuteMs;
const dayMs = 24 * roundMs;
/** Minutes of mining that a median needs. */
const leastMinutes = 60;
/** ms between two turns, and after which one begins no other miner: most of that is waiting for the store. */
export const efficiencyTurnMs = 1_000;
const longestTurnMs = 500;

/** The median J per hash of each miner over the last day, by a sample of each minute; computed once an hour in the background. */
export class DayEfficiency {
  readonly #context: DayEfficiencyContext;
  readonly #medians = new Map<number, number>();
  /** Miners of this round that are not computed yet, the next one last. */
  #waiting: number[] = [];
  /** Miners of a turn, so that a round takes an hour. */
  #perTurn = 1;
  #nextRoundAt = Number.NEGATIVE_INFINITY;
  #turning: Promise<void> | null = null;
  #isClosed = false;

  constructor(context: DayEfficiencyContext) {
    this.#context = context;
  }

  /** J per hash; null for a miner without an hour of mining in its last day, or that is not computed yet. */
  of(minerId: number): number | null {
    return this.#medians.get(minerId) ?? null;
  }

  /** Computes the next few miners. Never rejects. */
  turn(): Promise<void> {
    this.#turning ??= this.#turn().finally(() => {
      this.#turning = null;
    });
    return this.#turning;
  }

  /** Resolves when nothing is read any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turning;
  }

  async #turn(): Promise<void> {
    const { monotonicNow } = this.#context;
    const begun = monotonicNow();
    if (this.#waiting.length === 0) {
      if (begun < this.#nextRoundAt) return;
      this.#nextRoundAt = begun + roundMs;
      this.#begin();
    }
    for (let count = 0; count < this.#perTurn; count += 1) {
      if (this.#isClosed || monotonicNow() - begun > longestTurnMs) return;
      const id = this.#waiting.pop();
      if (id === undefined) return;
      // While the store is away, the medians stay as they are.
      await this.#compute(id).catch(() => undefined);
      await yieldToOthers();
    }
  }

  #begin(): void {
    const ids = new Set(this.#context.minerIds());
    for (const id of this.#medians.keys()) if (!ids.has(id)) this.#medians.delete(id);
    this.#waiting = [...ids];
    this.#perTurn = Math.ceil((ids.size * efficiencyTurnMs) / roundMs);
  }

  async #compute(id: number): Promise<void> {
    const now = this.#context.now();
    const values: number[] = [];
    let lastMinute = -1;
    await this.#context.recorderOf(id).each(id, now - dayMs, now + 1, (time, hashrate, power) => {
      const minute = Math.floor(time / minuteMs);
      // NaN is not known.
      if (minute === lastMinute || !(hashrate > 0) || !(power > 0)) return;
      lastMinute = minute;
      values.push(power / hashrate);
    });
    const median = values.length < leastMinutes ? undefined : medianOf(values);
    if (median === undefined) this.#medians.delete(id);
    else this.#medians.set(id, median);
  }
}

const medianOf = (values: readonly number[]): number | undefined =>
  Float64Array.from(values).sort()[Math.floor(values.length / 2)];
