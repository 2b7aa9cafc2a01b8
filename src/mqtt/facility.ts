import type { OperationName } from "../contract/operations.ts";
import type { FacilityDeviceState } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import type { Announcer } from "./announcer.ts";
import { caller } from "./command-inbox.ts";
import type { StateLink } from "./handover.ts";
import { expirySeconds, heartbeatMs } from "./topic-state.ts";
import type { Topics } from "./topics.ts";

export interface FacilityTopicsOptions {
  readonly service: Pick<MiningService, "listFacility">;
  readonly connection: StateLink;
  readonly topics: Topics;
  readonly announcer: Pick<Announcer, "facility"> | null;
  /** QoS of state topics. */
  readonly qos: 0 | 1;
  /** Epoch ms. */
  readonly now: () => number;
}

interface Published {
  readonly state: string;
  readonly availability: string;
  /** Epoch ms. */
  readonly at: number;
}

/** Publishes the facility devices; no event reports their readings, so they are read at an interval. */
export class FacilityTopics {
  readonly #options: FacilityTopicsOptions;
  readonly #published = new Map<string, Published>();
  /** Null before the first answer. */
  #keys: ReadonlySet<string> | null = null;
  /** Null before the operations of the service are known: an empty list would remove what an earlier run published. */
  #isOffered: boolean | null = null;
  #reading: Promise<void> | null = null;

  constructor(options: FacilityTopicsOptions) {
    this.#options = options;
  }

  /** The operations of the service, which an older one may lack. */
  follow(features: ReadonlySet<OperationName>): void {
    this.#isOffered = features.has("listFacility");
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

  /** Whether this device exists; null while that is not known. */
  has(key: string): boolean | null {
    return this.#keys === null ? null : this.#keys.has(key);
  }

  async #read(): Promise<void> {
    const { service, announcer } = this.#options;
    if (this.#isOffered === null) return;
    const devices = this.#isOffered ? await service.listFacility({}, caller) : [];
    // The devices of other sites have a slash in their keys, and are published there.
    const own = devices.filter(({ key }) => !/[^a-z0-9_-]/.test(key));
    const before = this.#keys ?? new Set();
    this.#keys = new Set(own.map(({ key }) => key));
    for (const key of before) if (!this.#keys.has(key)) this.#empty(key);
    announcer?.facility(own);
    for (const device of own) this.#publish(device);
  }

  #publish(device: FacilityDeviceState): void {
    const { connection, topics, qos, now } = this.#options;
    const { state: topic, availability: availabilityTopic } = topics.facility(device.key);
    const before = this.#published.get(device.key);
    const state = JSON.stringify(facilityState(device));
    const availability = device.state === "silent" || device.state === "unread" ? "offline" : "online";
    const isOld = before === undefined || now() - before.at >= heartbeatMs * (5 / 6);
    if (isOld || before.state !== state)
      connection.publish({ topic, payload: state, qos, retain: true, expiry: expirySeconds });
    if (before?.availability !== availability)
      connection.publish({ topic: availabilityTopic, payload: availability, qos: 1, retain: true });
    const at = isOld || before.state !== state ? now() : before.at;
    this.#published.set(device.key, { state, availability, at });
  }

  #empty(key: string): void {
    const { connection, topics } = this.#options;
    this.#published.delete(key);
    const { state, availability } = topics.facility(key);
    for (const topic of [state, availability]) connection.publish({ topic, payload: "", qos: 1, retain: true });
  }
}

/** What a state topic says; a reading that is not known is null. Without the age, which would change each time. */
export function facilityState({ name, kind, state, problem, place, readings, outlets }: FacilityDeviceState): object {
  const { on, ...figures } = readings;
  const switched = Object.fromEntries(outlets.map((outlet) => [`outlet_${outlet.n}`, onOff(outlet.on)]));
  return { name, kind, state, problem, place, ...figures, on: onOff(on), ...switched };
}

const onOff = (on: boolean | null): "ON" | "OFF" | null => (on === null ? null : on ? "ON" : "OFF");
