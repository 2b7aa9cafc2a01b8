import type { EventType } from "../../contract/events.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Summary } from "../../contract/resources.ts";
import type { Caller } from "../../contract/service.ts";
import type { RowWatch, WatchedRows } from "../miners/miner-rows.ts";
import type { Access } from "../users/access.ts";
import { type EventRing, type MinerView, SharedEvent } from "./event-ring.ts";

export interface SubscriberLimits {
  /** Events kept for resuming. */
  readonly kept: number;
  /** Events by which a subscriber may fall behind before it is disconnected. */
  readonly lag: number;
  /** Events, and bytes of their JSON, in one batch. */
  readonly batch: number;
  readonly batchBytes: number;
}

/** The data of the service as each caller may see it. */
export interface EventView extends MinerView {
  /** Throws `not.found` for a user who no longer exists. */
  accessOf(caller: Caller): Access;
  summaryFor(caller: Caller): Promise<Summary>;
}

export interface SubscriberContext {
  readonly ring: EventRing;
  readonly limits: SubscriberLimits;
  readonly view: EventView;
  /** The first id since which this access is unchanged. */
  since(access: Access): number;
}

/** The request of a subscriber. */
export interface Subscription {
  readonly caller: Caller;
  /** The last event that the caller has; undefined: the newest. */
  readonly after: number | undefined;
  /** Whether the caller has every row as of `after`, from a list and not only from the event. */
  readonly hasRows: boolean;
  /** The requested types of events, besides `reset`; undefined: all. */
  readonly types: readonly EventType[] | undefined;
  /** Rows instead of whole miners. */
  readonly rows: WatchedRows | null;
}

/** One stream of events: a position in the ring. The events after it are not copied. */
export class Subscriber {
  readonly caller: Caller;
  readonly #context: SubscriberContext;
  #access: Access;
  #position: number;
  /** The smallest lag so far; a resuming subscriber may be far behind, and has to catch up. */
  #closest: number;
  /** The latest summary until it is taken, with its position in the ring. */
  #summary: SharedEvent | null = null;
  #hadSummary = false;
  readonly #types: ReadonlySet<EventType> | null;
  readonly #rows: Subscription["rows"];
  /**
   * The event up to which the caller has every row. A row may be sent after a later event, but no later than the ring
   * reaches.
   */
  #rowsUntil: number;
  #failure: unknown;
  #wake: (() => void) | null = null;

  /** Throws `not.found` for an unknown user. */
  constructor(context: SubscriberContext, { caller, after, hasRows, types, rows }: Subscription) {
    this.#context = context;
    this.caller = caller;
    this.#types = types === undefined ? null : new Set<EventType>([...types, "reset"]);
    this.#rows = rows;
    this.#access = context.view.accessOf(caller);
    context.since(this.#access);
    this.#position = after ?? context.ring.last;
    this.#rowsUntil = after === undefined || hasRows ? this.#position : this.#position - context.limits.kept;
    this.#closest = Math.max(0, this.#behind);
  }

  /** Its access when it last took events. */
  get access(): Access {
    return this.#access;
  }

  get wantsSummary(): boolean {
    return this.#wants("summary");
  }

  #wants(type: EventType): boolean {
    return this.#types === null || this.#types.has(type);
  }

  get hadSummary(): boolean {
    return this.#hadSummary;
  }

  summaryFor(): Promise<Summary> {
    return this.#context.view.summaryFor(this.caller);
  }

  /**
   * The next events; empty if there are none for now. `make` builds the form that the subscriber wants, and returns the
   * bytes that it adds to the batch. Throws the reason why the stream ends, or `not.found`.
   */
  take(make: (event: SharedEvent) => number): SharedEvent[] {
    if (this.#failure !== undefined) throw this.#failure;
    const { ring, limits, view, since } = this.#context;
    this.#access = view.accessOf(this.caller);
    const events: SharedEvent[] = [];
    const oldest = Math.max(ring.floor, since(this.#access));
    if (this.#position < oldest || this.#position > ring.last) {
      this.#position = ring.last;
      this.#rowsUntil = ring.last;
      events.push(SharedEvent.of({ id: ring.last, type: "reset", data: {} }));
      // The position has passed the summary's.
      if (this.#summary !== null) this.#summary = this.#summary.withId(ring.mark());
    }
    const rows: RowWatch | null = this.#rows && { ...this.#rows, changedAfter: this.#rowsUntil };
    for (let bytes = 0; this.#behind > 0 && events.length < limits.batch && bytes < limits.batchBytes; ) {
      this.#position += 1;
      const summary = this.#summary?.id === this.#position ? this.#summary : undefined;
      if (summary !== undefined) this.#summary = null;
      const event = summary ?? ring.at(this.#position)?.eventFor(this.#access, view, rows);
      if (event === undefined || !this.#wants(event.type)) continue;
      events.push(event);
      bytes += make(event);
    }
    this.#closest = Math.min(this.#closest, this.#behind);
    if (this.#behind <= 0) this.#rowsUntil = this.#position;
    return events;
  }

  /** New events may have come. Ends the stream of a subscriber that falls too far behind. */
  notice(): void {
    const { ring, limits } = this.#context;
    const waiting = this.#summary === null ? 0 : 1;
    const missed = ring.last - Math.max(this.#position, ring.floor) - waiting;
    if (this.#wake === null && missed > this.#closest + limits.lag) this.fail(lagged());
    this.wake();
  }

  /** Replaces a summary that was not taken yet. Its id is after everything that was taken. */
  summarise(summary: SharedEvent): void {
    this.#summary = summary;
    this.#hadSummary = true;
    this.wake();
  }

  /** The next `take` throws this. */
  fail(failure: unknown): void {
    this.#failure ??= failure;
    this.wake();
  }

  /** Resolves when there may be events to take. */
  async idle(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = null;
  }

  wake(): void {
    this.#wake?.();
  }

  get #behind(): number {
    return this.#context.ring.last - this.#position;
  }
}

const lagged = (): RigbridgeError =>
  new RigbridgeError(
    "service.not-ready",
    "This stream of events fell too far behind and was closed; resume after the last event received",
  );
