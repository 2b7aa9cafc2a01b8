import {
  type Part,
  type Property,
  type PropertyKey,
  partsOf,
  properties,
  propertyKeys,
} from "../../contract/properties.ts";
import { type Range, widened } from "../../contract/ranges.ts";
import { type Control, ReasonCode } from "../../contract/readings.ts";
import { type Miner, minerStatuses } from "../../contract/resources.ts";
import { listedPools } from "../../farm/index.ts";
import { type DerivedField, fieldOf, type MinerState } from "../miner-state.ts";
import type { ThingTopics } from "../topics.ts";
import {
  binarySensor,
  button,
  type Component,
  type Components,
  diagnostic,
  energy,
  hashrateIn,
  mainSwitch,
  measurement,
  number,
  power,
  select,
  sensor,
  temperature,
  thermostat,
  toggle,
} from "./component.ts";

/** What the entities of a miner are made from. */
export interface Subject {
  readonly miner: Miner;
  readonly state: MinerState;
  readonly topics: ThingTopics;
  /** "TH/s"; null while unknown. */
  readonly hashrateUnit: string | null;
  /** "SEK"; null while unknown. */
  readonly currency: string | null;
  /** Entities of boards, fans and shares are enabled by default. */
  readonly detail: boolean;
  /** Names of the pools that rigs can be switched to besides those they list; null while unknown. */
  readonly pools: readonly string[] | null;
  readonly previous: PreviousComponents;
}

/** The previously announced components; they stay while the rig is off or does not report their values. */
export interface PreviousComponents {
  has(component: string): boolean;
  /** The options of a select. */
  options(component: string): readonly string[];
  /** Of a number. */
  range(component: string): Range | null;
}

export const noPrevious: PreviousComponents = { has: () => false, options: () => [], range: () => null };

/** One property of a miner, or of one of its boards or fans. */
interface EntityContext extends Subject {
  readonly key: PropertyKey;
  readonly part: Part;
  /** The name in the JSON and in topics, and the component's id. */
  readonly field: string;
  readonly property: Property;
  readonly control: Control | undefined;
}

type MakeEntities = (entity: EntityContext) => Components;

/** The entities of a miner by id; an id stays as long as its property does. */
export function entitiesOf(subject: Subject): Components {
  const { miner } = subject;
  const all: Record<string, Component> = {};
  for (const key of propertyKeys) {
    const make: MakeEntities = entities[key];
    const property: Property = properties[key];
    for (const part of partsOf(miner, key)) {
      const wanted = property.control?.(part);
      const control = wanted === undefined ? undefined : miner.controls.find((each) => each.key === wanted);
      const made = make({ ...subject, key, part, field: fieldOf(property, key, part), property, control });
      const name = nameOf(property, part, miner);
      for (const [id, component] of Object.entries(made)) all[id] = { name, ...component };
    }
  }
  return all;
}

/** Fans are numbered from 1, boards and cards as the rig numbers them. */
function nameOf({ name, of }: Property, part: Part, { hasGpu, readings: { boards } }: Miner): string {
  if (of === "miner") return name;
  if (of === "fan") return name.replace("Fan", `Fan ${part + 1}`);
  const isBoard = !hasGpu && boards.some(({ slot }) => slot === part);
  return name.replace("Board", `${isBoard ? "Board" : "Card"} ${part}`);
}

const config = { entity_category: "config" } as const;

/** Whether the rig reports this or has before; other entities would stay unknown for ever. */
const isReported = ({ state, previous }: Subject, field: string, id = field): boolean =>
  (state[field] ?? null) !== null || previous.has(id);

/** Details that some users do not want. */
const details = ({ detail }: Subject) => (detail ? {} : { enabled_by_default: false });

/** Details of every board or fan, shown if there are one or two boards. */
const partDetails = (subject: Subject) => {
  const { length } = subject.miner.readings.boards;
  return length === 1 || length === 2 ? {} : details(subject);
};

type Options = Parameters<typeof sensor>[1];

