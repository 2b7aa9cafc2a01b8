import type { NodeMessage } from "node-red";
import type { Miner, Summary } from "rigbridge";
import { type Totals, totalsOf } from "rigbridge/farm";
import type { Clock } from "../shared/clock.ts";
import type { Farm, Member } from "../shared/farm-connection.ts";
import { isUnread } from "../shared/miner-state.ts";

/**
 * The farm: `payload` has its figures as numbers, `hashrates` those of each algorithm in H/s; `summary` is the service's
 * own, as the API document has it, in the texts of its locale.
 */
export interface SummaryMessage extends NodeMessage {
  readonly payload: Totals & { readonly hashrates: Readonly<Record<string, number>> };
  readonly topic: "summary";
  readonly summary: Summary;
}

export const summaryMessage = (miners: readonly Miner[], summary: Summary): SummaryMessage => ({
  payload: { ...totalsOf(miners), hashrates: hashratesOf(miners) },
  topic: "summary",
  summary,
});

function hashratesOf(miners: readonly Miner[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { readings } of miners) {
    const { algorithm, hashrate } = readings;
    if (algorithm !== null && hashrate !== null) sums[algorithm] = (sums[algorithm] ?? 0) + hashrate;
  }
  return sums;
}

export interface SummariesOptions {
  /** Whether a change is sent. */
  readonly onChange: boolean;
  /** ms between two that are sent because of a change. */
  readonly pace: number;
  /** ms after which it is sent though nothing has changed; null for never. */
  readonly every: number | null;
  readonly clock: Clock;
  readonly send: (message: SummaryMessage) => void;
}

/** Sends the farm's summary once all miners have been asked, and then when it changes, in an interval, or both. */
export class Summaries {
  readonly #options: SummariesOptions;
  #farm: Farm | null = null;
  #isLost = false;
  /** As it was sent last, and when in ms. */
  #sent: { readonly key: string; readonly at: number } | null = null;
  #nextLook: (() => void) | null = null;
  #nextTick: (() => void) | null = null;

  constructor(options: SummariesOptions) {
    this.#options = options;
    this.#tickLater();
  }

  readonly member: Member = {
    read: (farm) => {
      this.#farm = farm;
      this.#lookSoon();
    },
    miner: () => this.#lookSoon(),
    removed: () => this.#lookSoon(),
    summary: () => this.#lookSoon(),
    phase: ({ kind }) => {
      this.#isLost = kind !== "connected";
      if (!this.#isLost) this.#lookSoon();
    },
  };

  close(): void {
    this.#nextLook?.();
    this.#nextTick?.();
  }

  #tickLater(): void {
    const { every, clock } = this.#options;
    if (every === null) return;
    this.#nextTick = clock.after(every, () => {
      this.#tickLater();
      this.#look(true);
    });
  }

  /** What changes within one pace makes one message. */
  #lookSoon(): void {
    const { clock, pace, onChange } = this.#options;
    if (this.#nextLook !== null || (this.#sent !== null && !onChange)) return;
    const wait = this.#sent === null ? 0 : Math.max(0, this.#sent.at + pace - clock.now());
    this.#nextLook = clock.after(wait, () => {
      this.#nextLook = null;
      this.#look(false);
    });
  }

  #look(isAnyhow: boolean): void {
    const farm = this.#farm;
    // What is said of miners while the service cannot be reached is a guess.
    if (farm === null || this.#isLost) return;
    const miners = [...farm.miners.values()];
    // Sums over miners that nobody has asked yet would be wrong.
    if (this.#sent === null && miners.some(isUnread)) return;
    const message = summaryMessage(miners, farm.summary);
    const key = keyOf(message);
    if (!isAnyhow && key === this.#sent?.key) return;
    this.#sent = { key, at: this.#options.clock.now() };
    this.#options.send(message);
  }
}

/** Passing time alone is no change. */
const keyOf = ({ payload, summary: { metaData: _, ...figures } }: SummaryMessage): string =>
  JSON.stringify([payload, figures]);
