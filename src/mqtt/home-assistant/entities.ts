import { type Part, type Property, type PropertyKey, partsOf, properties } from "../../contract/properties.ts";
import { type Control, ReasonCode } from "../../contract/readings.ts";
import { type Miner, minerStatuses } from "../../contract/resources.ts";
import { listedPools } from "../../farm/index.ts";
import { fieldOf, type MinerState, propertyKeys } from "../miner-state.ts";
import type { ThingTopics } from "../topics.ts";
import {
  binarySensor,
  button,
  type Component,
  type Components,
  number,
  select,
  sensor,
  thermostat,
  toggle,
} from "./component.ts";

/** What the entities of a miner are made of. */
export interface Subject {
  readonly miner: Miner;
  readonly state: MinerState;
  readonly topics: ThingTopics;
  /** "TH/s"; null while it is not known. */
  readonly hashrateUnit: string | null;
  /** "SEK"; null while it is not known. */
  readonly currency: string | null;
  /** Boards, fans and shares are switched on from the start. */
  readonly detail: boolean;
  /** Names of the pools that rigs can be sent to, beside those that they list; null while they are not known. */
  readonly pools: readonly string[] | null;
  /** What was announced before. */
  readonly before: Before;
}

/** What was announced before stays while the rig is off or does not say it. */
export interface Before {
  has(component: string): boolean;
  /** Of a select. */
  options(component: string): readonly string[];
}

export const nothingBefore: Before = { has: () => false, options: () => [] };

/** One property of one miner, or of one of its parts. */
interface Shown extends Subject {
  readonly key: PropertyKey;
  readonly part: Part;
  /** In the JSON, in topics, and the component's id. */
  readonly field: string;
  readonly property: Property;
  readonly control: Control | undefined;
}

type Entities = (shown: Shown) => Components;

/** The entities of a miner, by ids that stay as long as its properties do. */
export function entitiesOf(subject: Subject): Components {
  const { miner } = subject;
  const all: Record<string, Component> = {};
  for (const key of propertyKeys) {
    const make: Entities | null = entities[key];
    const property: Property = properties[key];
    if (make === null) continue;
    for (const part of partsOf(miner, key)) {
      const wanted = property.control?.(part);
      const control = wanted === undefined ? undefined : miner.controls.find((each) => each.key === wanted);
      const made = make({ ...subject, key, part, field: fieldOf(key, part), property, control });
      const name = nameOf(property, part);
      for (const [id, component] of Object.entries(made)) all[id] = { name, ...component };
    }
  }
  return all;
}

/** People count fans from 1, and boards as the rig does. */
function nameOf({ name, of }: Property, part: Part): string {
  if (of === "miner") return name;
  return of === "fan" ? name.replace("Fan", `Fan ${part + 1}`) : name.replace("Board", `Board ${part}`);
}

const diagnostic = { entity_category: "diagnostic" } as const;
const config = { entity_category: "config" } as const;
const measurement = { state_class: "measurement" } as const;

/** A reading that the rig says, or has said; others would be unknown for ever. */
const isKnown = ({ state, before }: Subject, field: string, id = field): boolean =>
  (state[field] ?? null) !== null || before.has(id);

/** What not everybody wants to see of every board. */
const details = ({ detail }: Subject) => (detail ? {} : { enabled_by_default: false });

type Options = Parameters<typeof sensor>[1];

const reading =
  (options: Options): Entities =>
  (shown) =>
    isKnown(shown, shown.field) ? { [shown.field]: sensor(shown.field, options) } : {};

const detailed =
  (options: Options): Entities =>
  (shown) =>
    reading({ ...options, ...details(shown) })(shown);

const temperature = { device_class: "temperature", unit_of_measurement: "°C", ...measurement } as const;
const power = { device_class: "power", unit_of_measurement: "W" } as const;

const hashrate =
  (options: (subject: Subject) => Options = () => ({})): Entities =>
  (shown) => {
    const { field, hashrateUnit } = shown;
    if (hashrateUnit === null || !isKnown(shown, field)) return {};
    const unit = { unit_of_measurement: hashrateUnit, suggested_display_precision: 2, icon: "mdi:pickaxe" };
    return { [field]: sensor(`${field}_display`, { ...unit, ...measurement, ...options(shown) }) };
  };

