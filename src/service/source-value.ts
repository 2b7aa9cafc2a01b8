import type { SourceSettings } from "../config/loops.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { type Quantity, readSource } from "./source.ts";

/** ms after which a value says nothing any more. */
const oldAfter = 900_000;
/** ms by which a look may come early, so that it is not put off by a whole turn. */
const early = 2_500;

/** The last value of a source, and how old it is. */
export class SourceValue {
  readonly #settings: SourceSettings;
  readonly #quantity: Quantity;
  readonly #now: () => number;
  readonly #since: number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #last: { readonly value: number; readonly at: number } | null = null;
  #problem: string | null = null;

  constructor(settings: SourceSettings, quantity: Quantity, now: () => number) {
    this.#settings = settings;
    this.#quantity = quantity;
    this.#now = now;
    this.#since = now();
  }

  /** Null before the first; `at` in epoch ms. */
  get last(): { readonly value: number; readonly at: number } | null {
    return this.#last;
  }

  /** Nothing came for so long, since the last value or the start, that nothing is known. */
  get isOld(): boolean {
    return this.#now() - (this.#last?.at ?? this.#since) > oldAfter;
  }

  /** Why there is no newer one; null where nothing was said. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether it is told over the API. */
  get isTold(): boolean {
    return this.#settings.api === true;
  }

  take(value: number): void {
    this.#last = { value, at: this.#now() };
    this.#problem = null;
  }

  /** Asks the address when it is time to; never rejects. */
  async look(closing: AbortSignal): Promise<void> {
    const { url, every } = this.#settings;
    if (url === undefined || this.#now() < this.#lookedAt + every * 1000 - early) return;
    this.#lookedAt = this.#now();
    try {
      this.take(await readSource({ ...this.#settings, url }, this.#quantity, closing));
    } catch (error) {
      this.#problem = error instanceof RigbridgeError ? error.message : "it could not be asked";
    }
  }
}
