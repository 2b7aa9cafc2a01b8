import { z } from "zod";
import type { Range } from "../../contract/ranges.ts";
import type { Message } from "../mqtt-link.ts";
import { originName } from "./component.ts";

/** What is needed of a device's last announcement to continue with its components. */
export interface Announced {
  /** Platform of each component by id, removed ones too. */
  readonly platforms: ReadonlyMap<string, string>;
  readonly present: ReadonlySet<string>;
  /** Options of each select by id. */
  readonly options: ReadonlyMap<string, readonly string[]>;
  /** Of each number by id. */
  readonly ranges: ReadonlyMap<string, Range>;
}

const RigbridgeDevice = z.object({
  origin: z.object({ name: z.literal(originName) }),
  availability: z.array(z.object({ topic: z.string() })),
  components: z.record(
    z.string(),
    z.object({
      platform: z.string(),
      unique_id: z.string().optional(),
      options: z.array(z.string()).optional(),
      min: z.number().optional(),
      max: z.number().optional(),
    }),
  ),
});

/**
 * Reads a retained discovery message; null unless it is from the bridge with the state topic `bridge`: other programs
 * and other bridges on the broker are left alone.
 */
export function announcedIn({ retained, payload }: Message, bridge: string): Announced | null {
  if (!retained || payload.length === 0) return null;
  const { data } = RigbridgeDevice.safeParse(jsonOf(payload.toString()));
  const isOwn = data?.availability.some(({ topic }) => topic === bridge) ?? false;
  return data === undefined || !isOwn ? null : announcedBy(data.components);
}

interface Trace {
  readonly platform: string;
  readonly unique_id?: unknown;
  readonly options?: unknown;
  readonly min?: unknown;
  readonly max?: unknown;
}

export function announcedBy(components: Readonly<Record<string, Trace>>): Announced {
  const all = Object.entries(components);
  return {
    platforms: new Map(all.map(([id, { platform }]) => [id, platform])),
    present: new Set(all.flatMap(([id, component]) => (component.unique_id === undefined ? [] : [id]))),
    options: new Map(all.flatMap(([id, { options }]) => (isTexts(options) ? [[id, options]] : []))),
    ranges: new Map(
      all.flatMap(([id, { min, max }]) =>
        typeof min === "number" && typeof max === "number" ? [[id, { min, max }]] : [],
      ),
    ),
  };
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
