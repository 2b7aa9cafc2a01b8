import { matches } from "../contract/topic.ts";
import type { Handle, SubscribeOptions } from "./mqtt-link.ts";

export interface Subscriber {
  readonly handle: Handle;
  readonly options: SubscribeOptions;
}

/** The subscribers of a connection; they are kept when it is lost. */
export class Subscriptions {
  readonly #byFilter = new Map<string, readonly Subscriber[]>();
  /** Filters of command topics. */
  readonly #fresh = new Set<string>();

  add(filters: readonly string[], subscriber: Subscriber): void {
    for (const filter of filters) {
      this.#byFilter.set(filter, [...(this.#byFilter.get(filter) ?? []), subscriber]);
      if (subscriber.options.fresh) this.#fresh.add(filter);
    }
  }

  /** Without `handle`, removes all subscribers of these filters. Returns the filters without subscribers. */
  remove(filters: readonly string[], handle?: Handle): string[] {
    for (const filter of filters) {
      const others = (this.#byFilter.get(filter) ?? []).filter(
        (each) => handle !== undefined && each.handle !== handle,
      );
      if (others.length > 0) this.#byFilter.set(filter, others);
      else {
        this.#byFilter.delete(filter);
        this.#fresh.delete(filter);
      }
    }
    return filters.filter((filter) => !this.#byFilter.has(filter));
  }

  [Symbol.iterator](): Iterator<[filter: string, subscribers: readonly Subscriber[]]> {
    return this.#byFilter[Symbol.iterator]();
  }

  /** The subscribers of every filter that matches this topic. */
  *at(topic: string): Iterable<Subscriber> {
    for (const [filter, subscribers] of this.#byFilter) if (matches(filter, topic)) yield* subscribers;
  }

  /** Whether a message at this topic, or one let through by this filter, would be read as a command. */
  takesCommandsAt(topic: string): boolean {
    for (const filter of this.#fresh) if (matches(filter, topic)) return true;
    return false;
  }
}
