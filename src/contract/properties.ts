import type { Board, Control, ControlKey, Fan, ReasonCode } from "./readings.ts";
import type { Miner } from "./resources.ts";

/** The value of a property; null if unknown. */
export type PropertyValue = string | number | boolean | null;

/** The kind of a value, which each front end maps to its own types. */
export type PropertyKind =
  | "hashrate"
  | "power"
  | "energy"
  | "efficiency"
  | "temperature"
  | "speed"
  | "percent"
  | "frequency"
  | "voltage"
  | "count"
  | "money"
  | "time"
  | "status"
  | "text"
  | "switch"
  | "trigger";

/** A property of a miner that can be read, written, or both. Units are those of `readings` and of the control. */
export interface Property {
  /** The display name, in English. */
  readonly name: string;
  readonly kind: PropertyKind;
  readonly unit: string | null;
  /** Whether the miner itself has it, or each of its boards or fans. */
  readonly of: "miner" | "board" | "fan";
  /** For the operator of the rig rather than for everyday use. */
  readonly diagnostic: boolean;
  readonly read: (miner: Miner, part: Part) => PropertyValue;
  /** The control that writes it, if this miner has that control. */
  readonly control: ((part: Part) => ControlKey) | null;
}

/** The slot of a board or the index of a fan, from 0; not used for the miner itself. */
export type Part = number;

type PropertyFields = Pick<Property, "name" | "kind" | "unit"> & Partial<Property>;

const readOnly = (property: PropertyFields & Pick<Property, "read">): Property => ({
  of: "miner",
  diagnostic: false,
  control: null,
  ...property,
});

/** Reasons that require action. The status shows that a rig cannot be reached. */
const troubles: ReadonlySet<ReasonCode> = new Set(["hot", "cold", "pools", "licence", "hardware", "login"]);

/** A property with a control, whose value is the one that the rig reports. */
const controlled = (key: ControlKey, property: PropertyFields): Property => ({
  of: "miner",
  diagnostic: false,
  read: (miner) => controlOf(miner, key)?.value ?? null,
  ...property,
  control: () => key,
});

/**
 * Every property of a miner that front ends map, in display order. Each front end maps all of them
 * (`satisfies Record<PropertyKey, ... | null>`), so a new property does not compile until every front end has decided.
 */
