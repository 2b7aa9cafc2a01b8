import { z } from "zod";
import type { Range } from "../../contract/ranges.ts";
import type { Message } from "../mqtt-link.ts";
import { originName } from "./component.ts";

/** What is needed of a device's last announcement to continue with its components. */
export interface Announced {
  /** By id; one that was removed has its platform alone. */
  readonly components: Readonly<Record<string, Trace>>;
  /** What the components depend on besides the rig's state: its model and firmware, and the version of Rigbridge. */
  readonly shape: string;
}

/** A component, as far as it is read again. */
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

const RigbridgeDevice = z.object({
  origin: z.object({ name: z.literal(originName), sw_version: z.string().optional() }),
  availability: z.array(z.object({ topic: z.string() })),
  device: z
    .object({ manufacturer: z.string().optional(), model: z.string().optional(), sw_version: z.string().optional() })
    .optional(),
  components: z.record(z.string(), Trace),
});

/**
 * Reads a retained discovery message; null unless it is from the bridge with the state topic `bridge`: other programs
 * and other bridges on the broker are left alone.
 */
export function announcedIn({ retained, payload }: Message, bridge: string): Announced | null {
  if (!retained || payload.length === 0) return null;
  const { data } = RigbridgeDevice.safeParse(jsonOf(payload.toString()));
  const isOwn = data?.availability.some(({ topic }) => topic === bridge) ?? false;
  return data === undefined || !isOwn ? null : { components: data.components, shape: shapeOf(data) };
}

export const shapeOf = ({ origin, device }: Shape): string =>
  JSON.stringify([origin.sw_version, device?.manufacturer, device?.model, device?.sw_version]);

interface Shape {
  readonly origin: { readonly sw_version?: string | undefined };
  readonly device?: Partial<Readonly<Record<"manufacturer" | "model" | "sw_version", string | undefined>>> | undefined;
}

/** Components of what Rigbridge itself does with a rig: they go when that is no longer configured. */
const ofSettings: ReadonlySet<string> = new Set(["thermostat", "room_temperature", "heat_demand"]);

/**
 * The components to announce, with those that the last announcement had and the rig does not offer now, such as a mode
 * while it sleeps: they stay until its model or firmware is another. One that has gone is listed with its platform alone,
 * or Home Assistant would keep it.
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
    // A sensor takes the place of a control that the rig has not offered yet.
    const isReplaced = id.endsWith(readOnly) && Object.hasOwn(components, id.slice(0, -readOnly.length));
    const stays = isSame && before.unique_id !== undefined && !isReplaced && !ofSettings.has(id);
    all[id] = stays ? before : { platform: before.platform };
    if (stays && last?.components[id + readOnly]?.unique_id === undefined) delete all[id + readOnly];
  }
  return all;
}

/** Ends the id of the sensor for a property without a control. */
const readOnly = "_now";

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
