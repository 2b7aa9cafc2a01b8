import type { MinerEvent, RowEvent, RuleChange, ServiceEvent, SiteChange } from "../../contract/events.ts";
import type { Command, Miner, Notification } from "../../contract/resources.ts";
import type { Caller, Input } from "../../contract/service.ts";
import { watchedRows } from "../miners/miner-rows.ts";
import type { Access } from "../users/access.ts";
import {
  type AnyEvent,
  EventRing,
  FixedEntry,
  type ListedNotification,
  type MinerView,
  type NotificationSubject,
  NotificationsEntry,
  RowEntry,
  SharedEvent,
} from "./event-ring.ts";
import { RowMarks } from "./row-marks.ts";
import { type EventView, Subscriber, type SubscriberLimits } from "./subscriber.ts";

export interface EventLimits extends SubscriberLimits {
  /** ms between two batches, so that many changes become one write per subscriber. */
  readonly intervalMs: number;
  /** ms between two summaries. */
  readonly summaryIntervalMs: number;
}

export const eventLimits: EventLimits = {
  kept: 10_000,
  lag: 1_000,
  batch: 256,
  batchBytes: 262_144,
  intervalMs: 10,
  summaryIntervalMs: 1_000,
};

/** Ids of a run start from the clock, far from those of the run before; 15 digits. */
const idsPerMs = 100;

/**
 * The last 10,000 events, for resuming, and the streams of subscribers. A changed miner is kept as its id alone: a
 * subscriber gets the miner's state at delivery, once, however often it has changed. A subscriber that resumes after a
 * dropped event, or whose access has changed since, gets `reset` instead of the missed events. A subscriber that falls
 * 1,000 events behind is ended with `service.not-ready`.
 */
export class Events {
  readonly #limits: EventLimits;
  readonly #ring: EventRing;
  readonly #marks: RowMarks;
  /** Part of the versions of row lists; versions of other runs are invalid. */
  readonly run = Math.floor(Math.random() * 36 ** 8).toString(36);
  readonly #subscribers = new Set<Subscriber>();
  /** The id at which each access was first used; every change of a user's access creates a new access. */
  readonly #since = new WeakMap<Access, number>();
  readonly #figures = new WeakMap<Access, string>();
  #batch: NodeJS.Timeout | undefined;
  #batchAt = Number.NEGATIVE_INFINITY;
  #summaries: NodeJS.Timeout | undefined;
  #summarisedAt = Number.NEGATIVE_INFINITY;
  /** Whether something may have changed since the last summary. */
  #stale = false;
  #closed = false;

  /** `now`: epoch ms. */
  constructor({ now, limits = eventLimits }: { readonly now: () => number; readonly limits?: EventLimits }) {
    this.#limits = limits;
    this.#ring = new EventRing(limits.kept, Math.floor(now() * idsPerMs));
    this.#marks = new RowMarks(limits.kept, this.#ring.last);
  }

  /** The newest event. */
  get last(): number {
    return this.#ring.last;
  }

  /** The last event for any row. */
  get newestMark(): number {
    return this.#marks.newest;
  }

  /** The last event for the row of this miner. */
  markOf(minerId: number): number {
    return this.#marks.of(minerId);
  }

  /** The last event with which this miner changed group. */
  movedAt(minerId: number): number {
    return this.#marks.movedAt(minerId);
  }

  /** The miners that have left a group visible to this access; null if that is no longer known. */
  leftSince(version: number, access: Access): number[] | null {
    return this.#marks.leftSince(version, access);
  }

  /** How many streams are open. */
  get subscribers(): number {
    return this.#subscribers.size;
  }

