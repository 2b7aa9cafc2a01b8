import { type Component, isRecord, isRemoval, jsonOf, readMessage } from "../../mqtt/home-assistant-message.ts";
import type { Subscriber } from "../../mqtt/mosquitto.ts";

/** An entity that Rigbridge announced. */
export interface AnnouncedEntity {
  /** The discovery topic of its device. */
  readonly device: string;
  readonly component: Component;
  readonly uniqueId: string;
  readonly platform: string;
  /** The entity id that it asks for; null if it leaves it to Home Assistant. */
  readonly entityId: string | null;
  readonly isEnabled: boolean;
}

const configTopic = /^homeassistant\/(?:device|[a-z_]+)\/[^/]+(?:\/[^/]+)?\/config$/;

/** A discovery message of any kind, for a device or a single entity. */
export const isDiscovery = (topic: string): boolean => configTopic.test(topic);

/** The last message of each device that is announced at a broker, by topic. */
export function devicesAt(client: Subscriber): Map<string, string> {
  const all = new Map(
    client.received.filter(({ topic }) => isDiscovery(topic)).map(({ topic, payload }) => [topic, payload]),
  );
  return new Map([...all].filter(([, payload]) => payload !== ""));
}

/** The entities of these devices. */
export function entitiesOf(devices: ReadonlyMap<string, string>): AnnouncedEntity[] {
  return [...devices].flatMap(([device, payload]) =>
    (readMessage(payload)?.components ?? []).flatMap((component) => {
      const { unique_id: uniqueId, platform, default_entity_id: entityId, enabled_by_default: enabled } = component.own;
      if (isRemoval(component.own) || typeof uniqueId !== "string" || typeof platform !== "string") return [];
      return [
        {
          device,
          component,
          uniqueId,
          platform,
          entityId: typeof entityId === "string" ? entityId : null,
          isEnabled: enabled !== false,
        },
      ];
    }),
  );
}

/** What an entity reads of the last message at its state topic; undefined if there is none. */
export function publishedValue({ component: { whole } }: AnnouncedEntity, client: Subscriber): unknown {
  const { state_topic: topic, value_template: template } = whole;
  const payload = typeof topic === "string" ? client.last(topic) : undefined;
  if (payload === undefined) return undefined;
  const [, path] = /^\{\{ *value_json\.([\w.]+) *\}\}$/.exec(String(template)) ?? [];
  if (path === undefined) return payload;
  const json: unknown = jsonOf(payload);
  return path.split(".").reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), json);
}
