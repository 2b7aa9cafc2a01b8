import { type Property, type PropertyKind, properties } from "../contract/properties.ts";
import type { MinerState } from "./miner-state.ts";

/**
 * How soon a state has to be told after another: `now` for what people wait for, `soon` for readings that have moved
 * by more than their dead-band, `later` for all else, with the next heartbeat.
 */
export type Urgency = "now" | "soon" | "later";

/** What a reading may move by before it is told; of a share, that of what was told. */
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
 * What a figure is; `derived` figures move with others. Counts of miners are told at once, and found blocks, of which an
 * event tells at once too.
 */
type Nature = PropertyKind | "prompt" | "derived";

const natures = new Map<string, Nature>();

function natureOf(field: string): Nature {
  const known = natures.get(field) ?? findNature(field);
  natures.set(field, known);
  return known;
}

function findNature(field: string): Nature {
  if (/^(miners(_|$)|found_blocks$)/.test(field)) return "prompt";
  const key = field.replace(/^(board|fan)_\d+/, "$1");
  const property = Object.entries<Property>(properties).find(([name]) => name === key)?.[1];
  if (property === undefined) return "derived";
  return property.control === null ? property.kind : "prompt";
}