const reading =
  (options: Options, source?: DerivedField): MakeEntities =>
  (entity) =>
    isReported(entity, entity.field) ? { [entity.field]: sensor(source ?? entity.field, options) } : {};

/** A sensor for a property that has no control on this rig. */
function readOnly(entity: EntityContext, make: () => Component, source = entity.field): Components {
  const id = `${entity.field}_now`;
  return isReported(entity, source, id) ? { [id]: make() } : {};
}

const detailed =
  (options: Options): MakeEntities =>
  (entity) =>
    reading({ ...options, ...details(entity) })(entity);

const ofPart =
  (options: Options): MakeEntities =>
  (entity) =>
    reading({ ...options, ...partDetails(entity) })(entity);

const hashrate =
  (options: (subject: Subject) => Options = () => ({})): MakeEntities =>
  (entity) => {
    const { field, hashrateUnit } = entity;
    if (hashrateUnit === null || !isReported(entity, field)) return {};
    return { [field]: sensor(`${field}_display`, { ...hashrateIn(hashrateUnit), ...options(entity) }) };
  };

/**
 * A number with the rig's own range and step, which never narrows and includes the present value; words that the
 * control accepts become buttons.
 */
const ranged =
  (options: Options, source?: DerivedField): MakeEntities =>
  ({ field, topics, control, property, previous, state }) => {
    const { min = null, max = null, step = null } = control ?? {};
    if (control?.kind !== "range" || min === null || max === null || min >= max) return {};
    const topic = topics.setProperty(field);
    const value = state[source ?? field];
    const now = typeof value === "number" ? value : min;
    const wide = widened(previous.range(field), { min: Math.min(min, now), max: Math.max(max, now) });
    const range = { ...wide, step: Math.max(step ?? 1, 0.001) };
    const words = wordsOf(control);
    return {
      [field]: number(source ?? field, topic, { ...range, ...options }),
      ...Object.fromEntries(
        words.map((label) => {
          const texts = { name: `${property.name} ${label}`, icon: "mdi:tune" };
          return [`${field}_${idOf(label)}`, button(topic, label, { ...texts, ...config })];
        }),
      ),
    };
  };

/** The words that a range also accepts. */
const wordsOf = ({ kind, options }: Control): string[] =>
  kind === "range" ? (options ?? []).map((word) => (typeof word === "string" ? word : word.label)) : [];

const idOf = (label: string): string => label.toLowerCase().replace(/[^a-z0-9]+/g, "_");

const switched =
  (options: Options): MakeEntities =>
  ({ field, topics, control }) =>
    control?.kind === "switch" ? { [field]: toggle(field, topics.setProperty(field), options) } : {};

const triggered: MakeEntities = ({ field, topics, control }) =>
  control?.kind === "trigger" ? { [field]: button(topics.action, field, { device_class: "restart", ...config }) } : {};

/** Some rigs blink until they are switched off, others for a while. */
const locate: MakeEntities = (entity) => {
  const { field, topics, control } = entity;
  if (control?.kind !== "trigger") return switched({ icon: "mdi:led-on", ...config })(entity);
  return { [`${field}_once`]: button(topics.setProperty(field), "ON", { device_class: "identify", ...config }) };
};

const mining: MakeEntities = (entity) => {
  const { field, control } = entity;
  if (control !== undefined) return switched(mainSwitch)(entity);
  return readOnly(entity, () => binarySensor(field, { device_class: "running" }));
};

/** A number, or a select on a rig with only a few powers. `mining` switches it on and off. */
const powerTarget: MakeEntities = (entity) => {
  const { field, topics, control } = entity;
  if (control?.kind !== "choice") return ranged({ ...power })(entity);
  const options = labelsOf(control);
  if (options.length < (options.includes("off") ? 3 : 2)) return {};
  const source: DerivedField = "power_target_choice";
  return { [source]: select(source, topics.setProperty(field), { options, icon: "mdi:lightning-bolt" }) };
};

const labelsOf = (control: Control | undefined): string[] =>
  (control?.options ?? []).map((each) => (typeof each === "string" ? each : each.label));

