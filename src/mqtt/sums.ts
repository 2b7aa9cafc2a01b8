import type { Group, Miner } from "../contract/resources.ts";
import { type Energies, energyIn } from "../farm/index.ts";
import type { Announcer } from "./announcer.ts";
import type { DisplayUnits } from "./display-units.ts";
import { groupState, type MinerWithUid } from "./miner-state.ts";
import type { MqttLink } from "./mqtt-link.ts";
import { expirySeconds, isDue, markPublished, type TopicState } from "./topic-state.ts";
import type { Topics } from "./topics.ts";

export interface SumsOptions {
  readonly connection: Pick<MqttLink, "publish">;
  readonly topics: Topics;
  readonly units: DisplayUnits;
  readonly announcer: Announcer | null;
  /** QoS of state topics. */
  readonly qos: 0 | 1;
  /** Minimum s between two messages with readings of one group. */
  readonly interval: number;
  /** Epoch ms. */
  readonly now: () => number;
}

/** The miners that are summed. */
export interface SummedMiners {
  /** The miners with topics. */
  named(): Iterable<MinerWithUid>;
  /** The miners whose state is not known yet. */
  unread(): Iterable<Miner>;
  /** Number of those without topics. */
  readonly unnamed: number;
}

/** A group or the farm, with the sums over its miners. */
interface SumEntry extends TopicState {
  readonly topic: string;
  readonly device: string;
  name: string;
  /** null: the farm. */
  group: Group | null;
  isDirty: boolean;
}

/** The id of the farm among the groups. */
const farm = 0;

/** Publishes the sums over the miners of each group and of the farm. */
export class Sums {
  energies: Energies = {};
  readonly #options: SumsOptions;
  readonly #farm: SummedMiners;
  readonly #sums = new Map<number, SumEntry>();

  constructor(options: SumsOptions, miners: SummedMiners) {
    this.#options = options;
    this.#farm = miners;
  }

  /** Sets the groups of the farm; returns removed ones. */
  read(groups: readonly Group[]): number[] {
    const { topics } = this.#options;
    const here = new Set([farm, ...groups.map(({ id }) => id)]);
    const removed = [...this.#sums.keys()].filter((id) => !here.has(id));
    for (const id of removed) this.#sums.delete(id);
    for (const group of groups)
      this.#update(group.id, {
        topic: topics.group(group.id).state,
        device: `group/${group.id}`,
        name: group.name,
        group,
      });
    this.#update(farm, { topic: topics.summary, device: "farm", name: "Mining farm", group: null });
    return removed;
  }

  #update(id: number, sum: Pick<SumEntry, "topic" | "device" | "name" | "group">): void {
    const entry = this.#sums.get(id) ?? { ...sum, state: null, at: 0, due: 0, isDirty: true };
    this.#sums.set(id, Object.assign(entry, sum));
  }

  hasGroup(id: number): boolean {
    return this.#sums.get(id)?.group != null;
  }

  /** The topic of a group, or of the farm (0). */
  topic(id: number): TopicState | undefined {
    return this.#sums.get(id);
  }

  /** The miners of a group and its subgroups; undefined if there is no such group. */
  membersOf(id: number): MinerWithUid[] | undefined {
    return this.hasGroup(id) ? (this.#members().get(id) ?? []) : undefined;
  }

  markAll(): void {
    for (const sum of this.#sums.values()) sum.isDirty = true;
  }

  /** The miner has changed. */
  markOf(miner: Miner): void {
    for (const id of [...this.#groupsOf(miner), farm]) {
      const sum = this.#sums.get(id);
      if (sum !== undefined) sum.isDirty = true;
    }
  }

  publishAll(): void {
    this.#publish(this.#sums.values(), true);
  }

  publishDue(): void {
    const now = this.#options.now();
    const due = [...this.#sums.values()].filter((sum) => sum.isDirty || sum.due <= now);
    if (due.length > 0) this.#publish(due, false);
  }

  #publish(sums: Iterable<SumEntry>, always: boolean): void {
    const members = this.#members();
    const unknown = this.#withUnread();
    for (const sum of sums) {
      const id = sum.group?.id ?? farm;
      this.#publishSum(sum, members.get(id) ?? [], unknown.has(id), always);
    }
  }

  /** `isUnknown`: some members are not known yet, so the published sum stays. */
  #publishSum(sum: SumEntry, miners: readonly MinerWithUid[], isUnknown: boolean, always: boolean): void {
    const { connection, qos, interval, now, units, announcer } = this.#options;
    if (isUnknown && !sum.isDirty && !always) return;
    sum.isDirty = false;
    const { group, name, device, topic } = sum;
    const display = units.ofAll(device, miners);
    if (!isUnknown) {
      const state = groupState(name, miners, display, energyIn(this.energies, group?.id ?? null));
      if (!isDue(sum, state, now(), interval, always)) return;
      connection.publish({ topic, payload: JSON.stringify(state), qos, retain: true, expiry: expirySeconds });
      markPublished(sum, state, now());
    }
    if (group === null) announcer?.farm(miners, display, this.#farm.unnamed);
    else announcer?.group(group, miners, display);
  }

  /** Groups with miners whose state is not known yet, and the farm if there are any. */
  #withUnread(): Set<number> {
    const ids = new Set<number>();
    for (const miner of this.#farm.unread()) for (const id of [farm, ...this.#groupsOf(miner)]) ids.add(id);
    return ids;
  }

  /** Ids of a miner's group and of its parent groups. */
  #groupsOf({ groupId }: Miner): number[] {
    const ids: number[] = [];
    for (let id = groupId; id !== 0 && !ids.includes(id); id = this.#sums.get(id)?.group?.parentId ?? 0) ids.push(id);
    return ids;
  }

  /** The miners of each group, subgroups included, and of the farm. */
  #members(): Map<number, MinerWithUid[]> {
    const members = new Map<number, MinerWithUid[]>();
    for (const miner of this.#farm.named()) {
      for (const id of [farm, ...this.#groupsOf(miner)]) {
        const others = members.get(id);
        if (others === undefined) members.set(id, [miner]);
        else others.push(miner);
      }
    }
    return members;
  }
}
