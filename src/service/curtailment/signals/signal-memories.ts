import { z } from "zod";
import { type KeptValues, signalMemories } from "../../../store/index.ts";
import { PeakMemory } from "./peak-signal.ts";

/** What outlives the process of a signal. */
const SignalMemory = z.object({
  acted: z.string().nullable().describe("the wish that was acted on last; null = none"),
  peak: PeakMemory,
});
export type SignalMemory = z.infer<typeof SignalMemory>;

const none: SignalMemory = { acted: null, peak: {} };

/** The memories of all signals, by key, in one row of the store. */
export class SignalMemories {
  readonly #kept: KeptValues;
  readonly #now: () => number;
  readonly #memories: Map<string, SignalMemory>;

  constructor(kept: KeptValues, now: () => number) {
    this.#kept = kept;
    this.#now = now;
    const stored = z.record(z.string(), SignalMemory).safeParse(kept.get(signalMemories)?.value);
    this.#memories = new Map(Object.entries(stored.success ? stored.data : {}));
  }

  of(key: string): SignalMemory {
    return this.#memories.get(key) ?? none;
  }

  /** Throws store.full; it is in effect even then. */
  async change(key: string, changes: Partial<SignalMemory>): Promise<void> {
    this.#memories.set(key, { ...this.of(key), ...changes });
    await this.#kept.save(signalMemories, Object.fromEntries(this.#memories), this.#now());
  }

  /** Forgets all other signals, with the next change. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#memories.keys()) if (!keys.has(key)) this.#memories.delete(key);
  }
}
