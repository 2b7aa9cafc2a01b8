import type { EventType, RowEvent, ServiceEvent } from "../../contract/events.ts";
import { jsonWithoutActions } from "../../contract/may-act.ts";
import type { Miner } from "../../contract/resources.ts";
import type { MinerRow } from "../../contract/rows.ts";
import type { EncodedEvent } from "../../contract/service.ts";
import type { RowWatch } from "../miners/miner-rows.ts";
import { type Access, mayAct } from "../users/access.ts";

/** A miner since its last read: its object and its JSON, each built on request. */
export interface CurrentMiner {
  readonly miner: Miner;
  readonly json: Uint8Array;
}

/** A miner as a row, with some columns. */
export interface CurrentRow {
  readonly row: MinerRow;
  readonly json: Uint8Array;
}

/** Events with miners or with rows. */
export type AnyEvent = ServiceEvent | RowEvent;

/** Builds the two forms of an event. */
interface Forms {
  readonly event: () => AnyEvent;
  readonly json: () => Uint8Array;
}

/**
 * An event as object and as JSON, each built when a subscriber wants it. Never changes, since all subscribers share it.
 */
export class SharedEvent implements EncodedEvent {
  readonly id: number;
  readonly type: EventType;
  readonly #make: Forms;
  #event: AnyEvent | null = null;
  #json: Uint8Array | null = null;
  #withoutActions: SharedEvent | null = null;

  constructor({ id, type }: Pick<AnyEvent, "id" | "type">, make: Forms) {
    this.id = id;
    this.type = type;
    this.#make = make;
  }

  static of(event: AnyEvent): SharedEvent {
    return new SharedEvent(event, { event: () => event, json: () => Buffer.from(JSON.stringify(event.data)) });
  }

  static ofMiner(id: number, shown: CurrentMiner): SharedEvent {
    const event = (): ServiceEvent => ({ id, type: "miner", data: shown.miner });
    return new SharedEvent({ id, type: "miner" }, { event, json: () => shown.json });
  }

  static ofRow(id: number, shown: CurrentRow): SharedEvent {
    const event = (): RowEvent => ({ id, type: "miner", data: shown.row });
    return new SharedEvent({ id, type: "miner" }, { event, json: () => shown.json });
  }

  get event(): AnyEvent {
    this.#event ??= this.#make.event();
    return this.#event;
  }

  get json(): Uint8Array {
    this.#json ??= this.#make.json();
    return this.#json;
  }

  /** The event for a subscriber with this access. */
  for(access: Access): SharedEvent {
    if (this.type !== "miner" || mayAct(access)) return this;
    const { id, type } = this;
    const json = () => jsonWithoutActions(this.json);
    this.#withoutActions ??= new SharedEvent(this, { json, event: () => ({ id, type, data: parsed(json()) }) });
    return this.#withoutActions;
  }

  withId(id: number): SharedEvent {
    return SharedEvent.of({ ...this.event, id });
  }
}

const parsed = (json: Buffer) => JSON.parse(json.toString());

/** The subject of a notification, which decides who may see it. */
export interface NotificationSubject {
  readonly minerId: number | null;
  readonly key: string | null;
}

export type ListedNotification = NotificationSubject & { readonly id: number };

/** The miners as they are now. */
export interface MinerView {
  /** Whether a miner is visible with this access. */
  readonly sees: SeesMiner;
  readonly seesNotification: (about: NotificationSubject, access: Access) => boolean;
  /** Undefined for a miner that was removed. */
  current(minerId: number): CurrentMiner | undefined;
  /**
   * The row of a miner, the same object until it changes. Undefined if it has not changed since that event, or if a
   * later event carries the change.
   */
  row(minerId: number, event: number, watch: RowWatch): CurrentRow | undefined;
}

type SeesMiner = (minerId: number, access: Access) => boolean;

/** The entry of the ring under an id. */
export interface RingEntry {
  /** The event for this access, with the row where rows are watched; undefined if there is none. */
  eventFor(access: Access, view: MinerView, rows: RowWatch | null): SharedEvent | undefined;
}

/** An event whose content never changes. */
export class FixedEntry implements RingEntry {
  readonly #event: SharedEvent;
  readonly #isVisible: (access: Access, view: MinerView) => boolean;

  constructor(event: ServiceEvent, isVisible: (access: Access, view: MinerView) => boolean) {
    this.#event = SharedEvent.of(event);
    this.#isVisible = isVisible;
  }

  eventFor(access: Access, view: MinerView): SharedEvent | undefined {
    return this.#isVisible(access, view) ? this.#event : undefined;
  }
}

