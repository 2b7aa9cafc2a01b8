import type { Miner, PropertyKey } from "rigbridge";
import type { RigChoices, Settings } from "../config/schema.ts";
import { alarmPart } from "./alarm.ts";
import { evePart } from "./eve.ts";
import { fanPart } from "./fan.ts";
import { mainPart } from "./main-switch.ts";
import { triggers } from "./momentary.ts";
import type { ServicePlan } from "./plan.ts";
import { temperatureSensors } from "./temperature-sensors.ts";

/** A miner, and how it is wanted. */
export interface VisibleRig {
  readonly miner: Miner;
  /** As its accessory is called. */
  readonly name: string;
  readonly choices: RigChoices;
  readonly settings: Settings;
  /** Nobody wonders when it is off. */
  readonly offlineExpected: boolean;
}

/** Services of a rig's accessory; none where the rig has nothing of it or nobody wants it. */
export type RigPart = (rig: VisibleRig) => readonly ServicePlan[];

/** What becomes of each property of a miner in HomeKit; several may be characteristics of the same service. */
const partOf = {
  status: alarmPart,
  reason: alarmPart,
  mining: mainPart,
  hashrate: mainPart,
  hashrate_average: null,
  hashrate_expected: null,
  algorithm: null,
  power: evePart,
  energy: evePart,
  efficiency: null,
  power_target: null,
  power_limit: null,
  throttle: null,
  mode: null,
  frequency: null,
  voltage: null,
  fan: fanPart,
  temperature_target: null,
  temperature: temperatureSensors,
  temperature_in: temperatureSensors,
  temperature_out: temperatureSensors,
  pool: null,
  started_at: null,
  best_share: null,
  found_blocks: null,
  shares_accepted: null,
  shares_rejected: null,
  hardware_errors: null,
  revenue: null,
  profit: null,
  room_temperature: temperatureSensors,
  room_target: mainPart,
  heat_demand: alarmPart,
  problem: alarmPart,
  locate: null,
  restart: triggers,
  reboot: triggers,
  board: null,
  board_hashrate: null,
  board_temperature: null,
  board_chip_temperature: null,
  fan_rpm: fanPart,
  fan_percent: fanPart,
} as const satisfies Record<PropertyKey, RigPart | null>;

/** Every part once, in the order of the properties. */
const parts: readonly RigPart[] = [...new Set(Object.values(partOf))].filter((part) => part !== null);

/** All services of a rig's accessory; none where HomeKit would know none of them. */
export function servicesOf(rig: VisibleRig): readonly ServicePlan[] {
  const services = parts.flatMap((part) => part(rig));
  return services.some(({ type }) => typeof type === "string") ? services : [];
}
