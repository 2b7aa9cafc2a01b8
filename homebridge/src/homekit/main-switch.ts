import type { Control, Miner } from "rigbridge";
import type { CommandRequest } from "../send-command.ts";
import { heaterOf } from "./heater.ts";
import { type CharacteristicPlan, doubtful, type ServicePlan } from "./plan.ts";
import type { VisibleRig } from "./rig-parts.ts";
import { isOn } from "./values.ts";

/**
 * What a rig mainly is: a heater, where it heats a room, else an outlet or a switch, where it can be stopped. What should
 * be a heater and heats no room is an outlet.
 */
export function mainPart(rig: VisibleRig): readonly ServicePlan[] {
  const { miner, name, choices } = rig;
  if (choices.as === "heater" && miner.heating !== null) return [heaterOf(rig, miner.heating)];
  const as = choices.as === "switch" ? "switch" : "outlet";
  if (miningControl(miner) === undefined)
    return isWhole(miner) ? [] : [doubtful(as === "switch" ? "Switch" : "Outlet", "main", name)];
  const told = { ids: [miner.id], isKnown: isKnown(miner) };
  return [switchOf(as, "main", name, { ...told, isOn: isMining(miner), isInUse: isHashing(miner) })];
}

export interface SwitchState {
  readonly ids: readonly number[];
  /** false = nobody knows how it is. */
  readonly isKnown: boolean;
  readonly isOn: boolean;
  readonly isInUse: boolean;
}

/** An outlet or a switch for some miners together. */
export function switchOf(as: "outlet" | "switch", subtype: string, name: string, state: SwitchState): ServicePlan {
  const on: CharacteristicPlan = {
    type: "On",
    value: state.isKnown ? state.isOn : null,
    sendCommand: (value) => switchRequest(state.ids, isOn(value)),
  };
  const inUse: CharacteristicPlan = { type: "OutletInUse", value: state.isKnown ? state.isInUse : null };
  if (as === "switch") return { type: "Switch", subtype, name, characteristics: [on] };
  return { type: "Outlet", subtype, name, characteristics: [on, inUse] };
}

export const switchRequest = (miners: readonly number[], on: boolean): CommandRequest => ({
  miners,
  intents: [{ kind: "set", property: "mining", value: String(on) }],
});

export const miningControl = ({ controls }: Miner): Control | undefined => controls.find(({ key }) => key === "mining");

/** Whether what is said of the miner is of now: one missed read leaves it so, three do not. */
export const isKnown = ({ hasValidStatus, isOffline, statusInfo }: Miner): boolean =>
  hasValidStatus && !isOffline && statusInfo.statusDisplay !== "Disabled";

/** Whether a control that is missing is one that it does not have: it was read, and all of it. */
export const isWhole = (miner: Miner): boolean => isKnown(miner) && miner.readings.notes.length === 0;

/** As the rig says; where it does not, whether it hashes. */
export const isMining = (miner: Miner): boolean => {
  const { value = null } = miningControl(miner) ?? {};
  return typeof value === "boolean" ? value : (miner.readings.mining ?? isHashing(miner));
};

export const isHashing = ({ readings }: Miner): boolean => (readings.hashrate ?? 0) > 0;
