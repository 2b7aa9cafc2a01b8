import type { EventType, MinerEvent, ServiceEvent } from "../../contract/events.ts";
import type { Command, Miner, Notification, Summary } from "../../contract/resources.ts";
import type { Caller, EncodedEvent, Input } from "../../contract/service.ts";
import type { Access } from "../users/access.ts";
import { Listener, type ListenerContext, type ListenerLimits } from "./event-listener.ts";
import { EventRing, type Happening } from "./event-ring.ts";

export interface EventLimits extends ListenerLimits {
  /** Events kept to resume from. */
  readonly kept: number;
  /** ms between two rounds of handing out, so that many changes become one write for each listener. */
  readonly pace: number;
  /** ms between two summaries. */
  readonly summaryPace: number;
}

export const eventLimits: EventLimits = {
  kept: 10_000,
  lag: 1_000,
  batch: 256,
  batchBytes: 262_144,
  pace: 10,
  summaryPace: 1_000,
};

export interface EventsOptions {
  readonly accessBook: { of(caller: Caller): Access };
  /** Epoch ms. */
  readonly now: () => number;
  /** Whether a miner is there for these eyes now. */
  readonly sees: (minerId: number, access: Access) => boolean;
  readonly summaryFor: (caller: Caller) => Promise<Summary>;
  readonly limits?: EventLimits;
}

/** Ids of a run start from the clock, far from those of the run before; 15 digits. */
const idsPerMs = 100;

/**
 * What is told to who watches: the last 10,000 events, to resume from, and those who listen. Who resumes behind an
 * event that is not known any more, or whose view has changed since, gets `reset` instead of what was missed. A
 * listener that falls 1,000 events behind ends with `service.not-ready`.
 */
export class Events {
  readonly #options: EventsOptions;
  readonly #limits: EventLimits;
  readonly #ring: EventRing;
  readonly #context: ListenerContext;
  readonly #listeners = new Set<Listener>();
  /** From which id on somebody has seen through these eyes; every change of what a user sees makes new ones. */
  readonly #since = new WeakMap<Access, number>();
  readonly #figures = new WeakMap<Access, string>();
  #handOut: NodeJS.Timeout | undefined;
  #handedOutAt = Number.NEGATIVE_INFINITY;
  #summaries: NodeJS.Timeout | undefined;
  #summarisedAt = Number.NEGATIVE_INFINITY;
  /** Something may have changed since the last summary. */
  #stale = false;
  #closed = false;

