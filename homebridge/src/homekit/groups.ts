import type { Miner } from "rigbridge";
import type { Settings } from "../config/schema.ts";
import type { VisibleGroup } from "../visible-farm.ts";
import { meterOf } from "./eve.ts";
import { isHashing, isKnown, isMining, isWhole, miningControl, type SwitchState, switchOf } from "./main-switch.ts";
import { type AccessoryPlan, doubtful } from "./plan.ts";

/** An outlet that stops and starts what of a group can be; none where nothing can. */
export function groupPlan({ key, name, members }: VisibleGroup, settings: Settings): AccessoryPlan[] {
  const state = groupState(members);
  if (state === null && members.every(isWhole)) return [];
  const as = settings.groups.as === "switch" ? "switch" : "outlet";
  const main =
    state === null ? doubtful(as === "switch" ? "Switch" : "Outlet", "main", name) : switchOf(as, "main", name, state);
  return [
    {
      key,
      name,
      information: { manufacturer: "Rigbridge", model: "Group of rigs", serial: key, firmware: "0" },
      host: null,
      services: [main, ...(settings.eve ? [meterOf(members)] : [])],
    },
  ];
}

/** Of those that can be stopped and are there; null where nothing can be stopped. */
export function groupState(members: readonly Miner[]): SwitchState | null {
  const able = members.filter((miner) => miningControl(miner) !== undefined);
  if (able.length === 0) return null;
  const known = able.filter(isKnown);
  return {
    ids: known.map(({ id }) => id),
    isKnown: known.length > 0,
    isOn: known.some(isMining),
    isInUse: known.some(isHashing),
  };
}