  /** A miner has changed. `before`: its previous group, null for a new miner. */
  miner({ id: minerId, uid, groupId }: Pick<Miner, "id" | "uid" | "groupId">, before: number | null): void {
    this.#ring.pushMiner(minerId, (id) => {
      if (before === null || before === groupId) return undefined;
      const data = { id: minerId, uid };
      const sawItLeave = (access: Access) => access.seesGroup(before) && !access.seesGroup(groupId);
      return new FixedEntry({ id, type: "miner-removed", data }, sawItLeave);
    });
    const at = this.#ring.last;
    this.#marks.mark(minerId, at);
    if (before !== null && before !== groupId) this.#marks.left({ at, minerId, groupId: before });
    this.changed();
    this.#summariseSoon();
  }

  minerRemoved({ id: minerId, uid, groupId }: Pick<Miner, "id" | "uid" | "groupId">): void {
    this.#ring.supersede(minerId);
    const data = { id: minerId, uid };
    this.#ring.push((id) => new FixedEntry({ id, type: "miner-removed", data }, (access) => access.seesGroup(groupId)));
    this.#marks.remove({ at: this.#ring.last, minerId, groupId });
    this.changed();
    this.#summariseSoon();
  }

  minerEvent(data: MinerEvent): void {
    this.#add((id) => ({ id, type: "miner-event", data }), ofMiner(data.id));
  }

  /** Only the row may have changed: the miner's open notifications. */
  row(minerId: number): void {
    // A removed miner no longer has a row.
    if (!this.#marks.has(minerId)) return;
    this.#ring.push((id) => new RowEntry(id, minerId));
    this.#marks.mark(minerId, this.#ring.last);
    this.changed();
  }

  /** A notification is new, has repeated or was closed. */
  notification(data: Notification, about: NotificationSubject): void {
    this.#add(
      (id) => ({ id, type: "notification", data }),
      (access, view) => view.seesNotification(about, access),
    );
  }

  /** Notifications were acknowledged, or cleared from the list: one event for any number. */
  notificationsHandled(what: "acknowledged" | "removed", some: readonly ListedNotification[]): void {
    if (some.length === 0) return;
    this.#ring.push((id) => new NotificationsEntry(id, `notification-${what}`, some));
    this.changed();
  }

  /** A command for a room without a miner is sent to callers with access to all miners. */
  command(data: Command): void {
    this.#add((id) => ({ id, type: "command", data }), data.minerId === 0 ? () => false : ofMiner(data.minerId));
  }

  /** `makerId`: the user who created it, and who sees it without access to everything. */
  rule(data: RuleChange, makerId: number | null): void {
    this.#add(
      (id) => ({ id, type: "rule", data }),
      ({ userId }) => makerId !== null && makerId === userId,
    );
  }

  /** Sections of the configuration have changed; every subscriber gets their names only. */
  settings(sections: readonly string[]): void {
    this.#add(
      (id) => ({ id, type: "settings", data: { sections: [...sections] } }),
      () => true,
    );
  }

  /** Places have changed; every subscriber reads those that it sees. */
  places(): void {
    this.#add(
      (id) => ({ id, type: "places", data: {} }),
      () => true,
    );
  }

  /** A site was reached, or can no longer be: one event, with which the rows of all its miners change. */
  site(data: SiteChange, miners: Iterable<number>): void {
    this.#add(
      (id) => ({ id, type: "site", data }),
      ({ all }) => all,
    );
    for (const id of miners) this.#marks.mark(id, this.#ring.last);
  }

  /** The sums have changed. */
  summarise(): void {
    this.#summariseSoon();
  }

  /** Too much has changed for single events: every subscriber reads the lists again. */
  reset(): void {
    this.#ring.clear();
    this.#marks.markAll(this.#ring.last);
    this.changed();
    this.#summariseSoon();
  }

  /** There are new events, or the access of a user has changed. */
  changed(): void {
    if (this.#subscribers.size === 0 || this.#batch !== undefined) return;
    const wait = Math.max(0, this.#batchAt + this.#limits.intervalMs - performance.now());
    this.#batch = setTimeout(() => {
      this.#batch = undefined;
      this.#batchAt = performance.now();
      for (const subscriber of this.#subscribers) subscriber.notice();
    }, wait);
  }

  /** Ends all streams. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#batch);
    clearTimeout(this.#summaries);
    for (const subscriber of this.#subscribers) subscriber.wake();
  }

  /** Batches of events, each with its JSON. Throws `not.found` for an unknown user. */
  encoded(view: EventView, input: EventsInput, caller: Caller, signal: AbortSignal): Batches {
    return this.#follow(this.#subscriber(view, caller, input), bytesOf, signal);
  }

  /** Events as objects. Throws `not.found` for an unknown user. */
  watch(
    view: EventView,
    input: Input<"watchEvents">,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncIterable<ServiceEvent> {
    return eachEvent(this.#follow(this.#subscriber(view, caller, input), asObject, signal), isServiceEvent, signal);
  }

  /** The same, with miners as rows. */
  watchRows(
    view: EventView,
    input: Input<"watchMinerRows">,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncIterable<RowEvent> {
    return eachEvent(this.#follow(this.#subscriber(view, caller, input), asObject, signal), isRowEvent, signal);
  }

  #subscriber(view: EventView, caller: Caller, { after, types, ...rows }: EventsInput): Subscriber {
    const since = (access: Access): number => this.since(access);
    return new Subscriber(
      { ring: this.#ring, limits: this.#limits, view, since },
      {
        caller,
        types,
        after: typeof after === "string" ? this.#eventOf(after) : after,
        hasRows: typeof after === "string",
        rows: "view" in rows ? watchedRows(rows) : null,
      },
    );
  }

  /** The event of a list's version; a version of another run precedes all events of this one. */
  #eventOf(version: string): number {
    const [run, event] = version.split(".");
    return run === this.run ? Number(event) : before;
  }

  async *#follow(subscriber: Subscriber, make: (event: SharedEvent) => number, signal: AbortSignal): Batches {
    const wake = () => subscriber.wake();
    signal.addEventListener("abort", wake, { once: true });
    this.#subscribers.add(subscriber);
    this.#summariseSoon();
    try {
      while (!signal.aborted && !this.#closed) {
        const events = subscriber.take(make);
        if (events.length > 0) yield events;
        else await subscriber.idle();
      }
    } finally {
      this.#subscribers.delete(subscriber);
      signal.removeEventListener("abort", wake);
    }
  }

  /** For callers with access to everything, and for those allowed to see it when they take the event. */
  #add(event: (id: number) => ServiceEvent, isVisible: (access: Access, view: MinerView) => boolean): void {
    this.#ring.push((id) => new FixedEntry(event(id), (access, view) => access.all || isVisible(access, view)));
    this.changed();
  }

  /** The event since which this access is unchanged; the present one for a new access. */
  since(access: Access): number {
    const since = this.#since.get(access) ?? this.#ring.mark();
    this.#since.set(access, since);
    return since;
  }

  /** Waits a little, so that one summary covers several changes. */
  #summariseSoon(): void {
    this.#stale = true;
    if (this.#subscribers.size === 0 || this.#summaries !== undefined || this.#closed) return;
    const { summaryIntervalMs } = this.#limits;
    const wait = Math.max(summaryIntervalMs / 5, this.#summarisedAt + summaryIntervalMs - performance.now());
    this.#summaries = setTimeout(async () => {
      this.#summarisedAt = performance.now();
      this.#stale = false;
      const wanting = [...this.#subscribers].filter(({ wantsSummary }) => wantsSummary);
      await Promise.all([...Map.groupBy(wanting, ({ access }) => access)].map(this.#summarise));
      this.#summaries = undefined;
      if (this.#stale) this.#summariseSoon();
    }, wait);
  }

  /** Sends the summary to all subscribers with the same access if it has changed, and to those that have none yet. */
  readonly #summarise = async ([access, subscribers]: [Access, Subscriber[]]): Promise<void> => {
    const [first] = subscribers;
    if (first === undefined) return;
    try {
      const summary = await first.summaryFor();
      const figures = JSON.stringify({ ...summary, metaData: null });
      const isNew = this.#figures.get(access) !== figures;
      this.#figures.set(access, figures);
      const receivers = subscribers.filter(({ hadSummary }) => isNew || !hadSummary);
      if (receivers.length === 0) return;
      const event = SharedEvent.of({ id: this.#ring.mark(), type: "summary", data: summary });
      for (const subscriber of receivers) subscriber.summarise(event);
    } catch (error) {
      for (const subscriber of subscribers) subscriber.fail(error);
    }
  };
}

const ofMiner =
  (minerId: number) =>
  (access: Access, { sees }: MinerView): boolean =>
    sees(minerId, access);

type EventsInput = Input<"watchEvents"> | Input<"watchMinerRows">;

/** The event before all others. */
const before = -1;

type Batches = AsyncGenerator<readonly SharedEvent[], void, undefined>;

const bytesOf = ({ json }: SharedEvent): number => json.length;

/** An object adds no bytes to a batch. It is built while its miner exists, not when the subscriber reaches it. */
function asObject(shared: SharedEvent): number {
  void shared.event;
  return 0;
}

const isRowEvent = (event: AnyEvent): event is RowEvent => event.type !== "miner" || !("readings" in event.data);
const isServiceEvent = (event: AnyEvent): event is ServiceEvent => event.type !== "miner" || "readings" in event.data;

async function* eachEvent<E extends AnyEvent>(
  batches: Batches,
  isOne: (event: AnyEvent) => event is E,
  signal: AbortSignal,
): AsyncIterable<E> {
  for await (const batch of batches) {
    for (const { event } of batch) {
      if (signal.aborted) return;
      if (isOne(event)) yield event;
    }
  }
}
