import type { Miner } from "rigbridge";
import { isKnown } from "./main-switch.ts";
import type { CustomCharacteristic, ServicePlan } from "./plan.ts";
import type { VisibleRig } from "./rig-parts.ts";

/** What Eve and its like show of power: HomeKit itself has neither watts nor kWh. A service of its own holds them. */
const meter = { name: "Power meter", uuid: "00000001-0000-1777-8000-775D67EC4377" };
const consumption: CustomCharacteristic = {
  name: "Consumption",
  uuid: "E863F10D-079E-48FF-8F27-9C2605A29F52",
  format: "float",
  unit: "W",
};
const total: CustomCharacteristic = {
  name: "Total Consumption",
  uuid: "E863F10C-079E-48FF-8F27-9C2605A29F52",
  format: "float",
  unit: "kWh",
};

/** Watts and kWh of a rig. */
export const evePart = ({ miner, settings }: VisibleRig): readonly ServicePlan[] =>
  settings.eve ? [meterOf([miner])] : [];

/** Watts and kWh of some miners together; null where none of them says. */
export const meterOf = (miners: readonly Miner[]): ServicePlan => ({
  type: meter,
  subtype: "meter",
  name: "Power",
  characteristics: [
    { type: consumption, value: sum(miners.filter(isKnown).map(({ readings }) => readings.power)) },
    // What was counted stays true while a rig is off.
    { type: total, value: sum(miners.map(({ readings }) => readings.energy && readings.energy / 1000)) },
  ],
});

function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).filter(Number.isFinite);
  const all = known.reduce((total, value) => total + value, 0);
  // To mW and Wh: further digits mean nothing, and every change of one would be told to all controllers.
  return known.length === 0 || !Number.isFinite(all) ? null : Number(all.toFixed(3));
}
