import { type Miner, properties } from "rigbridge";
import type { sensors } from "../config/schema.ts";
import { isKnown } from "./main-switch.ts";
import type { ServicePlan } from "./plan.ts";
import { hasProblem } from "./problem.ts";
import type { VisibleRig } from "./rig-parts.ts";
import { partName } from "./texts.ts";
import { figureWithin } from "./values.ts";

type Sensor = (typeof sensors)[number];

/** °C; HAP has 100 as the most, and chips are hotter. */
const range = { minValue: -50, maxValue: 200 } as const;

/** The temperatures that are wanted: each counts when Siri is asked how warm it is. */
export const temperatureSensors = (rig: VisibleRig): readonly ServicePlan[] =>
  temperaturesOf(rig).map((each) => sensorOf(rig.miner, each));

export interface VisibleTemperature {
  readonly sensor: Sensor;
  readonly name: string;
  /** °C; null = nobody knows now. */
  readonly celsius: number | null;
}

/** Those that are wanted of a rig that has them. */
export const temperaturesOf = ({ miner, name, choices }: VisibleRig): readonly VisibleTemperature[] =>
  choices.sensors
    .filter((sensor) => isOf(miner, sensor))
    .map((sensor) => ({
      sensor,
      name: partName(name, properties[sensor].name.toLowerCase()),
      // The room's is measured elsewhere, whether or not the rig is on.
      celsius: sensor === "room_temperature" || isKnown(miner) ? read(miner, sensor) : null,
    }));

/** Which of the wanted temperatures a rig that answers does not tell. */
export const untold = ({ miner, choices }: VisibleRig): readonly Sensor[] =>
  choices.sensors.filter((sensor) => isKnown(miner) && read(miner, sensor) === null);

/** A temperature stays while the rig is off, or does not tell it: who removes it from a home removes it from its rooms. */
const isOf = ({ heating }: Miner, sensor: Sensor): boolean => sensor !== "room_temperature" || heating !== null;

function sensorOf(miner: Miner, { sensor, name, celsius }: VisibleTemperature): ServicePlan {
  const value = figureWithin(celsius, range.minValue, range.maxValue);
  return {
    type: "TemperatureSensor",
    subtype: sensor,
    name,
    characteristics: [
      { type: "CurrentTemperature", value, props: range },
      { type: "StatusActive", value: value !== null },
      { type: "StatusFault", value: Number(hasProblem(miner)) },
    ],
  };
}

function read(miner: Miner, sensor: Sensor): number | null {
  const value = properties[sensor].read(miner, 0);
  return typeof value === "number" ? value : null;
}
