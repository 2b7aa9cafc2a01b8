import type { MinerEvent } from "../contract/events.ts";
import type { Group, Miner, Notification, Summary } from "../contract/resources.ts";
import type { FarmListener, FarmLists, RigFaults } from "../farm/index.ts";
import type { Announcer } from "./announcer.ts";
import { urgencyOf } from "./dead-band.ts";
import type { DisplayUnits } from "./display-units.ts";
import { groupState } from "./group-state.ts";
import { type MinerState, minerState } from "./miner-state.ts";
import type { MqttLink } from "./mqtt-link.ts";
import type { Topics } from "./topics.ts";

export interface PublishingOptions {
  readonly connection: MqttLink;
  readonly topics: Topics;
  readonly units: DisplayUnits;
  readonly announcer: Announcer | null;
  readonly faults: RigFaults;
  /** QoS of readings. */
  readonly qos: 0 | 1;
  /** s between two readings of one miner, at least. */
  readonly interval: number;
  /** Epoch ms. */
  readonly now: () => number;
  /** A notification has come, or one may have been acknowledged. */
  readonly notified: () => void;
}

/** A miner that has a uid: others have no place in topics yet. */
export type KnownMiner = Miner & { readonly uid: string };

/** What a topic was told last, and when it is told again. */
interface Told {
  state: MinerState | null;
  /** Epoch ms. */
  at: number;
  due: number;
}

interface ShownMiner extends Told {
  miner: KnownMiner;
  /** What is told once it is time: all of them may be asked for at once, and making one costs more than sending it. */
  current: MinerState;
  availability: string | null;
}

/** A group, or the farm, that the sums of its miners are told of. */
interface ShownSum extends Told {
  readonly topic: string;
  readonly device: string;
  name: string;
  /** null: the farm. */
  group: Group | null;
  isDirty: boolean;
}

/** ms after which what has not changed is told all the same, and s after which a broker forgets it. */
const heartbeat = 60_000;
const expiry = 180;
/** Miners that are published at once; then others have their turn. */
const batch = 200;

/** What the bridge publishes, and when. Everything is known from the lists and events of the service. */
export class Publishing implements Omit<FarmListener, "lost"> {
  readonly #options: PublishingOptions;
  readonly #miners = new Map<string, ShownMiner>();
  readonly #uids = new Map<number, string>();
  /** uids of miners that cannot be published as they are. */
  readonly #failing = new Set<string>();
  readonly #sums = new Map<number, ShownSum>();
  #summary: Summary | null = null;
  #round = 0;
  #isRead = false;

  constructor(options: PublishingOptions) {
    this.#options = options;
  }

  find(uid: string): KnownMiner | undefined {
    return this.#miners.get(uid)?.miner;
  }