export const properties = {
  status: readOnly({
    name: "Status",
    kind: "status",
    unit: null,
    read: ({ statusInfo }) => statusInfo.statusDisplay.toLowerCase(),
  }),
  reason: readOnly({
    name: "Reason for not hashing",
    kind: "status",
    unit: null,
    diagnostic: true,
    read: ({ readings }) => readings.reason?.code ?? null,
  }),
  mining: controlled("mining", {
    name: "Mining",
    kind: "switch",
    unit: null,
    read: (miner) => controlOf(miner, "mining")?.value ?? miner.readings.mining,
  }),
  hashrate: readOnly({ name: "Hash rate", kind: "hashrate", unit: "H/s", read: ({ readings }) => readings.hashrate }),
  hashrate_average: readOnly({
    name: "Average hash rate",
    kind: "hashrate",
    unit: "H/s",
    diagnostic: true,
    read: ({ readings }) => readings.hashrateAverage,
  }),
  hashrate_expected: readOnly({
    name: "Expected hash rate",
    kind: "hashrate",
    unit: "H/s",
    diagnostic: true,
    read: ({ readings }) => readings.hashrateExpected,
  }),
  algorithm: readOnly({
    name: "Algorithm",
    kind: "text",
    unit: null,
    diagnostic: true,
    read: ({ readings }) => readings.algorithm,
  }),
  dual_hashrate: readOnly({
    name: "Hash rate of the second algorithm",
    kind: "hashrate",
    unit: "H/s",
    diagnostic: true,
    read: ({ readings }) => readings.dual?.hashrate ?? null,
  }),
  dual_algorithm: readOnly({
    name: "Second algorithm",
    kind: "text",
    unit: null,
    diagnostic: true,
    read: ({ readings }) => readings.dual?.algorithm ?? null,
  }),
  power: readOnly({ name: "Power", kind: "power", unit: "W", read: ({ readings }) => readings.power }),
  energy: readOnly({ name: "Energy", kind: "energy", unit: "Wh", read: ({ readings }) => readings.energy }),
  efficiency: readOnly({
    name: "Efficiency",
    kind: "efficiency",
    unit: "J/H",
    diagnostic: true,
    read: ({ readings }) => readings.efficiency,
  }),
  power_target: controlled("power_target", { name: "Power target", kind: "power", unit: "W" }),
  power_limit: controlled("power_limit", {
    name: "Power limit",
    kind: "power",
    unit: "W",
    read: (miner) => controlOf(miner, "power_limit")?.value ?? miner.readings.powerLimit,
  }),
  throttle: controlled("throttle", { name: "Throttle", kind: "percent", unit: "%" }),
  mode: controlled("mode", {
    name: "Mode",
    kind: "text",
    unit: null,
    read: (miner) => controlOf(miner, "mode")?.value ?? miner.readings.mode,
  }),
  frequency: controlled("frequency", { name: "Frequency", kind: "frequency", unit: "MHz", diagnostic: true }),
  voltage: controlled("voltage", { name: "Core voltage", kind: "voltage", unit: "mV", diagnostic: true }),
  fan: controlled("fan", { name: "Fan", kind: "percent", unit: "%" }),
  temperature_target: controlled("temperature_target", {
    name: "Temperature target",
    kind: "temperature",
    unit: "°C",
    diagnostic: true,
  }),
  temperature: readOnly({
    name: "Temperature",
    kind: "temperature",
    unit: "°C",
    read: ({ readings }) => readings.temperature,
  }),
  temperature_in: readOnly({
    name: "Temperature in",
    kind: "temperature",
    unit: "°C",
    diagnostic: true,
    read: ({ readings }) => readings.temperatureIn,
  }),
  temperature_out: readOnly({
    name: "Temperature out",
    kind: "temperature",
    unit: "°C",
    diagnostic: true,
    read: ({ readings }) => readings.temperatureOut,
  }),
  pool: readOnly({
    name: "Pool",
    kind: "text",
    unit: null,
    read: ({ pool }) => pool || null,
  }),
  started_at: readOnly({
    name: "Started",
    kind: "time",
    unit: null,
    diagnostic: true,
    read: ({ readings }) => readings.startedAt,
  }),
  best_share: readOnly({
    name: "Best share",
    kind: "count",
    unit: null,
    diagnostic: true,
    read: ({ readings }) => readings.bestShare,
  }),
  found_blocks: readOnly({
    name: "Found blocks",
    kind: "count",
    unit: null,
    diagnostic: true,
    read: ({ readings }) => readings.foundBlocks,
  }),
  shares_accepted: readOnly({
    name: "Accepted shares",
    kind: "count",
    unit: null,
    diagnostic: true,
    read: ({ readings }) => readings.shares.accepted,
  }),
  shares_rejected: readOnly({
    name: "Rejected shares",
    kind: "count",
    unit: null,
    diagnostic: true,
    read: ({ readings }) => readings.shares.rejected,
  }),
  hardware_errors: readOnly({
    name: "Hardware errors",
    kind: "count",
    unit: null,
    diagnostic: true,
    read: ({ readings }) => readings.shares.hardwareErrors,
  }),
  revenue: readOnly({
    name: "Revenue per day",
    kind: "money",
    unit: "money/d",
    diagnostic: true,
    read: ({ money }) => money.revenuePerDay,
  }),
  cost: readOnly({
    name: "Electricity cost per day",
    kind: "money",
    unit: "money/d",
    diagnostic: true,
    // Without a price it is 0, which means nothing.
    read: ({ money }) => (money.electricityPrice === null ? null : money.costPerDay),
  }),
  energy_cost: readOnly({
    name: "Energy cost",
    kind: "money",
    unit: "money",
    diagnostic: true,
    read: ({ money }) => money.energyCost,
  }),
  electricity_price: readOnly({
    name: "Electricity price",
    kind: "money",
    unit: "money/kWh",
    diagnostic: true,
    read: ({ money }) => money.electricityPrice,
  }),
  profit: readOnly({
    name: "Profit per day",
    kind: "money",
    unit: "money/d",
    diagnostic: true,
    read: ({ money }) => money.profitPerDay,
  }),
  pool_hashrate: readOnly({
    name: "Hash rate at the pool",
    kind: "hashrate",
    unit: "H/s",
    diagnostic: true,
    read: ({ poolView }) => poolView?.hashrate ?? null,
  }),
  room_temperature: readOnly({
    name: "Room temperature",
    kind: "temperature",
    unit: "°C",
    read: ({ heating }) => heating?.room ?? null,
  }),
  room_target: readOnly({
    name: "Room target",
    kind: "temperature",
    unit: "°C",
    read: ({ heating }) => heating?.target ?? null,
  }),
  heat_demand: readOnly({
    name: "Heat demand",
    kind: "percent",
    unit: "1",
    diagnostic: true,
    read: ({ heating }) => heating?.demand ?? null,
  }),
  problem: readOnly({
    name: "Problem",
    kind: "text",
    unit: null,
    diagnostic: true,
    read: ({ readings: { errors, reason, notes }, statusInfo }) =>
      errors[0]?.text ??
      (reason !== null && troubles.has(reason.code) ? reason.text : null) ??
      (statusInfo.statusDisplay === "Error" ? (notes[0] ?? "error") : null),
  }),
  locate: controlled("locate", { name: "Locate", kind: "switch", unit: null, diagnostic: true }),
  restart: controlled("restart", { name: "Restart mining", kind: "trigger", unit: null, diagnostic: true }),
  reboot: controlled("reboot", { name: "Reboot", kind: "trigger", unit: null, diagnostic: true }),
  board: readOnly({
    name: "Board",
    kind: "switch",
    unit: null,
    of: "board",
    diagnostic: true,
    read: (miner, slot) => controlOf(miner, `board_${slot}`)?.value ?? null,
    control: (slot) => `board_${slot}`,
  }),
  board_hashrate: readOnly({
    name: "Board hash rate",
    kind: "hashrate",
    unit: "H/s",
    of: "board",
    diagnostic: true,
    read: (miner, slot) => boardOf(miner, slot)?.hashrate ?? null,
  }),
  board_temperature: readOnly({
    name: "Board temperature",
    kind: "temperature",
    unit: "°C",
    of: "board",
    diagnostic: true,
    read: (miner, slot) => boardOf(miner, slot)?.temperature ?? null,
  }),
  board_chip_temperature: readOnly({
    name: "Board chip temperature",
    kind: "temperature",
    unit: "°C",
    of: "board",
    diagnostic: true,
    read: (miner, slot) => boardOf(miner, slot)?.chipTemperature ?? null,
  }),
  fan_rpm: readOnly({
    name: "Fan speed",
    kind: "speed",
    unit: "rpm",
    of: "fan",
    diagnostic: true,
    read: (miner, index) => fanOf(miner, index)?.rpm ?? null,
  }),
  fan_percent: readOnly({
    name: "Fan power",
    kind: "percent",
    unit: "%",
    of: "fan",
    diagnostic: true,
    read: (miner, index) => fanOf(miner, index)?.percent ?? null,
  }),
} as const satisfies Record<string, Property>;

