import { createHash } from "node:crypto";
import type { HomeAssistantSettings } from "../../config/mqtt.ts";
import type { Message, MqttLink } from "../mqtt-link.ts";
import type { Schedule } from "../read-retained.ts";
import type { DeviceConfig } from "./component.ts";
import { noPrevious, type PreviousComponents } from "./entities.ts";
import {
  type Announced,
  announcedIn,
  continued,
  deviceTopic,
  discoveryFilters,
  discoveryTopicIn,
  isMigrationMark,
  migrationMark,
  nothingAnnounced,
  rangeOf,
  shapeOf,
} from "./retained-discovery.ts";
import { singleMessages } from "./single-components.ts";

export interface DiscoveryOptions {
  readonly connection: Pick<MqttLink, "publish" | "settled" | "isConnected">;
  readonly settings: Pick<HomeAssistantSettings, "prefix" | "components">;
  readonly schedule: Schedule;
  /** How long Home Assistant has to let go of entities before they are announced in another form. */
  readonly migrateMs: number;
}

interface Device {
  announced: Announced;
  /** The digest of the message at each topic; null: publish it again next time. */
  readonly messages: Map<string, string | null>;
}

/** From one message for a device to one for each entity, or back. */
interface Migration {
  /** The topics that the device leaves. */
  readonly from: readonly string[];
  /** The announcement that follows once Home Assistant has let go of the entities. */
  next: DeviceConfig;
  announced: () => void;
  readonly cancel: () => void;
}