  constructor(options: EventsOptions) {
    this.#options = options;
    this.#limits = options.limits ?? eventLimits;
    this.#ring = new EventRing(this.#limits.kept, Math.floor(options.now() * idsPerMs));
    this.#context = {
      ring: this.#ring,
      limits: this.#limits,
      accessOf: (caller) => options.accessBook.of(caller),
      since: (access) => this.#sinceOf(access),
    };
  }

  /** How many listen now. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** A miner's JSON is another. `before` is the group it stood in until now, null when it is new. */
  miner({ id, groupId, before, json }: { id: number; groupId: number; before: number | null; json: Uint8Array }): void {
    const moved = before !== null && before !== groupId;
    this.#add({ type: "miner", json, seenBy: inGroup(groupId) }, moved ? gone(id, uidIn(json), before) : null);
    this.#summariseSoon();
  }

  minerRemoved({ id, uid, groupId }: { id: number; uid: string | null; groupId: number }): void {
    this.#add(gone(id, uid, groupId));
    this.#summariseSoon();
  }

  happened(event: MinerEvent): void {
    this.#add({ type: "miner-event", json: bytesOf(event), seenBy: this.#seeing(event.id) });
  }

  /** Without a miner it is for those who see all. */
  notification(notification: Notification, minerId: number | null): void {
    this.#add({ type: "notification", json: bytesOf(notification), seenBy: this.#seeing(minerId) });
  }

  command(command: Command): void {
    this.#add({ type: "command", json: bytesOf(command), seenBy: this.#seeing(command.minerId) });
  }

  /** More than can be told one by one has changed: everybody reads the lists anew. */
  reset(): void {
    this.#ring.clear();
    this.look();
    this.#summariseSoon();
  }

  /** What somebody sees may have changed. */
  look(): void {
    if (this.#listeners.size === 0 || this.#handOut !== undefined) return;
    const wait = Math.max(0, this.#handedOutAt + this.#limits.pace - performance.now());
    this.#handOut = setTimeout(() => {
      this.#handOut = undefined;
      this.#handedOutAt = performance.now();
      for (const listener of this.#listeners) listener.stir();
    }, wait);
  }

  /** Ends all streams. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#handOut);
    clearTimeout(this.#summaries);
    for (const listener of this.#listeners) listener.wake();
  }

  /** As many events at a time as there are. Throws `not.found` for an unknown user. */
  encoded({ after }: Input<"watchEvents">, caller: Caller, signal: AbortSignal): Batches {
    return this.#follow(new Listener(this.#context, caller, after), signal);
  }

  /** Throws `not.found` for an unknown user. */
  watch(input: Input<"watchEvents">, caller: Caller, signal: AbortSignal): AsyncIterable<ServiceEvent> {
    return decoded(this.encoded(input, caller, signal), signal);
  }

  async *#follow(listener: Listener, signal: AbortSignal): Batches {
    const wake = () => listener.wake();
    signal.addEventListener("abort", wake, { once: true });
    this.#listeners.add(listener);
    this.#summariseSoon();
    try {
      while (!signal.aborted && !this.#closed) {
        const events = listener.take();
        if (events.length > 0) yield events;
        else await listener.rest();
      }
    } finally {
      this.#listeners.delete(listener);
      signal.removeEventListener("abort", wake);
    }
  }

  #add(shown: Shown, otherwise: Shown | null = null): void {
    this.#ring.push((id) => happening(id, shown, otherwise));
    this.look();
  }

  /** Who sees what is said of a miner: those who see the miner when they are told. */
  #seeing(minerId: number | null): Shown["seenBy"] {
    const { sees } = this.#options;
    return (access) => access.all || (minerId !== null && sees(minerId, access));
  }

  #sinceOf(access: Access): number {
    const known = this.#since.get(access) ?? this.#ring.mark();
    this.#since.set(access, known);
    return known;
  }

  /** Some changes are let come together first. */
  #summariseSoon(): void {
    this.#stale = true;
    if (this.#listeners.size === 0 || this.#summaries !== undefined || this.#closed) return;
    const { summaryPace } = this.#limits;
    const wait = Math.max(summaryPace / 5, this.#summarisedAt + summaryPace - performance.now());
    this.#summaries = setTimeout(async () => {
      this.#summarisedAt = performance.now();
      this.#stale = false;
      await Promise.all([...Map.groupBy(this.#listeners, ({ access }) => access)].map(this.#summarise));
      this.#summaries = undefined;
      if (this.#stale) this.#summariseSoon();
    }, wait);
  }

  /** To all who see the same, if it is another than they have, and to who has none yet. */
  readonly #summarise = async ([access, listeners]: [Access, Listener[]]): Promise<void> => {
    const [first] = listeners;
    if (first === undefined) return;
    try {
      const summary = await this.#options.summaryFor(first.caller);
      const figures = JSON.stringify({ ...summary, metaData: null });
      const isNew = this.#figures.get(access) !== figures;
      this.#figures.set(access, figures);
      const write = listeners.filter(({ hadSummary }) => isNew || !hadSummary);
      if (write.length === 0) return;
      const [id, json] = [this.#ring.mark(), bytesOf(summary)];
      for (const listener of write) listener.summarise(id, json);
    } catch (error) {
      for (const listener of listeners) listener.fail(error);
    }
  };
}

type Batches = AsyncGenerator<readonly EncodedEvent[], void, undefined>;

interface Shown {
  readonly type: EventType;
  readonly json: Uint8Array;
  readonly seenBy: (access: Access) => boolean;
}

const happening = (id: number, { type, json, seenBy }: Shown, otherwise: Shown | null): Happening => ({
  event: { id, type, json },
  seenBy,
  otherwise: otherwise === null ? null : happening(id, otherwise, null),
});

const inGroup = (groupId: number) => (access: Access) => access.seesGroup(groupId);

/** For those who see the group that a miner has left. */
const gone = (id: number, uid: string | null, groupId: number): Shown => ({
  type: "miner-removed",
  json: bytesOf({ id, uid }),
  seenBy: inGroup(groupId),
});

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

const parsed = (json: Uint8Array) => JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString());

function uidIn(json: Uint8Array): string | null {
  const { uid }: Pick<Miner, "uid"> = parsed(json);
  return uid;
}

async function* decoded(batches: Batches, signal: AbortSignal): AsyncIterable<ServiceEvent> {
  for await (const batch of batches) {
    for (const { id, type, json } of batch) {
      if (signal.aborted) return;
      yield { id, type, data: parsed(json) };
    }
  }
}