/** A number with the rig's own range and step; words that the control takes beside it are buttons. */
const ranged =
  (options: Options, source?: string): Entities =>
  ({ field, topics, control, property }) => {
    const { min = null, max = null, step = null } = control ?? {};
    if (control === undefined || min === null || max === null || min >= max) return {};
    const topic = topics.setProperty(field);
    const range = { min, max, step: Math.max(step ?? 1, 0.001) };
    const words = control.kind === "range" ? (control.options ?? []) : [];
    return {
      [field]: number(source ?? field, topic, { ...range, ...options }),
      ...Object.fromEntries(
        words.map((word) => {
          const label = typeof word === "string" ? word : word.label;
          return [`${field}_${idOf(label)}`, button(topic, label, { name: `${property.name} ${label}`, ...config })];
        }),
      ),
    };
  };

const idOf = (label: string): string => label.toLowerCase().replace(/[^a-z0-9]+/g, "_");

const switched =
  (options: Options): Entities =>
  ({ field, topics, control }) =>
    control?.kind === "switch" ? { [field]: toggle(field, topics.setProperty(field), options) } : {};

const triggered: Entities = ({ field, topics, control }) =>
  control?.kind === "trigger"
    ? { [field]: button(topics.action, field, { device_class: "restart", ...diagnostic }) }
    : {};

/** Some rigs blink until they are told otherwise, others for a while. */
const locate: Entities = (shown) => {
  const { field, topics, control } = shown;
  if (control?.kind !== "trigger") return switched({ icon: "mdi:led-on", ...config })(shown);
  return { [`${field}_once`]: button(topics.setProperty(field), "ON", { device_class: "identify", ...config }) };
};

const mining: Entities = (shown) => {
  const { field, control } = shown;
  // The device's main entity bears its name.
  if (control !== undefined) return switched({ name: null, device_class: "switch" })(shown);
  const id = `${field}_now`;
  return isKnown(shown, field, id) ? { [id]: binarySensor(field, { device_class: "running" }) } : {};
};

const powerLimit: Entities = (shown) => {
  const { field, control } = shown;
  if (control !== undefined) return ranged({ ...power, ...config })(shown);
  const id = `${field}_now`;
  return isKnown(shown, field, id) ? { [id]: sensor(field, { ...power, ...measurement, ...diagnostic }) } : {};
};

const mode: Entities = (shown) => {
  const { field, control, topics } = shown;
  const options = (control?.options ?? []).map((each) => (typeof each === "string" ? each : each.label));
  if (control?.kind === "choice" && options.length > 0)
    return { [field]: select(field, topics.setProperty(field), { options, ...config }) };
  const id = `${field}_now`;
  return isKnown(shown, field, id) ? { [id]: sensor(field, { ...diagnostic }) } : {};
};

const pool: Entities = (shown) => {
  const { field, topics, before, miner, pools } = shown;
  // Its own are not known while it is off.
  const isUnknown = !miner.hasValidStatus || (miner.canPoolSwitch && pools === null && before.has(field));
  const options = isUnknown ? before.options(field) : poolOptions(shown);
  if (options.length > 1 || (options.length > 0 && before.has(field)))
    return { [field]: select("pool_name", topics.setProperty(field), { options, ...config }) };
  const id = `${field}_now`;
  return isKnown(shown, "pool_name", id) ? { [id]: sensor("pool_name", { ...diagnostic }) } : {};
};

/** Pools that the rig can be sent to, and the one that it is at; none where it cannot be sent to any. */
function poolOptions({ miner, pools, state }: Subject): string[] {
  const listed = listedPools(miner).flatMap(({ name, pool: { canPrioritize } }) => (canPrioritize ? [name] : []));
  const others = [...listed, ...(miner.canPoolSwitch ? (pools ?? []) : [])].map((name) => name.slice(0, 250));
  if (others.length === 0) return [];
  const { pool_name: present } = state;
  return [...new Set([...others, ...(typeof present === "string" ? [present] : [])])].filter((name) => name !== "");
}

