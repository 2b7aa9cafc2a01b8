import { type Property, type PropertyKey, properties } from "rigbridge";

/** Units in which a limit can be entered, in the property's own unit; the default first. */
export type LimitUnits = Readonly<Record<string, number>>;

const hashrate = { "TH/s": 1e12, "GH/s": 1e9, "MH/s": 1e6, "kH/s": 1e3, "H/s": 1, "PH/s": 1e15 };
const power = { W: 1, kW: 1e3 };
const temperature = { "°C": 1 };
const percent = { "%": 1 };
const plain = { "": 1 };

/**
 * How the nodes use each property: its units if it can have a limit, "state" if it is only sent, null if neither.
 * `miner in` sends the miner's own properties as its state; boards and fans are in `miner.readings`.
 */
export const nodeProperties = {
  status: "state",
  reason: "state",
  mining: "state",
  hashrate,
  hashrate_average: hashrate,
  hashrate_expected: hashrate,
  algorithm: "state",
  dual_hashrate: hashrate,
  dual_algorithm: "state",
  power,
  energy: { kWh: 1e3, Wh: 1 },
  efficiency: { "J/TH": 1e-12, "J/GH": 1e-9, "J/MH": 1e-6, "J/kH": 1e-3 },
  power_target: power,
  power_limit: power,
  throttle: percent,
  mode: "state",
  frequency: { MHz: 1 },
  voltage: { mV: 1 },
  fan: percent,
  temperature_target: temperature,
  temperature,
  temperature_in: temperature,
  temperature_out: temperature,
  pool: "state",
  started_at: "state",
  best_share: plain,
  found_blocks: plain,
  shares_accepted: plain,
  shares_rejected: plain,
  hardware_errors: plain,
  revenue: plain,
  cost: plain,
  energy_cost: plain,
  electricity_price: plain,
  profit: plain,
  pool_hashrate: hashrate,
  room_temperature: temperature,
  room_target: temperature,
  // A fraction of 1, entered as a percentage.
  heat_demand: { "%": 0.01 },
  problem: "state",
  locate: "state",
  restart: null,
  reboot: null,
  board: null,
  board_hashrate: hashrate,
  board_temperature: temperature,
  board_chip_temperature: temperature,
  fan_rpm: { rpm: 1 },
  fan_percent: percent,
} as const satisfies Record<PropertyKey, LimitUnits | "state" | null>;

export const propertyKeys = Object.keys(nodeProperties).filter((key) => isPropertyKey(key));

/** The properties of the flat state, in the order of the table. */
export const stateProperties = propertyKeys
  .filter((key) => nodeProperties[key] !== null)
  .map((key): readonly [PropertyKey, Property] => [key, properties[key]])
  .filter(([, { of }]) => of === "miner");

/** null if the property cannot have a limit. */
export function limitUnits(key: PropertyKey): LimitUnits | null {
  const use: LimitUnits | "state" | null = nodeProperties[key];
  return use === "state" ? null : use;
}

function isPropertyKey(key: string): key is PropertyKey {
  return Object.hasOwn(properties, key);
}
