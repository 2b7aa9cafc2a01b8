import { type Control, type Heating, type Miner, type PropertyKey, properties } from "rigbridge";
import type { VisibleRig } from "./visible-farm.ts";

/** What HomeKit and Matter both conclude from a miner's readings and controls. */

/** The value of a property that is a number; null = unknown. */
export function numberOf(miner: Miner, key: PropertyKey): number | null {
  const value = properties[key].read(miner, 0);
  return typeof value === "number" ? value : null;
}

/** Whether the readings are current: one missed read leaves them so, three do not. */
export const isCurrent = ({ hasValidStatus, isOffline, statusInfo }: Miner): boolean =>
  hasValidStatus && !isOffline && statusInfo.statusDisplay !== "Disabled";

/** Whether a control that is not listed does not exist: the rig was read, and nothing was left out. */
export const isFullyRead = (miner: Miner): boolean => isCurrent(miner) && miner.readings.notes.length === 0;

export const miningControl = ({ controls }: Miner): Control | undefined => controls.find(({ key }) => key === "mining");

/** As the rig reports; if it does not, whether it hashes. */
export const isMining = (miner: Miner): boolean => {
  const value = properties.mining.read(miner, 0);
  return typeof value === "boolean" ? value : isHashing(miner);
};

export const isHashing = ({ readings }: Miner): boolean => (readings.hashrate ?? 0) > 0;

/** The room of a rig that is to be shown as a heater. A rig without a room is an outlet. */
export const roomOf = ({ miner, choices }: VisibleRig): Heating | null =>
  choices.as === "heater" ? miner.heating : null;

/** A heater that waits for its room to cool down is on; a heater that a person stopped is off until switched on. */
export const isHeaterOn = (miner: Miner, { held }: Heating): boolean => isMining(miner) || !held;

/** Rigs that are switched together. */
export interface SwitchState {
  /** The targets of a command. */
  readonly ids: readonly number[];
  /** false = none of them has current readings. */
  readonly isCurrent: boolean;
  readonly isOn: boolean;
  readonly isInUse: boolean;
}

export function switchState(miners: readonly Miner[]): SwitchState {
  const current = miners.filter(isCurrent);
  return {
    ids: current.map(({ id }) => id),
    isCurrent: current.length > 0,
    isOn: current.some(isMining),
    isInUse: current.some(isHashing),
  };
}

/** Of the members that can be stopped; null if none can. */
export function groupState(members: readonly Miner[]): SwitchState | null {
  const able = members.filter((miner) => miningControl(miner) !== undefined);
  return able.length === 0 ? null : switchState(able);
}
