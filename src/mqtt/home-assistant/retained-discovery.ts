import { z } from "zod";
import type { Message } from "../mqtt-link.ts";
import { originName } from "./component.ts";

/** Where an announcement is: of a whole device, or of one of its components. */
export interface DiscoveryTopic {
  readonly device: string;
  readonly component: { readonly platform: string; readonly id: string } | null;
}

export const deviceTopic = (prefix: string, device: string): string => `${prefix}/device/${device}/config`;

export const componentTopic = (prefix: string, platform: string, device: string, id: string): string =>
  `${prefix}/${platform}/${device}/${id}/config`;

/** The topics of all announcements, of other programs too. */
export const discoveryFilters = (prefix: string): readonly string[] => [
  deviceTopic(prefix, "+"),
  componentTopic(prefix, "+", "+", "+"),
];

export function discoveryTopicIn(prefix: string, topic: string): DiscoveryTopic | null {
  if (!topic.startsWith(`${prefix}/`)) return null;
  const [platform = "", device = "", ...rest] = topic.slice(prefix.length + 1).split("/");
  if (platform === "device") return rest.join("/") === "config" ? { device, component: null } : null;
  const [id = "", last] = rest;
  return rest.length === 2 && last === "config" ? { device, component: { platform, id } } : null;
}

/** A component, as far as it is read again; one that was removed has its platform alone. */
const Trace = z.looseObject({
  platform: z.string(),
  unique_id: z.string().optional(),
  options: z.array(z.string()).optional(),
});
export type Trace = z.infer<typeof Trace>;

const Own = z.looseObject({
  origin: z.object({ name: z.literal(originName) }),
  availability: z.array(z.object({ topic: z.string() })),
  state_topic: z.string().optional(),
});
const Components = z.record(z.string(), Trace);

/** What the message of a single component repeats of its device. */
const ofDevice = ["origin", "device", "availability", "availability_mode", "state_topic"];

/**
 * The components in a retained discovery message by id; null unless it is from the bridge with the state topic `bridge`:
 * other programs and other bridges on the broker are left alone.
 */
export function announcedIn(
  { retained, payload }: Message,
  { component }: DiscoveryTopic,
  bridge: string,
): Readonly<Record<string, Trace>> | null {
  if (!retained || payload.length === 0) return null;
  const { data } = Own.safeParse(jsonOf(payload.toString()));
  const isOwn = data?.state_topic === bridge || data?.availability.some(({ topic }) => topic === bridge);
  if (data === undefined || !isOwn) return null;
  if (component === null) return Components.safeParse(data.components).data ?? null;
  const own = Object.fromEntries(Object.entries(data).filter(([key]) => !ofDevice.includes(key)));
  return Components.safeParse({ [component.id]: { ...own, platform: component.platform } }).data ?? null;
}

/**
 * Takes an announcement back without removing its entities, which the next announcement of the same unique ids continues
 * (https://www.home-assistant.io/integrations/mqtt/#migration-from-single-component-to-device-based-discovery).
 */
export const migrationMark = '{"migrate_discovery":true}';

export const isMigrationMark = ({ retained, payload }: Message): boolean =>
  retained && payload.toString() === migrationMark;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