/** J/TH says something of SHA-256 only. */
const efficiency: Entities = (shown) => {
  const { field, miner, before } = shown;
  const { algorithm } = miner.readings;
  const isBitcoin = algorithm === null ? before.has(field) : /^sha-?256d?$/i.test(algorithm);
  if (!isBitcoin || !isKnown(shown, field)) return {};
  const unit = { unit_of_measurement: "J/TH", suggested_display_precision: 1, icon: "mdi:leaf" };
  return { [field]: sensor("efficiency_j_th", { ...unit, ...measurement, ...diagnostic }) };
};

const money: Entities = (shown) =>
  reading({ unit_of_measurement: `${shown.currency ?? "money"}/d`, ...measurement, ...diagnostic })(shown);

const problem: Entities = (shown) => ({
  problem: binarySensor("has_problem", { device_class: "problem", ...diagnostic }),
  ...(isKnown(shown, "problem", "problem_text")
    ? { problem_text: sensor("problem", { name: "Problem text", ...diagnostic }) }
    : {}),
});

const room: Entities = ({ miner, topics }) =>
  miner.heating === null ? {} : { thermostat: thermostat(topics, { name: "Heating" }) };

const counted = { state_class: "total_increasing", ...diagnostic } as const;

/** What Home Assistant shows of each property, `null` for what is part of another's entity. */
export const entities = {
  status: ({ field }) => ({
    [field]: sensor(field, { device_class: "enum", options: minerStatuses.map((status) => status.toLowerCase()) }),
  }),
  reason: ({ field }) => ({
    // Unknown to Home Assistant while it hashes.
    [field]: sensor(field, { device_class: "enum", options: [...ReasonCode.options], ...diagnostic }),
    reason_text: sensor("reason_text", { name: "Reason for not hashing, in words", ...diagnostic }),
  }),
  mining,
  hashrate: hashrate(),
  hashrate_average: hashrate(() => diagnostic),
  hashrate_expected: hashrate(() => diagnostic),
  algorithm: reading({ ...diagnostic }),
  power: reading({ ...power, ...measurement }),
  energy: (shown) =>
    isKnown(shown, shown.field)
      ? {
          [shown.field]: sensor("energy_kwh", {
            device_class: "energy",
            unit_of_measurement: "kWh",
            state_class: "total_increasing",
            suggested_display_precision: 2,
          }),
        }
      : {},
  efficiency,
  power_target: ranged({ ...power }),
  power_limit: powerLimit,
  throttle: ranged({ unit_of_measurement: "%", ...config }),
  mode,
  frequency: ranged({ device_class: "frequency", unit_of_measurement: "MHz", ...config }),
  voltage: ranged({ device_class: "voltage", unit_of_measurement: "mV", ...config }),
  fan: ranged({ unit_of_measurement: "%", ...config }, "fan_number"),
  temperature_target: ranged({ device_class: "temperature", unit_of_measurement: "°C", ...config }),
  temperature: reading({ ...temperature, ...diagnostic }),
  temperature_in: reading({ ...temperature, ...diagnostic }),
  temperature_out: reading({ ...temperature, ...diagnostic }),
  pool,
  started_at: reading({ device_class: "timestamp", ...diagnostic }),
  best_share: reading({ ...measurement, ...diagnostic }),
  found_blocks: reading({ ...counted }),
  shares_accepted: detailed({ ...counted }),
  shares_rejected: detailed({ ...counted }),
  hardware_errors: detailed({ ...counted }),
  revenue: money,
  profit: money,
  room_temperature: ({ field, miner }) => (miner.heating === null ? {} : { [field]: sensor(field, temperature) }),
  room_target: room,
  heat_demand: ({ field, miner }) =>
    miner.heating === null
      ? {}
      : { [field]: sensor("heat_demand_percent", { unit_of_measurement: "%", ...measurement, ...diagnostic }) },
  problem,
  locate,
  restart: triggered,
  reboot: triggered,
  board: (shown) => switched({ ...config, ...details(shown) })(shown),
  board_hashrate: hashrate((subject) => ({ ...diagnostic, ...details(subject) })),
  board_temperature: detailed({ ...temperature, ...diagnostic }),
  board_chip_temperature: detailed({ ...temperature, ...diagnostic }),
  fan_rpm: detailed({ unit_of_measurement: "rpm", ...measurement, ...diagnostic }),
  fan_percent: detailed({ unit_of_measurement: "%", ...measurement, ...diagnostic }),
} satisfies Record<PropertyKey, Entities | null>;
