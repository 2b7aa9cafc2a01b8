import type { OperationName } from "../contract/operations.ts";
import type { Place } from "../contract/place-operations.ts";
import type { Miner } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import { isHere } from "../contract/site-numbers.ts";
import type { Announcer } from "./announcer.ts";
import { caller } from "./command-inbox.ts";
import type { StateLink } from "./handover.ts";
import type { MinerState } from "./miner-state.ts";
import { expirySeconds, isDue, markPublished, type TopicState } from "./topic-state.ts";
import type { Topics } from "./topics.ts";

export interface PlaceTopicsOptions {
  readonly service: Pick<MiningService, "listPlaces">;
  readonly connection: StateLink;
  readonly topics: Topics;
  readonly announcer: Pick<Announcer, "sites"> | null;
  /** The miners whose state is not known yet; null before the first list of miners. */
  readonly unread: () => readonly Miner[] | null;
  /** QoS of state topics. */
  readonly qos: 0 | 1;
  /** Minimum s between two messages with readings of one place. */
  readonly interval: number;
  /** Epoch ms. */
  readonly now: () => number;
}

interface PlaceEntry extends TopicState {
  readonly topic: string;
  /** The state to publish when due. */
  readonly current: MinerState;
}

/** Publishes the places with the sums of their miners; no event reports the sums, so they are read at an interval. */
export class PlaceTopics {
  readonly #options: PlaceTopicsOptions;
  readonly #published = new Map<string, PlaceEntry>();
  /** Null before the first answer. */
  #uids: ReadonlySet<string> | null = null;
  /** Null before the operations of the service are known: an empty list would remove what an earlier run published. */
  #isOffered: boolean | null = null;
  #reading: Promise<void> | null = null;

  constructor(options: PlaceTopicsOptions) {
    this.#options = options;
  }

  /** The operations of the service, which an older one may lack. */
  follow(features: ReadonlySet<OperationName>): void {
    this.#isOffered = features.has("listPlaces");
    void this.read();
  }

  /** Reads and publishes what has changed, or everything with `always`. Never rejects: the next call tries again. */
  read(always = false): Promise<void> {
    if (always) this.#published.clear();
    this.#reading ??= this.#read()
      .catch(() => undefined)
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  /** Publishes what is due; call it about every half second. */
  tick(): void {
    const now = this.#options.now();
    for (const entry of this.#published.values()) if (entry.due <= now) this.#publish(entry);
  }

  /** Whether this place exists; null while that is not known. */
  has(uid: string): boolean | null {
    return this.#uids === null ? null : this.#uids.has(uid);
  }

  async #read(): Promise<void> {
    const { service, announcer, unread } = this.#options;
    if (this.#isOffered === null) return;
    const places = this.#isOffered ? await service.listPlaces({}, caller) : [];
    const waiting = unread();
    if (waiting === null) return;
    // Those of other sites are published there.
    const own = places.filter(({ id }) => isHere(id));
    const before = this.#uids ?? new Set();
    this.#uids = new Set(own.map(({ uid }) => uid));
    for (const uid of before) if (!this.#uids.has(uid)) this.#empty(uid);
    announcer?.sites(own.filter(({ kind }) => kind === "site"));
    const unknown = placesAround(waiting, own);
    for (const place of own) {
      // What is retained stays until all rigs of the place are known.
      if (unknown.has(place.id)) this.#published.delete(place.uid);
      else this.#update(place);
    }
  }

  #update(place: Place): void {
    const { topics, now, interval } = this.#options;
    const current = placeState(place);
    const before = this.#published.get(place.uid) ?? { state: null, at: 0, due: 0 };
    const entry = { ...before, topic: topics.place(place.uid), current };
    this.#published.set(place.uid, entry);
    if (isDue(entry, current, now(), interval, false)) this.#publish(entry);
  }

  #publish(entry: PlaceEntry): void {
    const { connection, qos, now } = this.#options;
    const { topic, current } = entry;
    connection.publish({ topic, payload: JSON.stringify(current), qos, retain: true, expiry: expirySeconds });
    markPublished(entry, current, now());
  }

  #empty(uid: string): void {
    const { connection, topics } = this.#options;
    this.#published.delete(uid);
    connection.publish({ topic: topics.place(uid), payload: "", qos: 1, retain: true });
  }
}

/** The places of these miners, and those around them: their sums are not known. */
function placesAround(miners: readonly Miner[], places: readonly Place[]): ReadonlySet<number> {
  const parents = new Map(places.map(({ id, parentId }) => [id, parentId]));
  const around = new Set<number>();
  for (const { placeId = null } of miners)
    for (let id: number | null = placeId; id !== null && !around.has(id); id = parents.get(id) ?? null) around.add(id);
  return around;
}

/** What a state topic says: flat, in SI units, with the hash rate of each algorithm that is mined there. */
export function placeState({ name, path, kind, rigs, mining, power, hashrates, alarms }: Place): MinerState {
  const rates = Object.fromEntries(hashrates.map(({ algorithm, hashrate }) => [`hashrate_${algorithm}`, hashrate]));
  return { name, path, kind, rigs, mining, power, ...rates, alarms };
}
