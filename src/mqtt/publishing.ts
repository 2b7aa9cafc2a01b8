import type { MinerEvent } from "../contract/events.ts";
import type { Miner, Notification, Severity, Summary } from "../contract/resources.ts";
import { isUnread } from "../contract/unread.ts";
import type { FarmListener, FarmLists, RigFaults } from "../farm/index.ts";
import type { Announcer } from "./announcer.ts";
import type { DisplayUnits } from "./display-units.ts";
import type { StateLink } from "./handover.ts";
import { hasUid, type MinerState, type MinerWithUid, minerState } from "./miner-state.ts";
import { Sums } from "./sums.ts";
import { expirySeconds, isDue, markPublished, type TopicState } from "./topic-state.ts";
import type { Topics } from "./topics.ts";

export interface PublishingOptions {
  readonly connection: StateLink;
  readonly topics: Topics;
  readonly units: DisplayUnits;
  readonly announcer: Announcer | null;
  readonly faults: RigFaults;
  /** QoS of state topics. */
  readonly qos: 0 | 1;
  /** Minimum s between two messages with readings of one miner. */
  readonly interval: number;
  /** Epoch ms. */
  readonly now: () => number;
  /** Notifications arrived, or were acknowledged or cleared. */
  readonly notified: () => void;
}

interface MinerEntry extends TopicState {
  miner: MinerWithUid;
  /** The state to publish when due; kept, because building it costs more than sending it. */
  current: MinerState;
  availability: string | null;
  /** The last known status, in lower case; null before the first. */
  status: string | null;
}

/**
 * Delay between the announcement of a device and its state, which new entities receive only then; and between the
 * removal of a device and of its topics, because entities that still exist would report an error for empty ones.
 */
const afterDiscoveryMs = 1_000;
/** Miners published per turn of the event loop. */
const batch = 200;

/** Decides what the bridge publishes and when, from the lists and events of the service. */
export class Publishing implements Omit<FarmListener, "lost" | "back"> {
  readonly #options: PublishingOptions;
  readonly #miners = new Map<string, MinerEntry>();
  readonly #uids = new Map<number, string>();
  /** uids of miners whose state cannot be built. */
  readonly #failing = new Set<string>();
  readonly #sums: Sums;
  /** Miners that may soon be identified, by id. */
  readonly #unnamed = new Map<number, Miner>();
  /** Identified miners whose state is not known yet. */
  readonly #unread = new Map<number, MinerWithUid>();
  /** Topics of removed devices, and when to empty them (epoch ms). */
  readonly #toEmpty = new Map<string, number>();
  #round = 0;
  #isRead = false;
  /** Other miners and groups may exist. */
  #isPartial = false;
  /** Severities of the open notifications that were published or were already open at the start. */
  readonly #openNotifications = new Map<number, Severity>();
  #knowsFirstOpen = false;

  constructor(options: PublishingOptions) {
    this.#options = options;
    this.#sums = new Sums(options, this);
  }

  find(uid: string): MinerWithUid | undefined {
    return this.#miners.get(uid)?.miner;
  }

  /** The miners of the farm; undefined before the first read. */
  get all(): MinerWithUid[] | undefined {
    return this.#isRead ? [...this.named()] : undefined;
  }