type IdsEvent = Extract<ServiceEvent, { readonly type: "notification-acknowledged" | "notification-removed" }>;

/** Notifications that were acknowledged or cleared together: one event, with the ids that an access sees. */
export class NotificationsEntry implements RingEntry {
  readonly #id: number;
  readonly #type: IdsEvent["type"];
  readonly #all: readonly ListedNotification[];
  #whole: SharedEvent | null = null;

  constructor(id: number, type: IdsEvent["type"], all: readonly ListedNotification[]) {
    this.#id = id;
    this.#type = type;
    this.#all = all;
  }

  eventFor(access: Access, { seesNotification }: MinerView): SharedEvent | undefined {
    const visible = access.all ? this.#all : this.#all.filter((each) => seesNotification(each, access));
    if (visible.length === 0) return undefined;
    if (visible.length < this.#all.length) return this.#with(visible);
    this.#whole ??= this.#with(visible);
    return this.#whole;
  }

  #with(some: readonly ListedNotification[]): SharedEvent {
    return SharedEvent.of({ id: this.#id, type: this.#type, data: { ids: some.map(({ id }) => id) } });
  }
}

/** A changed miner. Its event has the miner's state at the time a subscriber takes it. */
export class MinerEntry implements RingEntry {
  /**
   * For subscribers who see only the group that the miner left with this change; it stays when the miner changes again.
   */
  readonly left: RingEntry | undefined;
  readonly #id: number;
  readonly #minerId: number;
  readonly #rows: RowEntry;
  #made: { readonly shown: CurrentMiner; readonly event: SharedEvent } | null = null;

  constructor(id: number, minerId: number, left: RingEntry | undefined) {
    this.#id = id;
    this.#minerId = minerId;
    this.#rows = new RowEntry(id, minerId);
    this.left = left;
  }

  eventFor(access: Access, view: MinerView, rows: RowWatch | null): SharedEvent | undefined {
    if (!view.sees(this.#minerId, access)) return this.left?.eventFor(access, view, rows);
    if (rows !== null) return this.#rows.eventFor(access, view, rows);
    const shown = view.current(this.#minerId);
    if (shown === undefined) return undefined;
    if (this.#made?.shown !== shown) this.#made = { shown, event: SharedEvent.ofMiner(this.#id, shown) };
    return this.#made.event.for(access);
  }

  /** Frees data that can be rebuilt. */
  compact(): void {
    this.#made = null;
    this.#rows.compact();
  }
}

/** A miner of which only the row may have changed, such as its open notifications. */
export class RowEntry implements RingEntry {
  readonly #id: number;
  readonly #minerId: number;
  #made: { readonly shown: CurrentRow; readonly event: SharedEvent } | null = null;

  constructor(id: number, minerId: number) {
    this.#id = id;
    this.#minerId = minerId;
  }

  eventFor(access: Access, view: MinerView, rows: RowWatch | null): SharedEvent | undefined {
    if (rows === null || !view.sees(this.#minerId, access)) return undefined;
    const shown = view.row(this.#minerId, this.#id, rows);
    if (shown === undefined) return undefined;
    if (this.#made?.shown !== shown) this.#made = { shown, event: SharedEvent.ofRow(this.#id, shown) };
    return this.#made.event;
  }

  compact(): void {
    this.#made = null;
  }
}

/** Events after which an entry is compacted: by then nearly all subscribers have taken it. */
const compactAfter = 256;

/** The last events under ids without gaps; an id may also stand for a moment without an event. */
export class EventRing {
  readonly #slots: (RingEntry | undefined)[];
  /** The id of the last entry of each miner. */
  readonly #newest = new Map<number, number>();
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
    const old = this.at(id - compactAfter);
    if (old instanceof MinerEntry || old instanceof RowEntry) old.compact();
  }

  /** `left`: the event for subscribers who see only the group that the miner left, if it left one. */
  pushMiner(minerId: number, left: (id: number) => RingEntry | undefined): void {
    this.supersede(minerId);
    this.push((id) => new MinerEntry(id, minerId, left(id)));
    this.#newest.set(minerId, this.#last);
  }

  /** Drops the last entry of a miner: a newer event replaces it, so that a subscriber gets each miner once. */
  supersede(minerId: number): void {
    const id = this.#newest.get(minerId);
    if (id === undefined) return;
    this.#newest.delete(minerId);
    const entry = this.at(id);
    if (entry instanceof MinerEntry) this.#slots[id % this.#slots.length] = entry.left;
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
    this.#newest.clear();
    this.#floor = this.mark();
  }
}
