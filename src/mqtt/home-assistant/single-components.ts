import type { DeviceConfig } from "./component.ts";
import { componentTopic, type Trace } from "./retained-discovery.ts";

/** Platforms that have no `state_topic`. */
const stateless: readonly string[] = ["button", "climate"];

type WholeDevice = Omit<DeviceConfig, "components"> & { readonly components: Readonly<Record<string, Trace>> };

/**
 * The announcement of a device as one message for each entity, by topic, for programs that do not support device
 * messages. For Home Assistant the entities are the same. A removed component has no message.
 */
export function singleMessages(prefix: string, device: string, config: WholeDevice): Map<string, string> {
  const { components, state_topic, ...shared } = config;
  const messages = new Map<string, string>();
  for (const [id, { platform, ...own }] of Object.entries(components)) {
    if (own.unique_id === undefined) continue;
    const state = stateless.includes(platform) ? {} : { state_topic };
    messages.set(componentTopic(prefix, platform, device, id), JSON.stringify({ ...state, ...shared, ...own }));
  }
  return messages;
}