  /** The miners with topics. */
  *named(): Iterable<MinerWithUid> {
    for (const { miner } of this.#miners.values()) yield miner;
  }

  /** Whether the miners of the farm were read. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** The miners whose state is not known yet. */
  unread(): readonly Miner[] {
    return [...this.#unnamed.values(), ...this.#unread.values()];
  }

  /** Number of those without topics; at least one while others may exist. */
  get unnamed(): number {
    return this.#unnamed.size + (this.#isPartial ? 1 : 0);
  }

  /** The miners of a group and its subgroups; undefined if there is no such group. */
  membersOf(groupId: number): MinerWithUid[] | undefined {
    return this.#sums.membersOf(groupId);
  }

  read({ miners, groups, summary, isPartial }: FarmLists): void {
    this.#isRead = true;
    this.#isPartial = isPartial;
    this.summary(summary);
    const here = new Set(miners.map(({ id }) => id));
    for (const id of [...this.#uids.keys(), ...this.#unnamed.keys()]) if (!here.has(id)) this.removed(id);
    for (const id of this.#sums.read(groups)) this.#groupRemoved(id);
    for (const miner of miners) this.miner(miner);
    this.#sums.publishAll();
    this.#options.notified();
  }

  /** `isCommanded`: a command was just sent to it, so its state is published at once. */
  miner(miner: Miner, isCommanded = false): void {
    this.#options.faults.run(
      miner.id,
      () => this.#update(miner, isCommanded),
      () => this.#fail(miner),
    );
  }

  #update(miner: Miner, isCommanded: boolean): void {
    const previousUid = this.#uids.get(miner.id);
    if (previousUid !== undefined && previousUid !== miner.uid) this.removed(miner.id);
    this.#markUnnamed(miner);
    if (!hasUid(miner)) return;
    const holder = this.#miners.get(miner.uid);
    // If a server lists two miners with one uid, the first keeps it.
    if (holder !== undefined && holder.miner.id !== miner.id && this.#uids.get(holder.miner.id) === miner.uid) return;
    const { id, uid } = miner;
    this.#uids.set(id, uid);
    if (isUnread(miner) && !miner.isOffline) this.#unread.set(id, miner);
    else this.#unread.delete(id);
    const before = holder?.miner ?? miner;
    const display = this.#options.units.ofMiner(uid, miner);
    const now = { miner, current: minerState(miner, display) };
    this.#failing.delete(uid);
    const entry = Object.assign(
      holder ?? { ...now, availability: null, status: null, state: null, at: 0, due: 0 },
      now,
    );
    this.#miners.set(uid, entry);
    this.#publishStatusChange(entry);
    // Before the state, which may lie outside the range announced so far.
    if (!isUnread(miner)) this.#options.announcer?.miner(miner, display);
    this.#publishMiner(entry, isCommanded);
    this.#sums.markOf(before);
    this.#sums.markOf(miner);
  }

  #markUnnamed(miner: Miner): void {
    const was = this.#unnamed.delete(miner.id);
    const is = miner.uid === null && isUnread(miner);
    if (is) this.#unnamed.set(miner.id, miner);
    if (is !== was) this.#sums.markAll();
  }

  /** Its state cannot be built: it is published as unavailable, and left out of the sums. */
  #fail({ id, uid }: Miner): void {
    if (uid === null || this.#uids.get(id) !== uid) return;
    this.#miners.delete(uid);
    this.#unread.delete(id);
    this.#failing.add(uid);
    this.#publishOffline(uid);
    this.#sums.markAll();
  }

  #publishOffline(uid: string): void {
    const { availability: topic } = this.#options.topics.miner(uid);
    this.#options.connection.publish({ topic, payload: "offline", qos: 1, retain: true });
  }

  removed(id: number): void {
    if (this.#unnamed.delete(id)) this.#sums.markAll();
    const uid = this.#uids.get(id);
    const entry = uid === undefined ? undefined : this.#miners.get(uid);
    this.#uids.delete(id);
    this.#unread.delete(id);
    if (uid === undefined || (entry?.miner.id !== id && !this.#failing.delete(uid))) return;
    this.#miners.delete(uid);
    const { state, availability } = this.#options.topics.miner(uid);
    this.#options.announcer?.minerRemoved(uid);
    this.#emptySoon([state, availability]);
    this.#sums.markAll();
  }

  /** The farm's energy is published with the sums. */
  summary(summary: Summary): void {
    this.#sums.energies = summary;
  }

  happened({ uid, event, value, before }: MinerEvent): void {
    if (uid === null || !this.#miners.has(uid)) return;
    this.#publishEvent(uid, { event_type: event, [eventReading[event]]: value, before });
  }

  /** All open notifications. A repeat of one that was open at the start is not new. */
  openNotifications(open: readonly Notification[]): void {
    const severities = new Map(open.map(({ id, severity }) => [id, severity]));
    for (const id of this.#openNotifications.keys()) if (!severities.has(id)) this.#openNotifications.delete(id);
    // Only the first list adds any: a new notification is in the list before its event arrives.
    if (!this.#knowsFirstOpen) for (const [id, severity] of severities) this.#openNotifications.set(id, severity);
    this.#knowsFirstOpen = true;
  }

  /** Publishes an event when a notification is raised, becomes more severe, or is closed; a repeat publishes none. */
  notification(notification: Notification): void {
    const { id, minerName, title, timeUtc, message, isWarning, severity, count, lastUtc, closedUtc } = notification;
    const { connection, topics } = this.#options;
    this.#options.notified();
    if (closedUtc === null && this.#openNotifications.get(id) === severity) return;
    if (closedUtc === null) this.#openNotifications.set(id, severity);
    else this.#openNotifications.delete(id);
    // An event such as a best share closes at once, without an end.
    const isEnd = closedUtc !== null && closedUtc !== timeUtc;
    const type = isEnd ? "closed" : isWarning ? "warning" : "notification";
    const event = { event_type: type, id, severity, miner: minerName, title, message, count };
    const payload = JSON.stringify({ ...event, time: timeUtc, last: lastUtc, closed: closedUtc });
    connection.publish({ topic: topics.notification, payload, qos: 1, retain: false, expiry: expirySeconds });
    for (const { miner } of this.#miners.values())
      if (isAbout(notification, miner))
        connection.publish({
          topic: topics.miner(miner.uid).event,
          payload,
          qos: 1,
          retain: false,
          expiry: expirySeconds,
        });
  }

  /** The counts change; no event is published. */
  notificationsHandled(): void {
    this.#options.notified();
  }

  /** Publishes what is due; call it about every half second. */
  tick(): void {
    const now = this.#options.now();
    for (const entry of this.#miners.values()) if (entry.due <= now) this.#publishMiner(entry, false);
    this.#sums.publishDue();
    for (const [topic, at] of this.#toEmpty) if (at <= now && this.#options.connection.isConnected) this.empty(topic);
  }

  /** A device was announced: the state of this miner (its uid) or group (its id, 0 for the farm) is published again. */
  announced(device: string | number): void {
    const topic = typeof device === "string" ? this.#miners.get(device) : this.#sums.topic(device);
    if (topic !== undefined) topic.due = Math.min(topic.due, this.#options.now() + afterDiscoveryMs);
  }

  /** Whether every miner of the service is known by its uid, or does not answer. */
  get isComplete(): boolean {
    return this.#isRead && this.unnamed === 0;
  }

  /** Publishes everything retained again; a later call replaces one under way. */
  async publishAll(): Promise<void> {
    this.#round += 1;
    const round = this.#round;
    this.#sums.publishAll();
    for (const uid of this.#failing) this.#publishOffline(uid);
    let published = 0;
    for (const entry of [...this.#miners.values()]) {
      published += 1;
      if (published % batch === 0) await new Promise((resolve) => setImmediate(resolve));
      if (round !== this.#round) return;
      if (this.#miners.get(entry.miner.uid) !== entry) continue;
      entry.availability = null;
      this.#publishMiner(entry, true);
    }
  }

  /** Whether this miner or group exists; null while that is not known. */
  has(thing: "miner" | "group", id: string): boolean | null {
    if (!this.#isRead || this.#isPartial) return null;
    if (thing === "group") return this.#sums.hasGroup(Number(id));
    return this.#miners.has(id) || this.#failing.has(id);
  }

  empty(topic: string): void {
    this.#toEmpty.delete(topic);
    this.#options.connection.publish({ topic, payload: "", qos: 1, retain: true });
  }

  #emptySoon(topics: readonly string[]): void {
    for (const topic of topics) this.#toEmpty.set(topic, this.#options.now() + afterDiscoveryMs);
  }

  /** Retained messages of an earlier run, or of before its site was lost, stay until the miner's state is known. */
  #publishMiner(entry: MinerEntry, always: boolean): void {
    const { connection, topics, qos, interval, now } = this.#options;
    const { miner, current: state } = entry;
    const isUnknown = isUnread(miner);
    if (isUnknown && !miner.isOffline) return;
    const { state: topic, availability } = topics.miner(miner.uid);
    if (this.#toEmpty.size > 0) for (const each of [topic, availability]) this.#toEmpty.delete(each);
    if (!isUnknown && isDue(entry, state, now(), interval, always)) {
      connection.publish({ topic, payload: JSON.stringify(state), qos, retain: true, expiry: expirySeconds });
      markPublished(entry, state, now());
    }
    const word = availabilityOf(miner);
    if (word === entry.availability) return;
    entry.availability = word;
    connection.publish({ topic: availability, payload: word, qos: 1, retain: true });
  }

  #groupRemoved(id: number): void {
    this.#options.announcer?.groupRemoved(id);
    this.#emptySoon([this.#options.topics.group(id).state]);
  }

  /** The first known status is not a change. */
  #publishStatusChange(entry: MinerEntry): void {
    const { miner, status: before } = entry;
    if (isUnread(miner)) return;
    const status = miner.statusInfo.statusDisplay.toLowerCase();
    entry.status = status;
    if (before !== null && before !== status) this.#publishEvent(miner.uid, { event_type: "status", status, before });
  }

  #publishEvent(uid: string, event: object): void {
    const { connection, topics, now } = this.#options;
    const payload = JSON.stringify({ ...event, time: new Date(now()).toISOString() });
    connection.publish({ topic: topics.miner(uid).event, payload, qos: 1, retain: false, expiry: expirySeconds });
  }
}

const eventReading = { best_share: "best_share", block_found: "found_blocks" } as const;

const availabilityOf = ({ isOffline, statusInfo }: Miner): string =>
  isOffline || statusInfo.statusDisplay === "Disabled" ? "offline" : "online";

/** A foreign server gives only the name. */
const isAbout = ({ minerId, minerName }: Notification, { id, name }: Miner): boolean =>
  minerId === null ? minerName === name : minerId === id;
