import { RigbridgeError } from "../../contract/problems.ts";
import type { Caller, EncodedEvent } from "../../contract/service.ts";
import type { Access } from "../users/access.ts";
import { type EventRing, shownTo } from "./event-ring.ts";

export interface ListenerLimits {
  /** Events that come while a listener falls behind, before it is cut. */
  readonly lag: number;
  /** Events, and bytes of their JSON, that are handed out at once. */
  readonly batch: number;
  readonly batchBytes: number;
}

export interface ListenerContext {
  readonly ring: EventRing;
  readonly limits: ListenerLimits;
  /** Throws `not.found` for a user who is no longer there. */
  accessOf(caller: Caller): Access;
  /** The id from which on this has been what somebody sees. */
  since(access: Access): number;
}

const nothing = Buffer.from("{}");

/** One who listens: a place in the ring. What lies behind that place is not copied for anybody. */
export class Listener {
  readonly caller: Caller;
  readonly #context: ListenerContext;
  #access: Access;
  #position: number;
  /** The fewest events that it was behind; a listener that resumes may be far behind, and has to come closer. */
  #closest: number;
  /** The one that was not taken yet, at its moment of the ring. */
  #summary: EncodedEvent | null = null;
  #hadSummary = false;
  #failure: unknown;
  #wake: (() => void) | null = null;

  /** `after`: the event behind which it goes on; undefined = the newest. Throws `not.found` for an unknown user. */
  constructor(context: ListenerContext, caller: Caller, after: number | undefined) {
    this.#context = context;
    this.caller = caller;
    this.#access = context.accessOf(caller);
    context.since(this.#access);
    this.#position = after ?? context.ring.last;
    this.#closest = Math.max(0, this.#behind);
  }

  /** What it saw through when it last looked. */
  get access(): Access {
    return this.#access;
  }

  get hadSummary(): boolean {
    return this.#hadSummary;
  }

  /** The next events, none when there are no more for now. Throws why it was cut, or `not.found`. */
  take(): EncodedEvent[] {
    if (this.#failure !== undefined) throw this.#failure;
    const { ring, limits, accessOf, since } = this.#context;
    this.#access = accessOf(this.caller);
    const events: EncodedEvent[] = [];
    const known = Math.max(ring.floor, since(this.#access));
    if (this.#position < known || this.#position > ring.last) {
      this.#position = ring.last;
      events.push({ id: ring.last, type: "reset", json: nothing });
      // Its moment was passed over.
      if (this.#summary !== null) this.#summary = { ...this.#summary, id: ring.mark() };
    }
    for (let bytes = 0; this.#behind > 0 && events.length < limits.batch && bytes < limits.batchBytes; ) {
      this.#position += 1;
      const summary = this.#summary?.id === this.#position ? this.#summary : undefined;
      if (summary !== undefined) this.#summary = null;
      const event = summary ?? shownTo(this.#access, ring.at(this.#position));
      if (event === undefined) continue;
      events.push(event);
      bytes += event.json.length;
    }
    this.#closest = Math.min(this.#closest, this.#behind);
    return events;
  }

  /** There may be something to take. A listener that takes nothing while too much comes is cut. */
  stir(): void {
    const { ring, limits } = this.#context;
    const waiting = this.#summary === null ? 0 : 1;
    const missed = ring.last - Math.max(this.#position, ring.floor) - waiting;
    if (this.#wake === null && missed > this.#closest + limits.lag) this.fail(lagged());
    this.wake();
  }

  /** The latest replaces one that was not taken yet. `id`: a moment of the ring, later than all that was taken. */
  summarise(id: number, json: Uint8Array): void {
    this.#summary = { id, type: "summary", json };
    this.#hadSummary = true;
    this.wake();
  }

  /** The next `take` throws this. */
  fail(failure: unknown): void {
    this.#failure ??= failure;
    this.wake();
  }

  /** Until there may be something to take. */
  async rest(): Promise<void> {
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
  new RigbridgeError("service.not-ready", "Events came faster than they were taken; resume behind the last one");