/** The discovery messages on a broker: each is published again only if it differs. */
export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #devices = new Map<string, Device>();
  readonly #migrations = new Map<string, Migration>();
  /** Topics with the migration mark of an earlier run that did not finish, by device. */
  readonly #marked = new Map<string, Set<string>>();
  /** Emptied topics whose messages may still be on the broker. */
  readonly #emptied = new Set<string>();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  get ids(): string[] {
    return [...this.#devices.keys()];
  }

  /** The topics of all announcements, including those of other programs. */
  get filters(): readonly string[] {
    return discoveryFilters(this.#prefix);
  }

  /** Reads a retained message, if it is from the bridge with this state topic. */
  adopt(message: Message, bridge: string): void {
    const { topic } = message;
    const at = discoveryTopicIn(this.#prefix, topic);
    if (at === null) return;
    if (isMigrationMark(message)) {
      this.#marked.set(at.device, new Set([...(this.#marked.get(at.device) ?? []), topic]));
      return;
    }
    const device = this.#devices.get(at.device) ?? newDevice();
    const announced = device.messages.has(topic) ? null : announcedIn(message, at, bridge);
    if (announced === null) return;
    device.announced = { ...announced, components: { ...device.announced.components, ...announced.components } };
    device.messages.set(topic, digestOf(message.payload));
    this.#devices.set(at.device, device);
  }

  previous(id: string): PreviousComponents {
    const components = this.#devices.get(id)?.announced.components;
    if (components === undefined) return noPrevious;
    return {
      has: (component) => components[component]?.unique_id !== undefined,
      options: (component) => components[component]?.options ?? [],
      range: (component) => rangeOf(components[component]),
    };
  }

  /** Whether a device is announced. */
  has(id: string): boolean {
    return this.#devices.has(id);
  }

  /** Publishes a device; null removes it. Calls `announced` after publishing anything but a removal. */
  publish(id: string, config: DeviceConfig | null, announced = (): void => {}): void {
    if (config === null) {
      this.#remove(id);
      return;
    }
    const device = this.#devices.get(id) ?? newDevice();
    this.#devices.set(id, device);
    const migration = this.#migrations.get(id);
    const from = migration === undefined ? this.#otherForm(id, device) : [];
    if (from.length > 0) this.#migrate(id, from, config, announced);
    else if (migration !== undefined) Object.assign(migration, { next: config, announced });
    else if (this.#announce(id, device, config)) announced();
  }

  /** The broker may have lost or missed messages: each device is published again next time. */
  doubt(): void {
    for (const topic of this.#emptied) this.#empty(topic);
    for (const { messages } of this.#devices.values()) for (const topic of messages.keys()) messages.set(topic, null);
    for (const [id, { from, cancel }] of this.#migrations) {
      cancel();
      for (const topic of from) this.#devices.get(id)?.messages.set(topic, null);
    }
    this.#migrations.clear();
  }

  close(): void {
    for (const { cancel } of this.#migrations.values()) cancel();
  }

  get #prefix(): string {
    return this.#options.settings.prefix;
  }

  get #isSingle(): boolean {
    return this.#options.settings.components === "single";
  }

  #remove(id: string): void {
    const topics = [...(this.#devices.get(id)?.messages.keys() ?? []), ...(this.#migrations.get(id)?.from ?? [])];
    this.#migrations.get(id)?.cancel();
    this.#migrations.delete(id);
    this.#devices.delete(id);
    for (const topic of topics) this.#empty(topic);
  }

  /** Returns whether anything was published. */
  #announce(id: string, device: Device, config: DeviceConfig): boolean {
    const shape = shapeOf(config);
    device.announced = { components: continued(config.components, device.announced, shape), shape };
    const whole = { ...config, components: device.announced.components };
    const messages = this.#isSingle
      ? singleMessages(this.#prefix, id, whole)
      : new Map([[deviceTopic(this.#prefix, id), JSON.stringify(whole)]]);
    for (const topic of [...device.messages.keys()]) {
      if (messages.has(topic)) continue;
      device.messages.delete(topic);
      this.#empty(topic);
    }
    let isNew = false;
    for (const [topic, payload] of messages) {
      const digest = digestOf(payload);
      if (device.messages.get(topic) === digest) continue;
      device.messages.set(topic, digest);
      this.#emptied.delete(topic);
      this.#send(topic, payload);
      isNew = true;
    }
    return isNew;
  }

  /** The topics at which a device was announced in the other form. */
  #otherForm(id: string, { messages }: Device): string[] {
    for (const topic of this.#marked.get(id) ?? []) messages.set(topic, null);
    this.#marked.delete(id);
    return [...messages.keys()].filter(
      (topic) => (discoveryTopicIn(this.#prefix, topic)?.component === null) === this.#isSingle,
    );
  }

  /**
   * Asks Home Assistant to let go of the entities, empties the old messages and announces the entities in the new form,
   * so they keep their ids, settings and history. Home Assistant documents the last two steps in the other order, but
   * then it warns of each emptied message.
   */
  #migrate(id: string, from: readonly string[], next: DeviceConfig, announced: () => void): void {
    const { schedule, migrateMs } = this.#options;
    for (const topic of from) {
      this.#devices.get(id)?.messages.delete(topic);
      this.#send(topic, migrationMark);
    }
    const proceed = (): void => {
      this.#migrations.delete(id);
      for (const topic of from) this.#empty(topic);
      this.publish(id, migration.next, migration.announced);
    };
    const migration: Migration = { from, next, announced, cancel: schedule(proceed, migrateMs) };
    this.#migrations.set(id, migration);
  }

  /** Once: Home Assistant reports an error for each further time. */
  #empty(topic: string): void {
    const { connection } = this.#options;
    const { isConnected } = connection;
    this.#emptied.add(topic);
    this.#send(topic, "");
    void connection.settled().then(() => {
      if (isConnected && connection.isConnected) this.#emptied.delete(topic);
    });
  }

  #send(topic: string, payload: string): void {
    this.#options.connection.publish({ topic, payload, qos: 1, retain: true });
  }
}

const newDevice = (): Device => ({ announced: nothingAnnounced, messages: new Map() });

const digestOf = (payload: string | Buffer): string => createHash("sha1").update(payload).digest("base64");
