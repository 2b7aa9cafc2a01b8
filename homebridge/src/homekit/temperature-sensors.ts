import { type PropertyKey, properties } from "rigbridge";
import { partName } from "../accessory-texts.ts";
import { sensors } from "../config/schema.ts";
import { isCurrent, numberOf } from "../rig-state.ts";
import type { VisibleRig } from "../visible-farm.ts";
import type { CharacteristicPlan, PropertyPart, ServicePlan } from "./plan.ts";
import { valueWithin } from "./values.ts";

type Sensor = (typeof sensors)[number];

/** °C; HAP's own maximum is 100, and chips get hotter. */
const range = { minValue: -50, maxValue: 200 } as const;

export const temperaturePart: PropertyPart = (rig, key) => {
  if (!hasSensor(rig, key)) return [];
  const value = valueWithin(sensorCelsius(rig, key), range.minValue, range.maxValue);
  return [
    sensorWith(
      rig,
      key,
      { type: "CurrentTemperature", value, props: range },
      { type: "StatusActive", value: value !== null },
    ),
  ];
};

/** Each sensor shows whether the rig has a problem. */
export const problemPart: PropertyPart = (rig, key) => {
  const value = Number(properties[key].read(rig.miner, 0) !== null);
  const present = sensors.filter((sensor) => hasSensor(rig, sensor));
  return present.map((sensor) => sensorWith(rig, sensor, { type: "StatusFault", value }));
};

/**
 * Whether the settings ask for this sensor. It stays while the rig is off or does not report it: removing it would
 * remove it from rooms.
 */
export const hasSensor = ({ miner, choices }: VisibleRig, key: PropertyKey): boolean =>
  choices.sensors.some((sensor) => sensor === key) && (key !== "room_temperature" || miner.heating !== null);

/** °C; null = unknown. A room's temperature is measured elsewhere, so it is known even while the rig is off. */
export const sensorCelsius = ({ miner }: VisibleRig, key: PropertyKey): number | null =>
  key === "room_temperature" || isCurrent(miner) ? numberOf(miner, key) : null;

/** Temperatures that the settings ask for and that a rig that answers does not report. */
export const missingSensors = ({ miner, choices }: VisibleRig): readonly Sensor[] =>
  choices.sensors.filter((sensor) => isCurrent(miner) && numberOf(miner, sensor) === null);

const sensorWith = (
  { name }: VisibleRig,
  key: PropertyKey,
  ...characteristics: readonly CharacteristicPlan[]
): ServicePlan => ({
  type: "TemperatureSensor",
  subtype: key,
  name: partName(name, properties[key].name.toLowerCase()),
  characteristics,
});
