import { z } from "zod";
import type { Range } from "../../contract/ranges.ts";
import type { Message } from "../mqtt-link.ts";
import { originName } from "./component.ts";

/** The topic of an announcement: for a whole device, or for one of its components. */
export interface DiscoveryTopic {
  readonly device: string;
  readonly component: { readonly platform: string; readonly id: string } | null;
}

export const deviceTopic = (prefix: string, device: string): string => `${prefix}/device/${device}/config`;

export const componentTopic = (prefix: string, platform: string, device: string, id: string): string =>
  `${prefix}/${platform}/${device}/${id}/config`;

/** The topics of all announcements, including those of other programs. */
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

/** The data of a device's last announcement that the next one needs. */
export interface Announced {
  /** By id; a removed component has only its platform. */
  readonly components: Readonly<Record<string, Trace>>;
  /** What the components depend on besides the rig's state: its model and firmware, and the version of Rigbridge. */
  readonly shape: string;
}

export const nothingAnnounced: Announced = { components: {}, shape: "" };

/** A component, with the parts that are read. */
const Trace = z.looseObject({
  platform: z.string(),
  unique_id: z.string().optional(),
  options: z.array(z.string()).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
});
export type Trace = z.infer<typeof Trace>;

/** The range of a number; null for other components. */
export const rangeOf = ({ min, max }: Readonly<Record<string, unknown>> = {}): Range | null =>
  typeof min === "number" && typeof max === "number" ? { min, max } : null;

const Own = z.looseObject({
  origin: z.object({ name: z.literal(originName), sw_version: z.string().optional() }),
  device: z
    .object({ manufacturer: z.string().optional(), model: z.string().optional(), sw_version: z.string().optional() })
    .optional(),
  availability: z.array(z.object({ topic: z.string() })),
  state_topic: z.string().optional(),
});
const Components = z.record(z.string(), Trace);

/** The keys that the message of a single component repeats from its device. */
const ofDevice = ["origin", "device", "availability", "availability_mode", "state_topic"];

/**
 * The components in a retained discovery message by id; null unless it is from the bridge with the state topic
 * `bridge`: other programs and bridges on the broker are left alone.
 */
export function announcedIn(
  { retained, payload }: Message,
  { component }: DiscoveryTopic,
  bridge: string,
): Announced | null {
  if (!retained || payload.length === 0) return null;
  const { data } = Own.safeParse(jsonOf(payload.toString()));
  const isOwn = data?.state_topic === bridge || data?.availability.some(({ topic }) => topic === bridge);
  if (data === undefined || !isOwn) return null;
  const own = Object.fromEntries(Object.entries(data).filter(([key]) => !ofDevice.includes(key)));
  const announced = component === null ? data.components : { [component.id]: { ...own, platform: component.platform } };
  const components = Components.safeParse(announced).data;
  return components === undefined ? null : { components, shape: shapeOf(data) };
}

/**
 * Withdraws an announcement without removing its entities; the next announcement with the same unique ids continues
 * them (https://www.home-assistant.io/integrations/mqtt/#migration-from-single-component-to-device-based-discovery).
 */
export const migrationMark = '{"migrate_discovery":true}';

export const isMigrationMark = ({ retained, payload }: Message): boolean =>
  retained && payload.toString() === migrationMark;

export const shapeOf = ({ origin, device }: Shape): string =>
  JSON.stringify([origin.sw_version, device?.manufacturer, device?.model, device?.sw_version]);

interface Shape {
  readonly origin: { readonly sw_version?: string | undefined };
  readonly device?: Partial<Readonly<Record<"manufacturer" | "model" | "sw_version", string | undefined>>> | undefined;
}

/** Components of Rigbridge's own functions for a rig, removed once no longer configured. */
const ofSettings: ReadonlySet<string> = new Set(["thermostat", "room_temperature", "heat_demand"]);

/**
 * The components to announce, including previous ones that the rig does not offer now, such as a mode while it sleeps:
 * they stay until its model or firmware changes. A removed component is listed with its platform alone, or Home
 * Assistant would keep it.
 */
export function continued(
  components: Readonly<Record<string, Trace>>,
  last: Announced | undefined,
  shape: string,
): Readonly<Record<string, Trace>> {
  const all: Record<string, Trace> = { ...components };
  const isSame = last?.shape === shape;
  for (const [id, before] of Object.entries(last?.components ?? {})) {
    if (Object.hasOwn(components, id)) continue;
    // A sensor replaces a control that the rig has not offered yet.
    const isReplaced = id.endsWith(readOnly) && Object.hasOwn(components, id.slice(0, -readOnly.length));
    const stays = isSame && before.unique_id !== undefined && !isReplaced && !ofSettings.has(id);
    all[id] = stays ? before : { platform: before.platform };
    if (stays && last?.components[id + readOnly]?.unique_id === undefined) delete all[id + readOnly];
  }
  return all;
}

/** Suffix of the id of a sensor for a property without a control. */
const readOnly = "_now";

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