  /** The miners of a group and of those inside it; undefined for a group that is not there. */
  membersOf(groupId: number): KnownMiner[] | undefined {
    const sum = this.#sums.get(groupId);
    return sum?.group == null ? undefined : (this.#members().get(groupId) ?? []);
  }

  read({ miners, groups, summary }: FarmLists): void {
    const { topics } = this.#options;
    this.#isRead = true;
    this.#summary = summary;
    const here = new Set(miners.map(({ id }) => id));
    for (const id of [...this.#uids.keys()]) if (!here.has(id)) this.removed(id);
    for (const [id, { group }] of this.#sums)
      if (group !== null && !groups.some((each) => each.id === id)) this.#groupGone(id);
    for (const group of groups)
      this.#sum(group.id, {
        topic: topics.group(group.id).state,
        device: `group/${group.id}`,
        name: group.name,
        group,
      });
    this.#sum(farm, { topic: topics.summary, device: "farm", name: "Mining farm", group: null });
    for (const miner of miners) this.miner(miner);
    this.#tellSums(this.#sums.values(), true);
    this.#options.notified();
  }

  /** `prompt`: it was told something, and is shown as it is now. */
  miner(miner: Miner, prompt = false): void {
    this.#options.faults.run(
      miner.id,
      () => this.#take(miner, prompt),
      () => this.#fail(miner),
    );
  }

  #take(miner: Miner, prompt: boolean): void {
    const { uid } = miner;
    const had = this.#uids.get(miner.id);
    if (had !== undefined && had !== uid) this.removed(miner.id);
    if (uid === null) return;
    const holder = this.#miners.get(uid);
    // Of two with one uid, as a server might list, the first has it.
    if (holder !== undefined && holder.miner.id !== miner.id && this.#uids.get(holder.miner.id) === uid) return;
    this.#uids.set(miner.id, uid);
    const known: KnownMiner = { ...miner, uid };
    const before = holder?.miner ?? known;
    const display = this.#options.units.ofMiner(uid, miner);
    const now = { miner: known, current: minerState(known, display) };
    this.#failing.delete(uid);
    const shown = Object.assign(holder ?? { ...now, availability: null, state: null, at: 0, due: 0 }, now);
    this.#miners.set(uid, shown);
    this.#turned(before, known);
    this.#tell(shown, prompt);
    this.#options.announcer?.miner(known, display);
    for (const id of [...this.#groupsOf(before), ...this.#groupsOf(known), farm]) {
      const sum = this.#sums.get(id);
      if (sum !== undefined) sum.isDirty = true;
    }
  }

  /** It cannot be published as it is: who subscribes sees it as unavailable, and it counts in no sum. */
  #fail({ id, uid }: Miner): void {
    if (uid === null || this.#uids.get(id) !== uid) return;
    this.#miners.delete(uid);
    this.#failing.add(uid);
    this.#sayFailing(uid);
    for (const sum of this.#sums.values()) sum.isDirty = true;
  }

  #sayFailing(uid: string): void {
    const { availability: topic } = this.#options.topics.miner(uid);
    this.#options.connection.publish({ topic, payload: "offline", qos: 1, retain: true });
  }

  removed(id: number): void {
    const uid = this.#uids.get(id);
    const shown = uid === undefined ? undefined : this.#miners.get(uid);
    this.#uids.delete(id);
    if (uid === undefined || (shown?.miner.id !== id && !this.#failing.delete(uid))) return;
    this.#miners.delete(uid);
    this.emptyMiner(uid);
    this.#options.announcer?.gone(uid);
    for (const sum of this.#sums.values()) sum.isDirty = true;
  }

  happened({ uid, event, value, before }: MinerEvent): void {
    if (uid === null || !this.#miners.has(uid)) return;
    this.#say(uid, { event_type: event, [eventReading[event]]: value, before });
  }

  summary(summary: Summary): void {
    this.#summary = summary;
  }

  notification(notification: Notification): void {
    const { id, minerName, title, timeUtc, message, isWarning } = notification;
    const { connection, topics } = this.#options;
    const said = { event_type: isWarning ? "warning" : "notification", id, miner: minerName, title, message };
    const payload = JSON.stringify({ ...said, time: timeUtc });
    connection.publish({ topic: topics.notification, payload, qos: 1, retain: false, expiry });
    for (const { miner } of this.#miners.values())
      if (isAbout(notification, miner))
        connection.publish({ topic: topics.miner(miner.uid).event, payload, qos: 1, retain: false, expiry });
    this.#options.notified();
  }

  /** Tells what is due by now; to be called about every half second. */
  tick(): void {
    const now = this.#options.now();
    for (const shown of this.#miners.values()) if (shown.due <= now) this.#tell(shown, false);
    const due = [...this.#sums.values()].filter((sum) => sum.isDirty || sum.due <= now);
    if (due.length > 0) this.#tellSums(due, false);
  }

  /** Everything that brokers keep, once more; a later call takes the place of one under way. */
  async publishAll(): Promise<void> {
    this.#round += 1;
    const round = this.#round;
    this.#tellSums(this.#sums.values(), true);
    for (const uid of this.#failing) this.#sayFailing(uid);
    let published = 0;
    for (const shown of [...this.#miners.values()]) {
      published += 1;
      if (published % batch === 0) await new Promise((resolve) => setImmediate(resolve));
      if (round !== this.#round) return;
      if (this.#miners.get(shown.miner.uid) !== shown) continue;
      shown.availability = null;
      this.#tell(shown, true);
    }
  }

  /** Whether this miner or group is there; null before that is known. */
  knows(thing: "miner" | "group", id: string): boolean | null {
    if (!this.#isRead) return null;
    if (thing === "group") return this.#sums.get(Number(id))?.group != null;
    return this.#miners.has(id) || this.#failing.has(id);
  }

  emptyMiner(uid: string): void {
    const { state, availability } = this.#options.topics.miner(uid);
    for (const topic of [state, availability]) this.empty(topic);
  }

  empty(topic: string): void {
    this.#options.connection.publish({ topic, payload: "", qos: 1, retain: true });
  }

  #tell(shown: ShownMiner, always: boolean): void {
    const { connection, topics, qos, interval, now } = this.#options;
    const { miner, current: state } = shown;
    const { state: topic, availability } = topics.miner(miner.uid);
    if (isTime(shown, state, now(), interval, always)) {
      connection.publish({ topic, payload: JSON.stringify(state), qos, retain: true, expiry });
      told(shown, state, now());
    }
    const word = availabilityOf(miner);
    if (word === shown.availability) return;
    shown.availability = word;
    connection.publish({ topic: availability, payload: word, qos: 1, retain: true });
  }

  #tellSums(sums: Iterable<ShownSum>, always: boolean): void {
    const members = this.#members();
    for (const sum of sums) this.#tellSum(sum, members.get(sum.group?.id ?? farm) ?? [], always);
  }

  #tellSum(sum: ShownSum, miners: readonly KnownMiner[], always: boolean): void {
    const { connection, qos, interval, now, units, announcer } = this.#options;
    sum.isDirty = false;
    const { group, name, device, topic } = sum;
    const display = units.ofAll(device, miners);
    const state = groupState(name, miners, display);
    if (!isTime(sum, state, now(), interval, always)) return;
    connection.publish({ topic, payload: JSON.stringify(state), qos, retain: true, expiry });
    told(sum, state, now());
    if (group === null) announcer?.farm(this.#summary, miners, display);
    else announcer?.group(group, miners, display);
  }

  #sum(id: number, sum: Pick<ShownSum, "topic" | "device" | "name" | "group">): void {
    const known = this.#sums.get(id) ?? { ...sum, state: null, at: 0, due: 0, isDirty: true };
    this.#sums.set(id, Object.assign(known, sum));
  }

  #groupGone(id: number): void {
    this.#sums.delete(id);
    this.empty(this.#options.topics.group(id).state);
    this.#options.announcer?.groupGone(id);
  }

  /** Says when a miner's status is another. */
  #turned(before: KnownMiner, after: KnownMiner): void {
    const [was, is] = [before, after].map(({ statusInfo }) => statusInfo.statusDisplay.toLowerCase());
    if (was !== is) this.#say(after.uid, { event_type: "status", status: is, before: was });
  }

  #say(uid: string, event: object): void {
    const { connection, topics, now } = this.#options;
    const payload = JSON.stringify({ ...event, time: new Date(now()).toISOString() });
    connection.publish({ topic: topics.miner(uid).event, payload, qos: 1, retain: false, expiry });
  }

  /** Ids of the group that a miner stands in, and of those around it. */
  #groupsOf({ groupId }: Miner): number[] {
    const ids: number[] = [];
    for (let id = groupId; id !== 0 && !ids.includes(id); id = this.#sums.get(id)?.group?.parentId ?? 0) ids.push(id);
    return ids;
  }

  /** The miners of each group and of those inside it, and all of them for the farm. */
  #members(): Map<number, KnownMiner[]> {
    const members = new Map<number, KnownMiner[]>();
    for (const { miner } of this.#miners.values()) {
      for (const id of [farm, ...this.#groupsOf(miner)]) {
        const others = members.get(id);
        if (others === undefined) members.set(id, [miner]);
        else others.push(miner);
      }
    }
    return members;
  }
}

/** What an event's value is called. */
const eventReading = { best_share: "best_share", block_found: "found_blocks" } as const;

/** Where the farm's own sum stands among those of groups. */
const farm = 0;

const availabilityOf = ({ isOffline, statusInfo }: Miner): string =>
  isOffline || statusInfo.statusDisplay === "Disabled" ? "offline" : "online";

/** Whether a topic is told its state now; where it is told later, that is noted. */
function isTime(topic: Told, state: MinerState, now: number, interval: number, always: boolean): boolean {
  if (always || topic.state === null || topic.due <= now) return true;
  const urgency = urgencyOf(topic.state, state);
  const next = topic.at + interval * 1000;
  if (urgency === "now" || (urgency === "soon" && next <= now)) return true;
  if (urgency === "soon") topic.due = Math.min(topic.due, next);
  return false;
}

/** Heartbeats of topics that were told together drift apart. */
function told(topic: Told, state: MinerState, now: number): void {
  topic.state = state;
  topic.at = now;
  topic.due = now + heartbeat * (0.75 + Math.random() / 4);
}

/** A foreign server says the name alone. */
const isAbout = ({ minerId, minerName }: Notification, { id, name }: Miner): boolean =>
  minerId === null ? minerName === name : minerId === id;
