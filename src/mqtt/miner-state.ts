import {
  type Part,
  type Property,
  type PropertyKey,
  type PropertyValue,
  partsOf,
  properties,
} from "../contract/properties.ts";
import type { Miner } from "../contract/resources.ts";
import { poolInUse } from "../farm/index.ts";

/** A miner as flat JSON: every key is there as long as the miner has its shape, null for what is unknown. */
export type MinerState = Readonly<Record<string, string | number | null>>;

/** The unit in which a device's hash rate is shown to people: one for good, since statistics break when it moves. */
export interface DisplayUnit {
  /** "TH/s". */
  readonly name: string;
  /** H/s (or Sol/s, G/s) of one of it. */
  readonly size: number;
}

/** The name of a property in the JSON and in topics: `power`, `board_1_temperature`, `fan_0_rpm`. */
export function fieldOf(key: PropertyKey, part: Part): string {
  const { of }: Property = properties[key];
  if (of === "miner") return key;
  const called = (): string => key.replace(of, `${of}_${part}`);
  if (part > 99) return called();
  const names = fieldNames.get(key) ?? new Map<Part, string>();
  fieldNames.set(key, names);
  const name = names.get(part) ?? called();
  names.set(part, name);
  return name;
}

/** Each is asked for with every reading. */
const fieldNames = new Map<PropertyKey, Map<Part, string>>();

export function minerState(miner: Miner, display: DisplayUnit | null): MinerState {
  const state: Record<string, string | number | null> = { name: miner.name };
  for (const key of propertyKeys) {
    const { kind, read }: Property = properties[key];
    if (kind === "trigger") continue;
    for (const part of partsOf(miner, key)) {
      state[fieldOf(key, part)] = jsonOf(kind, read(miner, part));
      if (kind === "hashrate") state[`${fieldOf(key, part)}_display`] = shown(read(miner, part), display);
    }
  }
  // To the Wh: a counter that moves in coarse steps would show consumption in bursts.
  state.energy_kwh = miner.readings.energy === null ? null : miner.readings.energy / 1000;
  state.efficiency_j_th = scaled(miner.readings.efficiency, 1e-12);
  state.heat_demand_percent = scaled(miner.heating?.demand ?? null, 0.01);
  // It is switched off with the miner.
  state.heating_mode = miner.heating === null ? null : "heat";
  state.heating_action = miner.heating === null ? null : heatingAction(miner);
  state.reason_text = jsonOf("text", miner.readings.reason?.text ?? null);
  state.reason_since = miner.readings.reason?.since ?? null;
  state.has_problem = state.problem === null ? "OFF" : "ON";
  state.pool_name = jsonOf("text", poolInUse(miner));
  // A word, as "auto", is no number.
  state.fan_number = typeof state.fan === "number" ? state.fan : null;
  return state;
}

/** What the rig does for its room. */
const heatingAction = ({ isRunning, statusInfo }: Miner): "heating" | "idle" | "off" => {
  if (isRunning) return "heating";
  return statusInfo.statusDisplay === "Disabled" || statusInfo.statusDisplay === "Disconnected" ? "off" : "idle";
};

export const propertyKeys = Object.keys(properties).filter((key): key is PropertyKey => Object.hasOwn(properties, key));

/** "ON" and "OFF" for switches: Home Assistant would see True and False otherwise. It takes 255 characters of a text. */
function jsonOf(kind: Property["kind"], value: PropertyValue): string | number | null {
  if (typeof value === "boolean") return value ? "ON" : "OFF";
  if (typeof value !== "string") return value;
  return (kind === "status" ? value.toLowerCase() : value).slice(0, 250);
}

const shown = (value: PropertyValue, display: DisplayUnit | null): number | null =>
  typeof value === "number" && display !== null ? rounded(value / display.size) : null;

const scaled = (value: number | null, size: number): number | null => (value === null ? null : rounded(value / size));

/** To six digits: more of them are noise, and would make every message another. */
const rounded = (value: number): number => Number(value.toPrecision(6));

const prefixes = ["", "k", "M", "G", "T", "P", "E"] as const;

/** The unit that fits a hash rate best, for a device that has none yet; null while it is not known. */
export function displayUnitFor(hashrate: number | null, unit = "H/s"): DisplayUnit | null {
  if (hashrate === null || hashrate <= 0) return null;
  const step = Math.min(prefixes.length - 1, Math.max(0, Math.floor(Math.log10(hashrate) / 3 + 1e-9)));
  return { name: `${prefixes[step]}${unit}`, size: 1000 ** step };
}
