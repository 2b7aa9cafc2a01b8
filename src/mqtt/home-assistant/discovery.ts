import { createHash } from "node:crypto";
import type { Message, MqttLink } from "../mqtt-link.ts";
import type { DeviceConfig } from "./component.ts";
import { type Before, nothingBefore } from "./entities.ts";
import { type Announced, announcedBy, announcedIn } from "./retained-discovery.ts";

/** The discovery messages at a broker: what was published for each device, and published again only when it is new. */
export class Discovery {
  readonly #connection: Pick<MqttLink, "publish">;
  readonly #prefix: string;
  readonly #devices = new Map<string, { readonly announced: Announced; digest: string | null }>();

  /** Those that were taken away: a broker that was away then has them still. */
  readonly #gone = new Set<string>();

  constructor(connection: Pick<MqttLink, "publish">, prefix: string) {
    this.#connection = connection;
    this.#prefix = prefix;
  }

  /** Ids of all devices that are announced, as far as is known. */
  get ids(): string[] {
    return [...this.#devices.keys()];
  }

  /** The topics of all devices, ours and others'. */
  get filter(): string {
    return this.#topicOf("+");
  }

  /** Takes in what the broker has kept, where it is of the bridge whose state is said at this topic. */
  adopt(message: Message, bridge: string): void {
    const id = message.topic.split("/").at(-2) ?? "";
    const announced = announcedIn(message, bridge);
    if (announced === null || this.#devices.has(id)) return;
    this.#devices.set(id, { announced, digest: digestOf(message.payload) });
  }

  before(id: string): Before {
    const announced = this.#devices.get(id)?.announced;
    if (announced === undefined) return nothingBefore;
    return {
      has: (component) => announced.present.has(component),
      options: (component) => announced.options.get(component) ?? [],
    };
  }

  /**
   * Says how a device is now; null takes it away. A component that is no more is named once more without anything,
   * else Home Assistant would keep it.
   */
  publish(id: string, config: DeviceConfig | null): void {
    if (config === null) {
      if (!this.#devices.delete(id)) return;
      this.#gone.add(id);
      this.#say(id, "");
      return;
    }
    const known = this.#devices.get(id);
    const components = { ...config.components };
    const gone = [...(known?.announced.platforms ?? [])].filter(([component]) => !Object.hasOwn(components, component));
    const all = {
      ...components,
      ...Object.fromEntries(gone.map(([component, platform]) => [component, { platform }])),
    };
    const payload = JSON.stringify({ ...config, components: all });
    const digest = digestOf(payload);
    if (known?.digest === digest) return;
    this.#devices.set(id, { announced: announcedBy(all), digest });
    this.#gone.delete(id);
    this.#say(id, payload);
  }

  /** The broker may have lost everything, or missed something: each device is published again the next time. */
  doubt(): void {
    for (const id of this.#gone) this.#say(id, "");
    for (const device of this.#devices.values()) device.digest = null;
  }

  #say(id: string, payload: string): void {
    this.#connection.publish({ topic: this.#topicOf(id), payload, qos: 1, retain: true });
  }

  #topicOf(id: string): string {
    return `${this.#prefix}/device/${id}/config`;
  }
}

const digestOf = (payload: string | Buffer): string => createHash("sha1").update(payload).digest("base64");
