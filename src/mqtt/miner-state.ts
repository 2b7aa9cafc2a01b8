import {
  type Part,
  type Property,
  type PropertyKey,
  type PropertyValue,
  partsOf,
  properties,
  propertyKeys,
  switchedSlots,
} from "../contract/properties.ts";
import type { Miner } from "../contract/resources.ts";
import { poolInUse, totalsOf } from "../farm/index.ts";

/** A miner that can have topics, which are named by its uid. */
export type MinerWithUid = Miner & { readonly uid: string };

export const hasUid = (miner: Miner): miner is MinerWithUid => miner.uid !== null;

/** A miner as flat JSON: every key is present as long as the miner has its shape, null where the value is unknown. */
export type MinerState = Readonly<Record<string, StateValue>>;
type StateValue = string | number | null;

/** The unit of a device's displayed hash rate. It never changes, since that would break statistics. */
export interface DisplayUnit {
  /** "TH/s". */
  readonly name: string;
  /** H/s (or Sol/s, G/s) of one such unit. */
  readonly size: number;
}

type Field = (value: PropertyValue, miner: Miner, display: DisplayUnit | null) => StateValue;

/**
 * Switches are "ON" and "OFF", because Home Assistant would display True and False otherwise; it accepts 255
 * characters.
 */
const plain = (value: PropertyValue): StateValue => {
  if (typeof value === "boolean") return value ? "ON" : "OFF";
  return typeof value === "string" ? value.slice(0, 250) : value;
};

const inDisplayUnit: Field = (value, _, display) => (display === null ? null : scaled(value, display.size));

/** What the rig does for its room. */
const heatingAction: Field = (_, miner, display) => {
  const { heating, isRunning, statusInfo } = miner;
  const { statusDisplay } = statusInfo;
  if (heating === null) return null;
  if (isRunning) return "heating";
  const isOff = statusDisplay === "Disabled" || statusDisplay === "Disconnected";
  return isOff || heatingMode(null, miner, display) === "off" ? "off" : "idle";
};

const reasonText: Field = (_, { readings }) => plain(readings.reason?.text ?? null);
const reasonSince: Field = (_, { readings }) => readings.reason?.since ?? null;
/** The label of the present power, on a rig with only a few powers. */
const powerLabel: Field = (watts, { controls }) => {
  const options = controls.find(({ key }) => key === "power_target")?.options ?? [];
  for (const option of options)
    if (typeof option !== "string" && Math.round(option.watts) === watts) return plain(option.label);
  return null;
};
const poolName: Field = (_, miner) => plain(poolInUse(miner));
/** A miner stopped by a user is off for its room; one that the room does not need now is not. */
const heatingMode: Field = (_, miner) => {
  const { heating, isRunning } = miner;
  if (heating === null) return null;
  const mining = properties.mining.read(miner, 0);
  return heating.held && !(typeof mining === "boolean" ? mining : isRunning) ? "off" : "heat";
};

/** The state fields of each property, by name; those of a board or fan get its number (`board_1`, `fan_0_rpm`). */
const stateFields = {
  status: { status: plain },
  reason: {
    reason: plain,
    reason_text: reasonText,
    reason_since: reasonSince,
  },
  mining: { mining: plain },
  hashrate: { hashrate: plain, hashrate_display: inDisplayUnit },
  hashrate_average: { hashrate_average: plain, hashrate_average_display: inDisplayUnit },
  hashrate_expected: { hashrate_expected: plain, hashrate_expected_display: inDisplayUnit },
  algorithm: { algorithm: plain },
  dual_hashrate: { dual_hashrate: plain, dual_hashrate_mh: (value) => scaled(value, 1e6) },
  dual_algorithm: { dual_algorithm: plain },
  power: { power: plain },
  // In Wh: a counter in coarser steps would show consumption in bursts.
  energy: { energy: plain, energy_kwh: (value) => (typeof value === "number" ? value / 1000 : null) },
  efficiency: { efficiency: plain, efficiency_j_th: (value) => scaled(value, 1e-12) },
  power_target: { power_target: plain, power_target_choice: powerLabel },
  power_limit: { power_limit: plain },
  throttle: { throttle: plain },
  mode: { mode: plain },
  frequency: { frequency: plain },
  voltage: { voltage: plain },
  // "auto" is not a number.
  fan: {
    fan: plain,
    fan_number: (value) => (typeof value === "number" ? value : null),
    fan_mode: (value) => (typeof value === "number" ? "manual" : plain(value)),
  },
  temperature_target: { temperature_target: plain },
  temperature: { temperature: plain },
  temperature_in: { temperature_in: plain },
  temperature_out: { temperature_out: plain },
  pool: { pool: plain, pool_name: poolName },
  started_at: { started_at: plain },
  best_share: { best_share: plain },
  found_blocks: { found_blocks: plain },
  shares_accepted: { shares_accepted: plain },
  shares_rejected: { shares_rejected: plain },
  hardware_errors: { hardware_errors: plain },
  revenue: { revenue: plain },
  cost: { cost: plain },
  energy_cost: { energy_cost: plain },
  electricity_price: { electricity_price: plain },
  profit: { profit: plain },
  pool_hashrate: { pool_hashrate: plain, pool_hashrate_display: inDisplayUnit },
  room_temperature: { room_temperature: plain },
  room_target: { room_target: plain, heating_mode: heatingMode, heating_action: heatingAction },
  heat_demand: { heat_demand: plain, heat_demand_percent: (value) => scaled(value, 0.01) },
  problem: { problem: plain, has_problem: (value) => (value === null ? "OFF" : "ON") },
  locate: { locate: plain },
  restart: {},
  reboot: {},
  board: { board: plain },
  board_hashrate: { board_hashrate: plain, board_hashrate_display: inDisplayUnit },
  board_temperature: { board_temperature: plain },
  board_chip_temperature: { board_chip_temperature: plain },
  fan_rpm: { fan_rpm: plain },
  fan_percent: { fan_percent: plain },
} satisfies Record<PropertyKey, Readonly<Record<string, Field>>>;

