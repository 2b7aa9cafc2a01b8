import type { OperationName } from "../contract/operations.ts";
import type { StateLink } from "./handover.ts";
import { expirySeconds, heartbeatMs } from "./topic-state.ts";

export interface PolledTopicsOptions {
  readonly connection: StateLink;
  /** QoS of state topics. */
  readonly qos: 0 | 1;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Retained topics of things that no event reports: they are read at an interval, and what has changed is published. */
export abstract class PolledTopics {
  readonly #options: PolledTopicsOptions;
  readonly #operation: OperationName;
  /** By topic; `at`: epoch ms. */
  readonly #published = new Map<string, { readonly payload: string; readonly at: number }>();
  /** Null before the first reply. */
  #keys: ReadonlySet<string> | null = null;
  /** Null before the operations of the service are known: an empty list would remove what an earlier run published. */
  #isOffered: boolean | null = null;
  #reading: Promise<void> | null = null;

  /** `operation`: what reads them. */
  constructor(options: PolledTopicsOptions, operation: OperationName) {
    this.#options = options;
    this.#operation = operation;
  }

  /** The operations of the service, which another product or an older one may lack. */
  follow(features: ReadonlySet<OperationName>): void {
    this.#isOffered = features.has(this.#operation);
    void this.read();
  }

  /** Reads and publishes what has changed, or everything with `always`; one read at a time. Never rejects: the next call tries again. */
  read(always = false): Promise<void> {
    if (always) this.forgetPublished();
    if (this.#isOffered === null) return Promise.resolve();
    this.#reading ??= this.readAndPublish(this.#isOffered)
      .catch(() => undefined)
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  /** Whether the thing with this key exists; null while that is not known. */
  has(key: string): boolean | null {
    return this.#keys === null ? null : this.#keys.has(key);
  }

  protected abstract readAndPublish(isOffered: boolean): Promise<void>;

  /** Everything counts as changed. */
  protected forgetPublished(): void {
    this.#published.clear();
  }

  /** Takes the keys of all things, and returns those that no longer exist. */
  protected removedFrom(keys: readonly string[]): readonly string[] {
    const before = [...(this.#keys ?? [])];
    const now = new Set(keys);
    this.#keys = now;
    return before.filter((key) => !now.has(key));
  }

  /** Publishes a state if it has changed, or before the broker drops it. */
  protected publishState(topic: string, payload: string): void {
    const { connection, qos, now } = this.#options;
    const before = this.#published.get(topic);
    if (before?.payload === payload && now() - before.at < heartbeatMs * (5 / 6)) return;
    this.#published.set(topic, { payload, at: now() });
    connection.publish({ topic, payload, qos, retain: true, expiry: expirySeconds });
  }

  /** Publishes an availability if it has changed: the broker keeps it. */
  protected publishAvailability(topic: string, payload: "online" | "offline"): void {
    if (this.#published.get(topic)?.payload === payload) return;
    this.#published.set(topic, { payload, at: this.#options.now() });
    this.#options.connection.publish({ topic, payload, qos: 1, retain: true });
  }

  /** Removes what the broker has retained. */
  protected empty(topic: string): void {
    this.#published.delete(topic);
    this.#options.connection.publish({ topic, payload: "", qos: 1, retain: true });
  }
}
