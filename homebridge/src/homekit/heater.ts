import type { Heating, Miner } from "rigbridge";
import type { CommandRequest } from "../send-command.ts";
import { isHashing, isKnown, isMining, switchRequest } from "./main-switch.ts";
import type { CharacteristicPlan, ServicePlan } from "./plan.ts";
import type { VisibleRig } from "./rig-parts.ts";
import { figureWithin, isOn } from "./values.ts";

/** HAP's values. */
const states = { inactive: 0, idle: 1, heating: 2 } as const;
const heat = 1;
/** °C that the service takes as a target, and in which steps people set one. */
export const targets = { minValue: 5, maxValue: 35, minStep: 0.5 } as const;
/** °C that a room may have. */
const rooms = { lowest: -40, highest: 60 } as const;

/** A rig that heats a room. The service holds it to the room's target; HomeKit only says what that is. */
export function heaterOf({ miner, name }: VisibleRig, heating: Heating): ServicePlan {
  const known = isKnown(miner);
  const active = isActive(miner, heating);
  return {
    type: "HeaterCooler",
    subtype: "main",
    name,
    characteristics: [
      {
        type: "Active",
        value: known ? Number(active) : null,
        sendCommand: (value) => (isOn(value) ? handedBack(miner, heating) : switchRequest([miner.id], false)),
      },
      { type: "CurrentHeaterCoolerState", value: known ? stateOf(miner, active) : null },
      {
        type: "TargetHeaterCoolerState",
        value: heat,
        props: { validValues: [heat] },
        sendCommand: () => ({ miners: [miner.id], intents: [] }),
      },
      { type: "CurrentTemperature", value: figureWithin(heating.room, rooms.lowest, rooms.highest) },
      target(miner, heating),
    ],
  };
}

/**
 * Whether it heats when its room wants it: one that is warm enough is active, and idle. One that somebody has stopped
 * is not, until somebody switches it on again.
 */
export const isActive = (miner: Miner, { held }: Heating): boolean => isMining(miner) || !held;

function stateOf(miner: Miner, active: boolean): number {
  if (!active) return states.inactive;
  return isHashing(miner) ? states.heating : states.idle;
}

/** To set what the room should have takes back a rig that a person has stopped; then its room decides. */
export const handedBack = ({ id }: Miner, { target }: Heating): CommandRequest => targetTold(id, target);

export const targetTold = (id: number, celsius: number): CommandRequest => ({
  miners: [id],
  intents: [{ kind: "set", property: "room_target", value: String(celsius) }],
});

const target = ({ id }: Miner, { target }: Heating): CharacteristicPlan => ({
  type: "HeatingThresholdTemperature",
  value: figureWithin(target, targets.minValue, targets.maxValue),
  props: targets,
  sendCommand: (value) => targetTold(id, Number(value)),
});
