import { ownInformation } from "../accessory-texts.ts";
import type { Settings } from "../config/schema.ts";
import {
  groupState,
  isFullyRead,
  miningControl,
  numberOf,
  roomOf,
  type SwitchState,
  switchState,
} from "../rig-state.ts";
import { setRequest } from "../send-command.ts";
import type { VisibleGroup, VisibleRig } from "../visible-farm.ts";
import { groupMeter, kilowattHours, watts } from "./eve.ts";
import { heaterActive, heaterState, heaterWith } from "./heater.ts";
import type { AccessoryPlan, CharacteristicPlan, PropertyPart, ServicePlan } from "./plan.ts";
import { isOn } from "./values.ts";

/** The main service: a heater if the rig heats a room, otherwise an outlet or switch if it can be stopped. */
export const miningPart: PropertyPart = (rig) => {
  const { miner, name, choices } = rig;
  const room = roomOf(rig);
  if (room !== null) return [heaterWith(rig, heaterActive(miner, room))];
  if (miningControl(miner) === undefined) return isFullyRead(miner) ? [] : [doubtfulSwitch(choices.as, name)];
  return [switchWith(choices.as, name, on({ ...switchState([miner]), ids: [miner.id] }))];
};

/** Whether the rig hashes. */
export const hashratePart: PropertyPart = (rig) => {
  const { miner, name, choices } = rig;
  const room = roomOf(rig);
  if (room !== null) return [heaterWith(rig, heaterState(miner, room))];
  if (choices.as === "switch" || miningControl(miner) === undefined) return [];
  return [switchWith(choices.as, name, inUse(switchState([miner])))];
};

/** Eve shows a history only at an outlet that has these too, besides the meter. */
export const outletPowerPart: PropertyPart = (rig, key) => atOutlet(rig, watts([rig.miner], key));
export const outletEnergyPart: PropertyPart = (rig, key) => atOutlet(rig, kilowattHours([numberOf(rig.miner, key)]));

const atOutlet = (rig: VisibleRig, characteristic: CharacteristicPlan): ServicePlan[] => {
  const { miner, name, choices, settings } = rig;
  const isOutlet = choices.as !== "switch" && roomOf(rig) === null && miningControl(miner) !== undefined;
  return settings.eve && isOutlet ? [switchWith(choices.as, name, characteristic)] : [];
};

/** An outlet or switch for the members that can be stopped; none if there are none. */
export function groupPlan(
  { key, name, members, energy }: VisibleGroup,
  { groups: { as }, eve }: Settings,
): AccessoryPlan[] {
  const state = groupState(members);
  if (state === null && members.every(isFullyRead)) return [];
  const characteristics = state === null ? [] : as === "switch" ? [on(state)] : [on(state), inUse(state)];
  const main = state === null ? doubtfulSwitch(as, name) : switchWith(as, name, ...characteristics);
  return [
    {
      key,
      name,
      information: ownInformation("Group of rigs", key),
      host: null,
      services: [main, ...(eve ? [groupMeter(members, energy)] : [])],
    },
  ];
}

const switchWith = (as: string, name: string, ...characteristics: readonly CharacteristicPlan[]): ServicePlan => ({
  type: as === "switch" ? "Switch" : "Outlet",
  subtype: "main",
  name,
  characteristics,
});

const doubtfulSwitch = (as: string, name: string): ServicePlan => ({ ...switchWith(as, name), isDoubtful: true });

const on = ({ ids, isCurrent, isOn: value }: SwitchState): CharacteristicPlan => ({
  type: "On",
  value: isCurrent ? value : null,
  requestFor: (wanted) => setRequest(ids, "mining", isOn(wanted)),
});

const inUse = ({ isCurrent, isInUse }: SwitchState): CharacteristicPlan => ({
  type: "OutletInUse",
  value: isCurrent ? isInUse : null,
});
