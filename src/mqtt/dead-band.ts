import { type Property, type PropertyKind, properties } from "../contract/properties.ts";
import type { MinerState } from "./miner-state.ts";

/**
 * How soon a changed state is published: `now` for changes that users wait for, `soon` for readings that moved by more
 * than their dead band, `later`, with the next heartbeat, for everything else.
 */
export type Urgency = "now" | "soon" | "later";

/** How far a reading may move before it is published; a share refers to the last published value. */
const bands: Partial<Record<PropertyKind, { readonly share: number } | { readonly step: number }>> = {
  hashrate: { share: 0.02 },
  power: { step: 5 },
  temperature: { step: 1 },
  speed: { share: 0.05 },
  percent: { step: 1 },
  frequency: { step: 1 },
  voltage: { step: 10 },
};

export function urgencyOf(before: MinerState, after: MinerState): Urgency {
  const keys = Object.keys(after);
  let urgency: Urgency = Object.keys(before).length === keys.length ? "later" : "now";
  for (const key of keys) {
    const each = urgencyOfField(key, before[key], after[key] ?? null);
    if (each === "now") return "now";
    if (each === "soon") urgency = urgency === "now" ? "now" : "soon";
  }
  return urgency;
}

type Value = string | number | null;

function urgencyOfField(field: string, before: Value | undefined, after: Value): Urgency {
  if (before === after) return "later";
  if (before === undefined || typeof before === "string" || typeof after === "string") return "now";
  const nature = natureOf(field);
  if (nature === "prompt") return "now";
  if (nature === "derived") return "later";
  const band = bands[nature];
  if (before === null || after === null) return "soon";
  if (band === undefined) return "later";
  const moved = Math.abs(after - before);
  return moved > ("step" in band ? band.step : band.share * Math.abs(before)) ? "soon" : "later";
}

/**
 * The kind of a figure; `derived` ones move with others. Counts of miners, alarms and found blocks are published at once, like
 * the event of a found block.
 */
type Nature = PropertyKind | "prompt" | "derived";

const natures = new Map<string, Nature>();

function natureOf(field: string): Nature {
  const nature = natures.get(field) ?? findNature(field);
  natures.set(field, nature);
  return nature;
}

function findNature(field: string): Nature {
  if (/^(miners(_|$)|rigs$|alarms$|found_blocks$)/.test(field)) return "prompt";
  const key = field.replace(/^(board|fan)_\d+/, "$1");
  const property = Object.entries<Property>(properties).find(([name]) => name === key)?.[1];
  if (property === undefined) return "derived";
  return property.control === null ? property.kind : "prompt";
}
