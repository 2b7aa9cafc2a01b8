import { type ManualAction, type Miner, properties } from "rigbridge";
import type { CommandRequest } from "../send-command.ts";
import { isKnown, isWhole } from "./main-switch.ts";
import { type AccessoryPlan, doubtful, type ServicePlan } from "./plan.ts";
import type { VisibleRig } from "./rig-parts.ts";
import { homeKitName, partName } from "./texts.ts";
import { isOn } from "./values.ts";

/** What a rig can be told to do once, where it is wanted. */
export const triggers = ({ miner, name, choices }: VisibleRig): readonly ServicePlan[] =>
  choices.switches.flatMap((key) => {
    const called = partName(name, properties[key].name.toLowerCase());
    if (!miner.controls.some((control) => control.key === key))
      return isWhole(miner) ? [] : [doubtful("Switch", key, called)];
    const told: CommandRequest = { miners: [miner.id], intents: [{ kind: "set", property: key, value: "true" }] };
    return [momentary(key, called, isKnown(miner), told)];
  });

/** A manual rule of the service. It is run through some miner, whichever; without one it cannot be. */
export function rulePlan({ id, name: called }: ManualAction, miners: readonly Miner[]): AccessoryPlan {
  const name = homeKitName(called, "Rule");
  const through = miners.find(isKnown) ?? miners[0];
  const told = {
    miners: through === undefined ? [] : [through.id],
    intents: [{ kind: "action", action: { action: "rule", rule_id: id } }],
  } as const;
  return {
    key: `rule:${id}`,
    name,
    information: { manufacturer: "Rigbridge", model: "Manual rule", serial: `rule:${id}`, firmware: "0" },
    host: null,
    services: [momentary("main", name, through !== undefined, told)],
  };
}

/** A switch that goes back to off by itself. */
const momentary = (subtype: string, name: string, isThere: boolean, told: CommandRequest): ServicePlan => ({
  type: "Switch",
  subtype,
  name,
  characteristics: [
    {
      type: "On",
      value: isThere ? false : null,
      sendCommand: (value) => (isOn(value) ? told : { ...told, intents: [] }),
      springsBack: true,
    },
  ],
});
