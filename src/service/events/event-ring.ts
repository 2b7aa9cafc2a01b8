import type { EventType, ServiceEvent } from "../../contract/events.ts";
import { jsonWithoutActions } from "../../contract/may-act.ts";
import type { EncodedEvent } from "../../contract/service.ts";
import { type Access, mayAct } from "../users/access.ts";

/** An event, and its JSON once a subscriber has wanted bytes. Never changes, since all subscribers share it. */
export class SharedEvent implements EncodedEvent {
  readonly id: number;
  readonly type: EventType;
  #event: ServiceEvent | null;
  #json: Uint8Array | null;
  #withoutActions: SharedEvent | null = null;

  /** Takes the event, the JSON of its data, or both. */
  constructor({ id, type }: Pick<ServiceEvent, "id" | "type">, event: ServiceEvent | null, json: Uint8Array | null) {
    this.id = id;
    this.type = type;
    this.#event = event;
    this.#json = json;
  }

  static of(event: ServiceEvent, json: Uint8Array | null = null): SharedEvent {
    return new SharedEvent(event, event, json);
  }

  get event(): ServiceEvent {
    return this.#event ?? { id: this.id, type: this.type, data: parsed(this.json) };
  }

  get json(): Uint8Array {
    this.#json ??= Buffer.from(JSON.stringify(this.#event?.data));
    return this.#json;
  }

  /** The event as a subscriber with this access sees it. */
  for(access: Access): SharedEvent {
    if (this.type !== "miner" || mayAct(access)) return this;
    this.#withoutActions ??= new SharedEvent(this, null, jsonWithoutActions(this.json));
    return this.#withoutActions;
  }

  withId(id: number): SharedEvent {
    return new SharedEvent({ id, type: this.type }, this.#event && { ...this.#event, id }, this.#json);
  }

  /** Keeps only one of the two forms in memory; the other can be made again. */
  compact(): void {
    if (this.#json !== null) this.#event = null;
  }
}

const parsed = (json: Uint8Array) => JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString());

/** Whether a miner is visible with this access now. */
export type SeesMiner = (minerId: number, access: Access) => boolean;

/** An event in the ring, and who may see it. */
export interface RingEntry {
  readonly shared: SharedEvent;
  readonly isVisible: (access: Access, sees: SeesMiner) => boolean;
  /** What everybody else sees instead: a miner that has left their view. */
  readonly otherwise: RingEntry | null;
}

/** The form of an event for this access; undefined if there is none. */
export function visibleEvent(entry: RingEntry | undefined, access: Access, sees: SeesMiner): SharedEvent | undefined {
  if (entry === undefined) return undefined;
  if (entry.isVisible(access, sees)) return entry.shared.for(access);
  return entry.otherwise === null ? undefined : visibleEvent(entry.otherwise, access, sees);
}

/** Events after which one is compacted: by then nearly all subscribers have taken it. */
const compactAfter = 256;

/** The last events under ids without gaps; an id may also stand for a moment without an event. */
export class EventRing {
  readonly #slots: (RingEntry | undefined)[];
  #last: number;
  #floor: number;

  /** `start`: the id before the first. */
  constructor(size: number, start: number) {
    this.#slots = new Array<RingEntry | undefined>(size).fill(undefined);
    this.#last = start;
    this.#floor = start;
  }

  /** The newest id. */
  get last(): number {
    return this.#last;
  }

  /** The ring holds every event after this id. */
  get floor(): number {
    return Math.max(this.#floor, this.#last - this.#slots.length);
  }

  /** Undefined for a moment without an event. */
  at(id: number): RingEntry | undefined {
    return id > this.floor && id <= this.#last ? this.#slots[id % this.#slots.length] : undefined;
  }

  push(entryFor: (id: number) => RingEntry): void {
    const id = this.mark();
    this.#slots[id % this.#slots.length] = entryFor(id);
    this.at(id - compactAfter)?.shared.compact();
  }

  /** An id for this moment. */
  mark(): number {
    this.#last += 1;
    this.#slots[this.#last % this.#slots.length] = undefined;
    return this.#last;
  }

  /** Drops all events. */
  clear(): void {
    this.#slots.fill(undefined);
    this.#floor = this.mark();
  }
}