const powerLimit: MakeEntities = (entity) => {
  const { field, control } = entity;
  if (control !== undefined) return ranged({ ...power, ...config })(entity);
  return readOnly(entity, () => sensor(field, { ...power, ...measurement, ...diagnostic }));
};

/** While the rig controls its fans, the number is unknown and the mode says why. */
const fan: MakeEntities = (entity) => {
  const words = entity.control === undefined ? [] : wordsOf(entity.control);
  const options = { name: "Fan mode", icon: "mdi:fan-auto", device_class: "enum", options: [...words, "manual"] };
  return {
    ...ranged({ unit_of_measurement: "%", icon: "mdi:fan", ...config }, "fan_number")(entity),
    ...(words.length === 0
      ? {}
      : { fan_mode: sensor("fan_mode" satisfies DerivedField, { ...options, ...diagnostic }) }),
  };
};

const modeIcon = { icon: "mdi:speedometer" } as const;
const mode: MakeEntities = (entity) => {
  const { field, control, topics } = entity;
  const options = labelsOf(control);
  if (control?.kind === "choice" && options.length > 0)
    return { [field]: select(field, topics.setProperty(field), { options, ...modeIcon, ...config }) };
  return readOnly(entity, () => sensor(field, { ...modeIcon, ...diagnostic }));
};

const poolName: DerivedField = "pool_name";
const poolIcon = { icon: "mdi:server-network" } as const;
const pool: MakeEntities = (entity) => {
  const { field, topics, previous, miner, pools } = entity;
  // The rig's own pools are unknown while it is off.
  const isUnknown = !miner.hasValidStatus || (miner.canPoolSwitch && pools === null && previous.has(field));
  const options = isUnknown ? previous.options(field) : poolOptions(entity);
  if (options.length > 1 || (options.length > 0 && previous.has(field)))
    return { [field]: select(poolName, topics.setProperty(field), { options, ...poolIcon, ...config }) };
  return readOnly(entity, () => sensor(poolName, { ...poolIcon, ...diagnostic }), poolName);
};

/** The pools that the rig can be switched to and the one in use; empty where it cannot be switched. */
function poolOptions({ miner, pools, state }: Subject): string[] {
  const listed = listedPools(miner).flatMap(({ name, pool: { canPrioritize } }) => (canPrioritize ? [name] : []));
  const others = [...listed, ...(miner.canPoolSwitch ? (pools ?? []) : [])].map((name) => name.slice(0, 250));
  if (others.length === 0) return [];
  const { pool_name: present } = state;
  return [...new Set([...others, ...(typeof present === "string" ? [present] : [])])].filter((name) => name !== "");
}

/** J/TH makes sense for SHA-256 only. */
const efficiency: MakeEntities = (entity) => {
  const { field, miner, previous } = entity;
  const { algorithm } = miner.readings;
  const isBitcoin = algorithm === null ? previous.has(field) : /^sha-?256d?$/i.test(algorithm);
  const unit = { unit_of_measurement: "J/TH", suggested_display_precision: 1, icon: "mdi:leaf" };
  return isBitcoin ? reading({ ...unit, ...measurement, ...diagnostic }, "efficiency_j_th")(entity) : {};
};

/** `per`: "/d" of an amount per day. */
const money =
  (per: string, options: Options = measurement): MakeEntities =>
  (entity) =>
    reading({
      unit_of_measurement: `${entity.currency ?? "money"}${per}`,
      icon: "mdi:cash",
      ...options,
      ...diagnostic,
    })(entity);

const problem: MakeEntities = (entity) => ({
  problem: binarySensor("has_problem" satisfies DerivedField, { device_class: "problem", ...diagnostic }),
  ...(isReported(entity, "problem", "problem_text")
    ? { problem_text: sensor("problem", { name: "Problem text", icon: "mdi:alert", ...diagnostic }) }
    : {}),
});

const room: MakeEntities = ({ miner, topics }) =>
  miner.heating === null ? {} : { thermostat: thermostat(topics, { name: "Heating", icon: "mdi:radiator" }) };

