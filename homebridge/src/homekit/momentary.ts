import { type ManualAction, type Miner, properties } from "rigbridge";
import { homeKitName, ownInformation, partName } from "../accessory-texts.ts";
import { isCurrent, isFullyRead } from "../rig-state.ts";
import { type CommandRequest, setRequest } from "../send-command.ts";
import type { AccessoryPlan, PropertyPart, ServicePlan } from "./plan.ts";
import { isOn } from "./values.ts";

/** A control that acts once, if the settings ask for it and the rig has it. */
export const triggerPart: PropertyPart = ({ miner, name, choices }, key) => {
  if (!choices.switches.some((wanted) => wanted === key)) return [];
  const service = momentary(
    key,
    partName(name, properties[key].name.toLowerCase()),
    isCurrent(miner),
    setRequest([miner.id], key, true),
  );
  if (miner.controls.some((control) => control.key === key)) return [service];
  return isFullyRead(miner) ? [] : [{ ...service, characteristics: [], isDoubtful: true }];
};

/** A manual rule of the service. It runs on the miners that it applies to, or through any one, and not without one. */
export function rulePlan(
  { id, name: title }: ManualAction,
  miners: readonly Miner[],
  runsOnEach: boolean,
): AccessoryPlan {
  const name = homeKitName(title, "Rule");
  const through = miners.find(isCurrent) ?? miners[0];
  const request = {
    miners: runsOnEach ? miners.map((each) => each.id) : through === undefined ? [] : [through.id],
    intents: [{ kind: "action", action: { action: "rule", rule_id: id } }],
  } as const;
  return {
    key: `rule:${id}`,
    name,
    information: ownInformation("Manual rule", `rule:${id}`),
    host: null,
    services: [momentary("main", name, through !== undefined, request)],
  };
}

/** A switch that returns to off automatically. */
const momentary = (subtype: string, name: string, isAvailable: boolean, request: CommandRequest): ServicePlan => ({
  type: "Switch",
  subtype,
  name,
  characteristics: [
    {
      type: "On",
      value: isAvailable ? false : null,
      requestFor: (value) => (isOn(value) ? request : { ...request, intents: [] }),
      springsBack: true,
    },
  ],
});
