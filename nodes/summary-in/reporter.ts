import type { NodeMessage } from "node-red";
import { isUnread, type Miner, type Summary } from "rigbridge";
import { type Totals, totalsOf } from "rigbridge/farm";
import type { Clock } from "../shared/clock.ts";
import type { Farm, Member } from "../shared/farm-connection.ts";

/**
 * `payload` has the totals as numbers, `hashrates` by algorithm in H/s; `summary` is the service's own, as in the API,
 * formatted for its locale.
 */
export interface SummaryMessage extends NodeMessage {
  readonly payload: Totals & { readonly hashrates: Readonly<Record<string, number>> };
  readonly topic: "summary";
  readonly summary: Summary;
}

export const summaryMessage = (miners: readonly Miner[], summary: Summary): SummaryMessage => ({
  payload: { ...totalsOf(miners, summary.energy ?? null), hashrates: hashratesOf(miners) },
  topic: "summary",
  // A flow may change its messages, but not the summary that all nodes share.
  summary: structuredClone(summary),
});

function hashratesOf(miners: readonly Miner[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { readings } of miners) {
    const { algorithm, hashrate } = readings;
    if (algorithm !== null && hashrate !== null) sums[algorithm] = (sums[algorithm] ?? 0) + hashrate;
  }
  return sums;
}

export interface SummaryReporterOptions {
  /** Sends changes. */
  readonly onChange: boolean;
  /** ms between messages about changes at least. */
  readonly minIntervalMs: number;
  /** ms after which an unchanged summary is sent; null for never. */
  readonly repeatMs: number | null;
  readonly clock: Clock;
  readonly send: (message: SummaryMessage) => void;
}

/** Sends the summary once all miners have been read, then when it changes, at an interval, or both. */
export class SummaryReporter {
  readonly #options: SummaryReporterOptions;
  #farm: Farm | null = null;
  #isLost = false;
  /** The last summary sent, and when in ms. */
  #sent: { readonly key: string; readonly at: number } | null = null;
  #cancelSend: (() => void) | null = null;
  #cancelTick: (() => void) | null = null;

  constructor(options: SummaryReporterOptions) {
    this.#options = options;
    this.#scheduleTick();
  }

  readonly member: Member = {
    read: (farm) => {
      this.#farm = farm;
      this.#sendSoon();
    },
    miner: () => this.#sendSoon(),
    removed: () => this.#sendSoon(),
    summary: () => this.#sendSoon(),
    phase: ({ kind }) => {
      this.#isLost = kind !== "connected";
      if (!this.#isLost) this.#sendSoon();
    },
  };

  close(): void {
    this.#cancelSend?.();
    this.#cancelTick?.();
  }

  #scheduleTick(): void {
    const { repeatMs, clock } = this.#options;
    if (repeatMs === null) return;
    this.#cancelTick = clock.after(repeatMs, () => {
      this.#scheduleTick();
      this.#send(true);
    });
  }

  /** Changes within the minimum interval make one message. */
  #sendSoon(): void {
    const { clock, minIntervalMs, onChange } = this.#options;
    if (this.#cancelSend !== null || (this.#sent !== null && !onChange)) return;
    const wait = this.#sent === null ? 0 : Math.max(0, this.#sent.at + minIntervalMs - clock.now());
    this.#cancelSend = clock.after(wait, () => {
      this.#cancelSend = null;
      this.#send(false);
    });
  }

  #send(isForced: boolean): void {
    const farm = this.#farm;
    // While the service is unreachable, reported states are guesses.
    if (farm === null || this.#isLost) return;
    const miners = [...farm.miners.values()];
    // Totals without the miners that are not read yet would be wrong.
    if (miners.some(isUnread)) return;
    const message = summaryMessage(miners, farm.summary);
    const key = keyOf(message);
    if (!isForced && key === this.#sent?.key) return;
    this.#sent = { key, at: this.#options.clock.now() };
    this.#options.send(message);
  }
}

/** Everything but the time. */
const keyOf = ({ payload, summary: { metaData: _, ...figures } }: SummaryMessage): string =>
  JSON.stringify([payload, figures]);