export type PropertyKey = keyof typeof properties;

/** In the order of the table. */
export const propertyKeys = Object.keys(properties).filter((key): key is PropertyKey => Object.hasOwn(properties, key));

/**
 * The properties that only MQTT has, for home automation: nothing in HomeKit, Matter or the metrics is like them. HomeKit
 * locates a rig by Identify, which every accessory has.
 */
export const automationOnly = {
  hashrate_average: null,
  algorithm: null,
  dual_algorithm: null,
  power_limit: null,
  throttle: null,
  mode: null,
  frequency: null,
  voltage: null,
  temperature_target: null,
  pool: null,
  started_at: null,
  best_share: null,
  found_blocks: null,
  revenue: null,
  cost: null,
  energy_cost: null,
  electricity_price: null,
  profit: null,
  pool_hashrate: null,
  heat_demand: null,
  locate: null,
  board: null,
  board_chip_temperature: null,
} as const satisfies Partial<Record<PropertyKey, null>>;

/** The control that writes this property on this miner; undefined if there is none. */
export function controlFor(miner: Miner, key: PropertyKey, part: Part): Control | undefined {
  const property: Property = properties[key];
  if (property.control === null) return undefined;
  return controlOf(miner, property.control(part));
}

/** The parts of a miner that have this property: its boards, its fans, or the miner itself (0). */
export function partsOf({ readings, controls }: Miner, key: PropertyKey): readonly Part[] {
  const property: Property = properties[key];
  if (property.of === "miner") return [0];
  if (property.of === "fan") return readings.fans.map((_, index) => index);
  const slots = readings.boards.map(({ slot }) => slot);
  // Cards of a computer are switched like boards, but are not among the boards.
  const cards = property.control === null ? [] : switchedSlots(controls).filter((slot) => !slots.includes(slot));
  return [...slots, ...cards];
}

/** The slots (boards and cards) that have a switch. */
export const switchedSlots = (controls: readonly Control[]): Part[] =>
  controls.flatMap(({ key }) => (key.startsWith("board_") ? [Number(key.slice("board_".length))] : []));

const controlOf = ({ controls }: Miner, key: ControlKey): Control | undefined =>
  controls.find((control) => control.key === key);

const boardOf = ({ readings }: Miner, slot: number): Board | undefined =>
  readings.boards.find((board) => board.slot === slot);

const fanOf = ({ readings }: Miner, index: number): Fan | undefined => readings.fans[index];
