import { backOffMs, jittered } from "../async/index.ts";
import type { Log } from "./log.ts";

/** Consecutive streams cut within a poll interval, after which the server is polled instead. */
const cutsUntilPolling = 3;
/** Poll intervals until the stream is tried again. */
const retry = { first: 4, longest: 240 } as const;
/** ms; a Rigbridge sends a comment every 15 s. */
const longestSilenceMs = 15_000;

interface HealthOptions {
  readonly pollSeconds: number;
  readonly log: Log | undefined;
}

/** Whether a server's stream of events arrives, which a proxy may block or cut, and when to try it again if not. */
export class StreamHealth {
  readonly #options: HealthOptions;
  readonly #pollMs: number;
  /** ms when the stream was opened; null while it is not. */
  #openedAt: number | null = null;
  /** Failures since the stream was healthy, and changes to polling. */
  #cuts = 0;
  #fallbacks = 0;
  /** ms */
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#pollMs = options.pollSeconds * 1000;
  }

  /** ms of silence after which a request checks whether the server still answers. */
  get silenceMs(): number {
    return Math.min(this.#pollMs, longestSilenceMs);
  }

  /** Whether the server is polled for now. */
  get isPolled(): boolean {
    return performance.now() < this.#retryAt;
  }

  /** Whether the stream has failed so often that the server is to be polled, if it answers otherwise. */
  get isBlocked(): boolean {
    return this.#cuts >= cutsUntilPolling;
  }

  tries(): void {
    this.#openedAt = null;
    this.#cuts += 1;
  }

  opened(): void {
    this.#openedAt = performance.now();
  }

  /** A stream is healthy once something arrives nearly a poll interval after it was opened. */
  heard(): void {
    const age = performance.now() - (this.#openedAt ?? performance.now());
    if (age < this.silenceMs * 0.9) return;
    if (this.#fallbacks > 0) this.#options.log?.info({}, "The service's events arrive again");
    this.#cuts = 0;
    this.#fallbacks = 0;
  }

  /** After a stream that does not even start, a poll shows at once whether the server is offline. */
  failed(): void {
    if (this.#openedAt === null) this.#cuts = cutsUntilPolling;
  }

  /** The server answers, but its events do not arrive. */
  fallBack(why: string): void {
    const { pollSeconds, log } = this.#options;
    this.#fallbacks += 1;
    const limits = { firstMs: retry.first * this.#pollMs, longestMs: retry.longest * this.#pollMs };
    this.#retryAt = performance.now() + jittered(backOffMs(this.#fallbacks, limits));
    if (this.#fallbacks > 1) return;
    const text = `${why}; a proxy may block GET /api/events. The service is polled every ${pollSeconds} s instead`;
    log?.warn({ code: "service.refused" }, text);
  }
}
