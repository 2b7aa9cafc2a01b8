import { createHash } from "node:crypto";
import type { Message, MqttLink } from "../mqtt-link.ts";
import type { DeviceConfig } from "./component.ts";
import { noPrevious, type PreviousComponents } from "./entities.ts";
import { type Announced, announcedIn, continued, rangeOf, shapeOf } from "./retained-discovery.ts";

type Link = Pick<MqttLink, "publish" | "settled" | "isConnected">;

/** The discovery messages on a broker: each device's is published again only when it differs. */
export class Discovery {
  readonly #connection: Link;
  readonly #prefix: string;
  readonly #devices = new Map<string, { readonly announced: Announced; digest: string | null }>();
  /** Removed devices that the broker may still have. */
  readonly #removed = new Set<string>();

  constructor(connection: Link, prefix: string) {
    this.#connection = connection;
    this.#prefix = prefix;
  }

  get ids(): string[] {
    return [...this.#devices.keys()];
  }

  /** The topics of all devices, of other programs too. */
  get filter(): string {
    return this.#topicOf("+");
  }

  /** Reads a retained message, if it is from the bridge with this state topic. */
  adopt(message: Message, bridge: string): void {
    const id = message.topic.split("/").at(-2) ?? "";
    const announced = announcedIn(message, bridge);
    if (announced === null || this.#devices.has(id)) return;
    this.#devices.set(id, { announced, digest: digestOf(message.payload) });
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

  /** Publishes a device; null removes it. Returns whether there was anything to publish. */
  publish(id: string, config: DeviceConfig | null): boolean {
    if (config === null) {
      const isThere = this.#devices.delete(id);
      if (isThere) this.#remove(id);
      return isThere;
    }
    const last = this.#devices.get(id);
    const shape = shapeOf(config);
    const components = continued(config.components, last?.announced, shape);
    const payload = JSON.stringify({ ...config, components });
    const digest = digestOf(payload);
    if (last?.digest === digest) return false;
    this.#devices.set(id, { announced: { components, shape }, digest });
    this.#removed.delete(id);
    this.#send(id, payload);
    return true;
  }

  /** The broker may have lost or missed messages: each device is published again the next time. */
  doubt(): void {
    for (const id of this.#removed) this.#remove(id);
    for (const device of this.#devices.values()) device.digest = null;
  }

  /** Once: Home Assistant reports an error for each further time. */
  #remove(id: string): void {
    const { isConnected } = this.#connection;
    this.#removed.add(id);
    this.#send(id, "");
    void this.#connection.settled().then(() => {
      if (isConnected && this.#connection.isConnected) this.#removed.delete(id);
    });
  }

  #send(id: string, payload: string): void {
    this.#connection.publish({ topic: this.#topicOf(id), payload, qos: 1, retain: true });
  }

  #topicOf(id: string): string {
    return `${this.#prefix}/device/${id}/config`;
  }
}

const digestOf = (payload: string | Buffer): string => createHash("sha1").update(payload).digest("base64");
