import type { Place } from "../contract/place-operations.ts";
import type { Miner } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import { isHere } from "../contract/site-numbers.ts";
import type { Announcer } from "./announcer.ts";
import { caller } from "./command-inbox.ts";
import type { MinerState } from "./miner-state.ts";
import { PolledTopics, type PolledTopicsOptions } from "./polled-topics.ts";
import { expirySeconds, isDue, markPublished, type TopicState } from "./topic-state.ts";
import type { Topics } from "./topics.ts";

export interface PlaceTopicsOptions extends PolledTopicsOptions {
  readonly service: Pick<MiningService, "listPlaces">;
  readonly topics: Topics;
  readonly announcer: Pick<Announcer, "sites"> | null;
  /** The miners whose state is not known yet; null before the first list of miners. */
  readonly unread: () => readonly Miner[] | null;
  /** Minimum s between two messages with readings of one place. */
  readonly interval: number;
}

interface PlaceEntry extends TopicState {
  readonly topic: string;
  /** The state to publish when due. */
  readonly current: MinerState;
}

/** Publishes the places with the sums of their miners. */
export class PlaceTopics extends PolledTopics {
  readonly #options: PlaceTopicsOptions;
  /** By uid. */
  readonly #entries = new Map<string, PlaceEntry>();

  constructor(options: PlaceTopicsOptions) {
    super(options, "listPlaces");
    this.#options = options;
  }

  /** Publishes what is due; call it about every half second. */
  tick(): void {
    const now = this.#options.now();
    for (const entry of this.#entries.values()) if (entry.due <= now) this.#publish(entry);
  }

  protected override forgetPublished(): void {
    this.#entries.clear();
  }

  protected async readAndPublish(isOffered: boolean): Promise<void> {
    const { service, topics, announcer, unread } = this.#options;
    const places = isOffered ? await service.listPlaces({}, caller) : [];
    const waiting = unread();
    if (waiting === null) return;
    // Those of other sites are published there.
    const own = places.filter(({ id }) => isHere(id));
    for (const uid of this.removedFrom(own.map((each) => each.uid))) {
      this.#entries.delete(uid);
      this.empty(topics.place(uid));
    }
    announcer?.sites(own.filter(({ kind }) => kind === "site"));
    const unknown = placesAround(waiting, own);
    for (const place of own) {
      // What is retained stays until all rigs of the place are known.
      if (unknown.has(place.id)) this.#entries.delete(place.uid);
      else this.#update(place);
    }
  }

  #update(place: Place): void {
    const { topics, now, interval } = this.#options;
    const current = placeState(place);
    const before = this.#entries.get(place.uid) ?? { state: null, at: 0, due: 0 };
    const entry = { ...before, topic: topics.place(place.uid), current };
    this.#entries.set(place.uid, entry);
    if (isDue(entry, current, now(), interval, false)) this.#publish(entry);
  }

  #publish(entry: PlaceEntry): void {
    const { connection, qos, now } = this.#options;
    const { topic, current } = entry;
    connection.publish({ topic, payload: JSON.stringify(current), qos, retain: true, expiry: expirySeconds });
    markPublished(entry, current, now());
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

/** The content of a state topic: flat, in SI units, with the hash rate of each algorithm that is mined there. */
export function placeState({ name, path, kind, rigs, mining, power, hashrates, alarms }: Place): MinerState {
  const rates = Object.fromEntries(hashrates.map(({ algorithm, hashrate }) => [`hashrate_${algorithm}`, hashrate]));
  return { name, path, kind, rigs, mining, power, ...rates, alarms };
}
