import { z } from "zod";
import type { Message } from "../mqtt-link.ts";
import { originName } from "./component.ts";

/** What a device was announced with; of its components, what has to be known to go on with them. */
export interface Announced {
  /** Platform of each component by its id, also of those that are no more. */
  readonly platforms: ReadonlyMap<string, string>;
  readonly present: ReadonlySet<string>;
  /** Options of each select by its id. */
  readonly options: ReadonlyMap<string, readonly string[]>;
}

const OurDevice = z.object({
  origin: z.object({ name: z.literal(originName) }),
  availability: z.array(z.object({ topic: z.string() })),
  components: z.record(
    z.string(),
    z.object({
      platform: z.string(),
      unique_id: z.string().optional(),
      options: z.array(z.string()).optional(),
    }),
  ),
});

/**
 * Reads a discovery message that the broker has kept; null for what is not of the bridge whose state is said at
 * `bridge`: others, and other bridges at the same broker, are left alone.
 */
export function announcedIn({ retained, payload }: Message, bridge: string): Announced | null {
  if (!retained || payload.length === 0) return null;
  const { data } = OurDevice.safeParse(jsonOf(payload.toString()));
  const isOurs = data?.availability.some(({ topic }) => topic === bridge) ?? false;
  return data === undefined || !isOurs ? null : announcedBy(data.components);
}

interface Trace {
  readonly platform: string;
  readonly unique_id?: unknown;
  readonly options?: unknown;
}

export function announcedBy(components: Readonly<Record<string, Trace>>): Announced {
  const all = Object.entries(components);
  return {
    platforms: new Map(all.map(([id, { platform }]) => [id, platform])),
    present: new Set(all.flatMap(([id, component]) => (component.unique_id === undefined ? [] : [id]))),
    options: new Map(all.flatMap(([id, { options }]) => (isTexts(options) ? [[id, options]] : []))),
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
