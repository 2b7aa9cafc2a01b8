import { facts } from "./home-assistant-facts.ts";

export type Json = Readonly<Record<string, unknown>>;

export interface Component {
  /** Its key in `components`. */
  readonly id: string;
  /** As sent, with long keys and `~` replaced. */
  readonly own: Json;
  /** With what the root shares. */
  readonly whole: Json;
}

/** A discovery message as Home Assistant reads it: with long keys. */
export interface DeviceMessage {
  readonly root: Json;
  readonly device: Json | null;
  readonly origin: Json | null;
  readonly availability: readonly unknown[];
  /** null: they are not an object; entries that are not objects are left out. */
  readonly components: readonly Component[] | null;
}

/** null unless it is a JSON object. */
export function readMessage(payload: string): DeviceMessage | null {
  const sent = jsonOf(payload);
  if (!isRecord(sent)) return null;
  const root = long(sent, facts.shortKeys);
  const shared = Object.fromEntries(Object.entries(root).filter(([key]) => facts.shared.includes(key)));
  return {
    root,
    device: isRecord(root.device) ? long(root.device, facts.shortDeviceKeys) : null,
    origin: isRecord(root.origin) ? long(root.origin, facts.shortOriginKeys) : null,
    availability: availabilityOf(root),
    components: isRecord(root.components)
      ? Object.entries(root.components).flatMap(([id, component]) => {
          if (!isRecord(component)) return [];
          const own = based(long(component, facts.shortKeys));
          return [{ id, own, whole: isRemoval(own) ? own : { ...shared, ...own } }];
        })
      : null,
  };
}

/** A component with only a platform is to be removed. */
export const isRemoval = (component: Json): boolean =>
  Object.keys(component).length === 1 && component.platform !== undefined;

/** One entry may stand for a list of one. */
export function availabilityOf({ availability }: Json): readonly unknown[] {
  if (availability === undefined) return [];
  const entries: readonly unknown[] = Array.isArray(availability) ? availability : [availability];
  return entries.map((entry) => (isRecord(entry) ? long(entry, facts.shortKeys) : entry));
}

/** undefined unless it is JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const long = (record: Json, table: Readonly<Record<string, string>>): Json =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [table[key] ?? key, value]));

/** `~` at one end of a topic stands for the component's `~`. */
function based(component: Json): Json {
  const base = component["~"];
  if (typeof base !== "string") return component;
  return Object.fromEntries(
    Object.entries(component).map(([key, value]) =>
      key.endsWith("topic") && typeof value === "string"
        ? [key, value.replace(/^~/, base).replace(/~$/, base)]
        : [key, value],
    ),
  );
}
