import type { Miner, PropertyKey } from "rigbridge";
import type { RigChoices, Settings } from "../config/schema.ts";
import { mainSwitch } from "./main-switch.ts";
import type { ServicePlan } from "./plan.ts";

/** A miner, and how it is wanted. */
export interface ShownRig {
  readonly miner: Miner;
  /** As its accessory is called. */
  readonly name: string;
  readonly choices: RigChoices;
  readonly settings: Settings;
}

/** Services of a rig's accessory; none where the rig has nothing of it or nobody wants it. */
export type RigPart = (rig: ShownRig) => readonly ServicePlan[];

/** What becomes of each property of a miner in HomeKit; several may be characteristics of the same service. */
const partOf = {
  status: null,
  mining: mainSwitch,
  hashrate: mainSwitch,
  hashrate_average: null,
  hashrate_expected: null,
  algorithm: null,
  power: null,
  energy: null,
  efficiency: null,
  power_target: null,
  power_limit: null,
  throttle: null,
  mode: null,
  frequency: null,
  voltage: null,
  fan: null,
  temperature_target: null,
  temperature: null,
  temperature_in: null,
  temperature_out: null,
  pool: null,
  started_at: null,
  best_share: null,
  found_blocks: null,
  shares_accepted: null,
  shares_rejected: null,
  hardware_errors: null,
  revenue: null,
  profit: null,
  room_temperature: null,
  room_target: null,
  heat_demand: null,
  problem: null,
  locate: null,
  restart: null,
  reboot: null,
  board: null,
  board_hashrate: null,
  board_temperature: null,
  board_chip_temperature: null,
  fan_rpm: null,
  fan_percent: null,
} as const satisfies Record<PropertyKey, RigPart | null>;

/** Every part once, in the order of the properties. */
const parts: readonly RigPart[] = [...new Set(Object.values(partOf))].filter((part) => part !== null);

/** All services of a rig's accessory. */
export const servicesOf = (rig: ShownRig): readonly ServicePlan[] => parts.flatMap((part) => part(rig));
