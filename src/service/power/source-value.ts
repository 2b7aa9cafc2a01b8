import type { SourceSettings } from "../../config/loops.ts";
import { type Messages, needsMessages, type ReceivedMessage } from "../../contract/messages.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { numberIn, type Quantity } from "../../link/quantity.ts";
import { readSource, sourceLimits } from "./source.ts";

/** ms after which a value says nothing any more. */
const maxAgeMs = 900_000;
/** ms by which a look may come early, so that it is not put off by a whole turn. */
const earlyMs = 2_500;

export interface SourceContext {
  /** Epoch ms. */
  readonly now: () => number;
  /** What topics are heard at; null where there is nothing. */
  readonly messages: Messages | null;
  /**
   * Whether a retained message counts as if it were said now. Nobody knows how old it is: a room changes slowly and
   * its sensor may speak seldom, a meter speaks every few seconds.
   */
  readonly takesRetained: boolean;
  readonly closing: AbortSignal;
}

/** The last value of a source, and how old it is. */
export class SourceValue {
  readonly #settings: SourceSettings;
  readonly #quantity: Quantity;
  readonly #context: SourceContext;
  readonly #since: number;
  #polledAt = Number.NEGATIVE_INFINITY;
  #last: { readonly value: number; readonly at: number } | null = null;
  #problem: string | null = null;

  constructor(settings: SourceSettings, quantity: Quantity, context: SourceContext) {
    this.#settings = settings;
    this.#quantity = quantity;
    this.#context = context;
    this.#since = context.now();
    if (settings.topic !== undefined) this.#subscribe(settings.topic);
  }

  /** Null before the first; `at` in epoch ms. */
  get last(): { readonly value: number; readonly at: number } | null {
    return this.#last;
  }

  /** Nothing came for so long, since the last value or the start, that nothing is known. */
  get isOld(): boolean {
    return this.#context.now() - (this.#last?.at ?? this.#since) > maxAgeMs;
  }

  /** Why there is no newer one; null where nothing was said. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether it is told over the API. */
  get comesFromApi(): boolean {
    return this.#settings.api === true;
  }

  take(value: number, at = this.#context.now()): void {
    this.#last = { value, at };
    this.#problem = null;
  }

  /** Asks the address when it is time to; never rejects. */
  async poll(): Promise<void> {
    const { url, every } = this.#settings;
    const { now, closing } = this.#context;
    if (url === undefined || now() < this.#polledAt + every * 1000 - earlyMs) return;
    this.#polledAt = now();
    try {
      this.take(await readSource({ ...this.#settings, url }, this.#quantity, closing));
    } catch (error) {
      this.#problem = error instanceof RigbridgeError ? error.message : "it could not be asked";
    }
  }

  #subscribe(topic: string): void {
    const { messages, closing } = this.#context;
    if (messages === null) this.#problem = `${topic} ${needsMessages}`;
    else
      closing.addEventListener(
        "abort",
        messages.listen(topic, (message) => this.#receive(topic, message)),
      );
  }

  #receive(topic: string, { payload, at, retained }: ReceivedMessage): void {
    if (retained && !this.#context.takesRetained) return;
    const isLong = payload.length > sourceLimits.bytes;
    const found = isLong ? "is too long to be looked at" : numberIn(payload, this.#settings.path, this.#quantity);
    if (typeof found === "number") this.take(found, at);
    else this.#problem = `${topic} ${found}`;
  }
}
