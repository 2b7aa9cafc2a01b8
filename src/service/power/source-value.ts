import { isDeepStrictEqual } from "node:util";
import type { SourceSettings } from "../../config/loops.ts";
import { type Messages, needsMessages, type ReceivedMessage } from "../../contract/messages.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { numberIn, type Quantity } from "../../link/quantity.ts";
import { coded } from "../../messages/coded.ts";
import type { Notices } from "../notifications/notices.ts";
import { readSource, sourceLimits } from "./source.ts";

/** ms after which a value is too old. */
const maxAgeMs = 900_000;
/** ms by which a poll may come early, so that it is not delayed by a whole turn. */
const earlyMs = 2_500;

export interface SourceContext {
  /** Epoch ms. */
  readonly now: () => number;
  /** The broker for topics. */
  readonly messages: Messages;
  /**
   * Whether a retained message counts as a new value. Its age is unknown: a room changes slowly and its sensor may
   * publish rarely, a meter publishes every few seconds.
   */
  readonly takesRetained: boolean;
  readonly closing: AbortSignal;
}

/** The last value of a source, and its age. */
export class SourceValue {
  readonly #settings: SourceSettings;
  readonly #quantity: Quantity;
  readonly #context: SourceContext;
  readonly #since: number;
  #polledAt = Number.NEGATIVE_INFINITY;
  #last: { readonly value: number; readonly at: number } | null = null;
  #problem: string | null = null;
  /** Whether it was reported as too old since the start. */
  #isReportedOld = false;

  constructor(settings: SourceSettings, quantity: Quantity, context: SourceContext) {
    this.#settings = settings;
    this.#quantity = quantity;
    this.#context = context;
    this.#since = context.now();
    if (settings.topic !== undefined) this.#subscribe(settings.topic);
  }

  /** Takes over the value of the same source when the settings of its loop change. */
  resume(before: SourceValue): void {
    if (!isDeepStrictEqual(before.#settings, this.#settings)) return;
    this.#last = before.#last;
    this.#polledAt = before.#polledAt;
    this.#problem = before.#problem;
    this.#isReportedOld = before.#isReportedOld;
  }

  /** Null before the first; `at` in epoch ms. */
  get last(): { readonly value: number; readonly at: number } | null {
    return this.#last;
  }

  /** Whether the last value, or the start if there is none, is too long ago. */
  get isOld(): boolean {
    return this.#context.now() - (this.#last?.at ?? this.#since) > maxAgeMs;
  }

  /** Whether its values come over the API. */
  get comesFromApi(): boolean {
    return this.#settings.api === true;
  }

  /** Notifies once when the value has become too old, until a new one arrives. */
  notifyAge(notices: Notices, loop: string, kind: "heating" | "follow"): void {
    const key = `source:${loop}`;
    if (!this.isOld) notices.close(key, coded(`notices.${kind}.over`));
    else if (!this.#isReportedOld) {
      const problem = this.#brokerProblem() ?? this.#problem;
      const message =
        problem === null ? coded(`notices.${kind}.old`) : coded(`notices.${kind}.oldWhy`, { why: problem });
      notices.raise({ key, minerId: null, title: loop, source: "System", message, severity: "warning" });
    }
    this.#isReportedOld = this.isOld;
  }

  take(value: number, at = this.#context.now()): void {
    this.#last = { value, at };
    this.#problem = null;
  }

  /** Reads the address when due; never rejects. */
  async poll(): Promise<void> {
    const { url, every } = this.#settings;
    const { now, closing } = this.#context;
    if (url === undefined || now() < this.#polledAt + every * 1000 - earlyMs) return;
    this.#polledAt = now();
    try {
      this.take(await readSource({ ...this.#settings, url }, this.#quantity, closing));
    } catch (error) {
      this.#problem = error instanceof RigbridgeError ? error.message : "it could not be read";
    }
  }

  #brokerProblem(): string | null {
    const { topic } = this.#settings;
    return topic === undefined || this.#context.messages.isConfigured ? null : `${topic} ${needsMessages}`;
  }

  #subscribe(topic: string): void {
    const { messages, closing } = this.#context;
    closing.addEventListener(
      "abort",
      messages.listen(topic, (message) => this.#receive(topic, message)),
    );
  }

  #receive(topic: string, { payload, at, retained }: ReceivedMessage): void {
    if (retained && !this.#context.takesRetained) return;
    const isLong = payload.length > sourceLimits.bytes;
    const found = isLong ? "is too long" : numberIn(payload, this.#settings.path, this.#quantity);
    if (typeof found === "number") this.take(found, at);
    else this.#problem = `${topic} ${found}`;
  }
}
