import type { Heating, Miner } from "rigbridge";
import { isCurrent, isHashing, isHeaterOn, numberOf, roomOf } from "../rig-state.ts";
import { heaterRequest, setRequest } from "../send-command.ts";
import type { VisibleRig } from "../visible-farm.ts";
import type { CharacteristicPlan, PropertyPart, ServicePlan } from "./plan.ts";
import { isOn, valueWithin } from "./values.ts";

/** HAP's values. */
const states = { inactive: 0, idle: 1, heating: 2 } as const;
const heat = 1;
/** °C that the service accepts as a target, and the step in which people set one. */
export const targets = { minValue: 5, maxValue: 35, minStep: 0.5 } as const;
/** °C. */
const rooms = { lowest: -40, highest: 60 } as const;

/** A rig that heats a room. The service regulates it to the room's target; HomeKit only sets the target. */
export const heaterWith = ({ name }: VisibleRig, ...characteristics: readonly CharacteristicPlan[]): ServicePlan => ({
  type: "HeaterCooler",
  subtype: "main",
  name,
  characteristics,
});

export const heaterActive = (miner: Miner, room: Heating): CharacteristicPlan => ({
  type: "Active",
  value: isCurrent(miner) ? Number(isHeaterOn(miner, room)) : null,
  requestFor: (value) => heaterRequest(miner, room, isOn(value)),
});

export function heaterState(miner: Miner, room: Heating): CharacteristicPlan {
  const active = isHashing(miner) ? states.heating : states.idle;
  const value = isHeaterOn(miner, room) ? active : states.inactive;
  return { type: "CurrentHeaterCoolerState", value: isCurrent(miner) ? value : null };
}

/** Measured elsewhere, so it is known even while the rig is off. */
export const roomTemperaturePart: PropertyPart = (rig, key) => {
  if (roomOf(rig) === null) return [];
  const value = valueWithin(numberOf(rig.miner, key), rooms.lowest, rooms.highest);
  return [heaterWith(rig, { type: "CurrentTemperature", value })];
};

export const roomTargetPart: PropertyPart = (rig, key) => {
  const { miner } = rig;
  if (roomOf(rig) === null) return [];
  const target: CharacteristicPlan = {
    type: "HeatingThresholdTemperature",
    value: valueWithin(numberOf(miner, key), targets.minValue, targets.maxValue),
    props: targets,
    requestFor: (value) => setRequest([miner.id], key, Number(value)),
  };
  const mode: CharacteristicPlan = {
    type: "TargetHeaterCoolerState",
    value: heat,
    props: { validValues: [heat] },
    requestFor: () => ({ miners: [miner.id], intents: [] }),
  };
  return [heaterWith(rig, mode, target)];
};