const reasonIcon = { icon: "mdi:help-circle-outline" } as const;
const counted = { state_class: "total_increasing", ...diagnostic } as const;

export const entities = {
  status: ({ field }) => ({
    [field]: sensor(field, {
      device_class: "enum",
      icon: "mdi:list-status",
      options: minerStatuses.map((status) => status.toLowerCase()),
    }),
  }),
  reason: ({ field }) => ({
    // Unknown in Home Assistant while the rig hashes.
    [field]: sensor(field, { device_class: "enum", options: [...ReasonCode.options], ...reasonIcon, ...diagnostic }),
    reason_text: sensor("reason_text" satisfies DerivedField, {
      name: "Reason for not hashing, in words",
      ...reasonIcon,
      ...diagnostic,
    }),
  }),
  mining,
  hashrate: hashrate(),
  hashrate_average: hashrate(() => diagnostic),
  hashrate_expected: hashrate(() => diagnostic),
  algorithm: reading({ icon: "mdi:pound", ...diagnostic }),
  // A fixed unit: the first algorithm's may not fit, and a changing unit would break statistics.
  dual_hashrate: reading({ ...hashrateIn("MH/s"), ...diagnostic }, "dual_hashrate_mh"),
  dual_algorithm: reading({ icon: "mdi:pound", ...diagnostic }),
  power: reading({ ...power, ...measurement }),
  energy: reading({ ...energy, state_class: "total_increasing" }, "energy_kwh"),
  efficiency,
  power_target: powerTarget,
  power_limit: powerLimit,
  throttle: ranged({ unit_of_measurement: "%", ...modeIcon, ...config }),
  mode,
  frequency: ranged({ device_class: "frequency", unit_of_measurement: "MHz", ...config }),
  voltage: ranged({ device_class: "voltage", unit_of_measurement: "mV", ...config }),
  fan,
  temperature_target: ranged({ device_class: "temperature", unit_of_measurement: "°C", ...config }),
  temperature: reading({ ...temperature, ...diagnostic }),
  temperature_in: reading({ ...temperature, ...diagnostic }),
  temperature_out: reading({ ...temperature, ...diagnostic }),
  pool,
  started_at: reading({ device_class: "timestamp", ...diagnostic }),
  best_share: reading({ icon: "mdi:trophy", ...measurement, ...diagnostic }),
  found_blocks: reading({ icon: "mdi:cube-outline", ...counted }),
  shares_accepted: detailed({ icon: "mdi:check", ...counted }),
  shares_rejected: detailed({ icon: "mdi:close", ...counted }),
  hardware_errors: detailed({ icon: "mdi:alert-circle-outline", ...counted }),
  revenue: money("/d"),
  cost: money("/d"),
  energy_cost: money("", { state_class: "total" }),
  electricity_price: money("/kWh"),
  profit: money("/d"),
  pool_hashrate: hashrate(() => diagnostic),
  room_temperature: ({ field, miner }) => (miner.heating === null ? {} : { [field]: sensor(field, temperature) }),
  room_target: room,
  heat_demand: ({ field, miner }) =>
    miner.heating === null
      ? {}
      : {
          [field]: sensor("heat_demand_percent" satisfies DerivedField, {
            unit_of_measurement: "%",
            icon: "mdi:radiator",
            ...measurement,
            ...diagnostic,
          }),
        },
  problem,
  locate,
  restart: triggered,
  reboot: triggered,
  board: (entity) => switched({ icon: "mdi:expansion-card", ...config, ...details(entity) })(entity),
  board_hashrate: hashrate((subject) => ({ ...diagnostic, ...partDetails(subject) })),
  board_temperature: ofPart({ ...temperature, ...diagnostic }),
  board_chip_temperature: ofPart({ ...temperature, ...diagnostic }),
  fan_rpm: ofPart({ unit_of_measurement: "rpm", icon: "mdi:fan", ...measurement, ...diagnostic }),
  fan_percent: ofPart({ unit_of_measurement: "%", icon: "mdi:fan", ...measurement, ...diagnostic }),
} satisfies Record<PropertyKey, MakeEntities>;