/** A field in addition to a property's own. */
export type DerivedField = Exclude<{ [K in PropertyKey]: keyof (typeof stateFields)[K] }[PropertyKey], PropertyKey>;

/** The fields of miners with the same boards, fans and switches. */
interface Layout {
  /** All values unknown. Copies share its layout in memory: a state built field by field takes six times as much. */
  readonly blank: MinerState;
  readonly rows: readonly Row[];
}

/** A property of a miner or of one of its parts, and its fields. */
interface Row {
  readonly property: Property;
  readonly part: Part;
  readonly fields: readonly (readonly [name: string, field: Field])[];
}

const layouts = new Map<string, Layout>();
/** Far more than there are models; a rig that keeps changing its boards must not fill the memory. */
const maxLayouts = 1_000;

function layoutOf(miner: Miner): Layout {
  const { boards, fans } = miner.readings;
  const shape = `${boards.map(({ slot }) => slot).join()}/${fans.length}/${switchedSlots(miner.controls).join()}`;
  const known = layouts.get(shape);
  if (known !== undefined) return known;
  const rows = propertyKeys.flatMap((key) => rowsOf(miner, key));
  const names = rows.flatMap(({ fields }) => fields.map(([name]) => name));
  const layout = { rows, blank: Object.fromEntries(["name", ...names].map((name) => [name, null])) };
  if (layouts.size >= maxLayouts) layouts.clear();
  layouts.set(shape, layout);
  return layout;
}

function rowsOf(miner: Miner, key: PropertyKey): Row[] {
  const property: Property = properties[key];
  const fields = Object.entries<Field>(stateFields[key]);
  if (fields.length === 0) return [];
  return partsOf(miner, key).map((part) => ({
    property,
    part,
    fields: fields.map(([name, field]) => [fieldOf(property, name, part), field]),
  }));
}

export function minerState(miner: Miner, display: DisplayUnit | null): MinerState {
  const { blank, rows } = layoutOf(miner);
  const state: Record<string, StateValue> = { ...blank };
  state.name = miner.name;
  for (const { property, part, fields } of rows) {
    const value = property.read(miner, part);
    for (const [name, field] of fields) state[name] = field(value, miner, display);
  }
  return state;
}

/** A group or the whole farm as flat JSON: sums over its miners, null where no miner reports the value. `energy`: Wh. */
export function groupState(
  name: string,
  miners: readonly Miner[],
  display: DisplayUnit | null,
  energy: number | null,
): MinerState {
  const totals = totalsOf(miners, energy);
  const { hashrate } = totals;
  return {
    name,
    mining: isMining(miners) ? "ON" : "OFF",
    ...totals,
    hashrate_display: hashrate === null || display === null ? null : exact(hashrate / display.size),
    energy_kwh: energy === null ? null : exact(energy / 1000),
  };
}

/** Counts only miners that can be switched, if there are any: others would keep the switch on for ever. */
function isMining(miners: readonly Miner[]): boolean {
  const switched = miners.filter(({ controls }) => controls.some(({ key }) => key === "mining"));
  return (switched.length > 0 ? switched : miners).some(({ isRunning }) => isRunning);
}

/** Further digits are noise of binary fractions. */
const exact = (value: number): number => Number(value.toPrecision(12));

/** The name of a field in the JSON and in topics: `power`, `board_1_temperature`, `fan_0_rpm`. */
export function fieldOf({ of }: Property, name: string, part: Part): string {
  return of === "miner" ? name : name.replace(of, `${of}_${part}`);
}

/** To six digits: more of them are noise, and would make every message differ from the last. */
const scaled = (value: PropertyValue, size: number): number | null =>
  typeof value === "number" ? Number((value / size).toPrecision(6)) : null;

const prefixes = ["", "k", "M", "G", "T", "P", "E"] as const;

/** The unit that fits a hash rate best, for a device that has none yet; null while the rate is unknown. */
export function displayUnitFor(hashrate: number | null, unit = "H/s"): DisplayUnit | null {
  if (hashrate === null || hashrate <= 0) return null;
  const step = Math.min(prefixes.length - 1, Math.max(0, Math.floor(Math.log10(hashrate) / 3 + 1e-9)));
  return { name: `${prefixes[step]}${unit}`, size: 1000 ** step };
}
