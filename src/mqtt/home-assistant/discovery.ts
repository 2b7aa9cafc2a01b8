import { createHash } from "node:crypto";
import type { Message, MqttLink } from "../mqtt-link.ts";
import type { DeviceConfig } from "./component.ts";
import { noPrevious, type PreviousComponents } from "./entities.ts";
import { type Announced, announcedBy, announcedIn } from "./retained-discovery.ts";

/** The discovery messages on a broker: each device's is published again only when it differs. */
export class Discovery {
  readonly #connection: Pick<MqttLink, "publish">;
  readonly #prefix: string;
  readonly #devices = new Map<string, { readonly announced: Announced; digest: string | null }>();
  /** Removed devices: a broker that was away at the time still has them. */
  readonly #removed = new Set<string>();

  constructor(connection: Pick<MqttLink, "publish">, prefix: string) {
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
    const announced = this.#devices.get(id)?.announced;
    if (announced === undefined) return noPrevious;
    return {
      has: (component) => announced.present.has(component),
      options: (component) => announced.options.get(component) ?? [],
      range: (component) => announced.ranges.get(component) ?? null,
    };
  }

  /**
   * Publishes a device; null removes it. A component that has gone is listed once more with its platform alone, or
   * Home Assistant would keep it.
   */
  publish(id: string, config: DeviceConfig | null): void {
    if (config === null) {
      if (!this.#devices.delete(id)) return;
      this.#removed.add(id);
      this.#send(id, "");
      return;
    }
    const last = this.#devices.get(id);
    const components = { ...config.components };
    const gone = [...(last?.announced.platforms ?? [])].filter(([component]) => !Object.hasOwn(components, component));
    const all = {
      ...components,
      ...Object.fromEntries(gone.map(([component, platform]) => [component, { platform }])),
    };
    const payload = JSON.stringify({ ...config, components: all });
    const digest = digestOf(payload);
    if (last?.digest === digest) return;
    this.#devices.set(id, { announced: announcedBy(all), digest });
    this.#removed.delete(id);
    this.#send(id, payload);
  }

  /** The broker may have lost or missed messages: each device is published again the next time. */
  doubt(): void {
    for (const id of this.#removed) this.#send(id, "");
    for (const device of this.#devices.values()) device.digest = null;
  }

  #send(id: string, payload: string): void {
    this.#connection.publish({ topic: this.#topicOf(id), payload, qos: 1, retain: true });
  }

  #topicOf(id: string): string {
    return `${this.#prefix}/device/${id}/config`;
  }
}

const digestOf = (payload: string | Buffer): string => createHash("sha1").update(payload).digest("base64");
