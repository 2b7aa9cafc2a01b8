import type { Miner, PropertyKey } from "rigbridge";
import { isCurrent, numberOf } from "../rig-state.ts";
import type { CharacteristicPlan, CustomCharacteristic, PropertyPart, ServicePlan } from "./plan.ts";

/** For Eve and similar apps, in a separate service: HomeKit itself has neither watts nor kWh. */
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

export const powerPart: PropertyPart = ({ miner, settings }, key) =>
  settings.eve ? [meterWith(watts([miner], key))] : [];

export const energyPart: PropertyPart = ({ miner, settings }, key) =>
  settings.eve ? [meterWith(kilowattHours([numberOf(miner, key)]))] : [];

/** The power of a group's members, null if none of them reports any, and the energy that the service has counted. */
export const groupMeter = (members: readonly Miner[], wattHours: number | null): ServicePlan =>
  meterWith(watts(members, "power"), kilowattHours([wattHours]));

const meterWith = (...characteristics: readonly CharacteristicPlan[]): ServicePlan => ({
  type: meter,
  subtype: "meter",
  name: "Power",
  characteristics,
});

export const watts = (miners: readonly Miner[], key: PropertyKey): CharacteristicPlan => ({
  type: consumption,
  value: sum(miners.filter(isCurrent).map((miner) => numberOf(miner, key))),
});

/** The energy counted so far stays valid while a rig is off. */
export const kilowattHours = (values: readonly (number | null)[]): CharacteristicPlan => ({
  type: total,
  value: sum(values.map((wattHours) => wattHours && wattHours / 1000)),
});

function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).filter(Number.isFinite);
  const all = known.reduce((total, value) => total + value, 0);
  // To mW and Wh: further digits mean nothing, and each change would notify all controllers.
  return known.length === 0 || !Number.isFinite(all) ? null : Number(all.toFixed(3));
}
