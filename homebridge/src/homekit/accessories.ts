import type { Group, Miner } from "rigbridge";
import { choicesFor, type Listed } from "../config/choices.ts";
import type { RigSettings, Settings } from "../config/schema.ts";
import type { Farm } from "../farm-view.ts";
import { isHashing, isKnown, isMining, miningControl, switchOf } from "./main-switch.ts";
import type { AccessoryPlan } from "./plan.ts";
import { servicesOf } from "./rig-parts.ts";
import { homeKitName, informationText, versionIn } from "./texts.ts";

export interface HomePlan {
  readonly accessories: readonly AccessoryPlan[];
  /** What is not shown, or not as it is wanted, and why; for people. */
  readonly notes: readonly string[];
}

/** Rigs above which only their groups are shown: a bridge of HomeKit has room for 149 accessories. */
export const mostRigs = 140;
const mostAccessories = 149;

/** Which accessories there are of a farm, with all that they show and how they are told. */
export function whatAccessories(farm: Farm, settings: Settings, listed: Listed): HomePlan {
  const { miners, groups } = chosenOf(farm, settings.groups.only);
  const identified = miners.filter(({ uid }) => uid !== null);
  const shown = identified.map((miner) => rigPlan(miner, settings, listed(miner))).filter((each) => each !== null);
  const tooMany = shown.length > mostRigs;
  const rigs = tooMany ? [] : shown.flatMap(({ plan }) => (plan === null ? [] : [plan]));
  const all = [...groupPlans(miners, groups, settings, tooMany), ...rigs];
  return {
    accessories: all.slice(0, mostAccessories),
    notes: [
      ...(tooMany ? [tooManyRigs(shown.length)] : shown.flatMap(({ note }) => (note === null ? [] : [note]))),
      ...(all.length > mostAccessories ? [tooManyAccessories(all.length)] : []),
    ],
  };
}

const tooManyRigs = (count: number): string =>
  `HomeKit has room for 149 accessories on a bridge, and there are ${count} rigs, so only their groups are shown. ` +
  "For each rig: run this plugin several times, each on a child bridge and for some groups of a service elsewhere";

const tooManyAccessories = (count: number): string =>
  `HomeKit has room for 149 accessories on a bridge, and these would be ${count}; the last ones are not shown`;

interface RigPlan {
  /** null = nothing of it can be shown. */
  readonly plan: AccessoryPlan | null;
  readonly note: string | null;
}

/** null = it is not wanted. */
function rigPlan(miner: Miner, settings: Settings, listed: RigSettings | undefined): RigPlan | null {
  const choices = choicesFor(settings, listed);
  if (choices.as === "hidden") return null;
  const name = homeKitName(listed?.name ?? miner.name, "Rig");
  const services = servicesOf({ miner, name, choices, settings });
  const { identity } = miner;
  const plan = {
    key: `rig:${miner.uid}`,
    name,
    information: {
      manufacturer: informationText(identity?.make ?? "", "Rigbridge"),
      model: informationText(identity?.model ?? miner.hardware, "Mining rig"),
      serial: informationText(identity?.serial ?? miner.uid ?? "", "unknown"),
      firmware: versionIn(identity?.firmware ?? ""),
    },
    host: miner.hostDescription,
    services,
  };
  const note = miningControl(miner) === undefined ? `${miner.name} is not switched: it cannot be stopped` : null;
  return { plan: services.length === 0 ? null : plan, note };
}

/** Outlets for groups, and for all rigs, that stop and start what of them can be. */
function groupPlans(miners: readonly Miner[], groups: readonly Group[], settings: Settings, tooMany: boolean) {
  const { as, all } = settings.groups;
  const wanted = as === "hidden" ? [] : groups;
  const plans = wanted.flatMap((group) => {
    const ids = withInner(group.id, groups);
    return groupPlan(
      `group:${group.id}`,
      group.name,
      miners.filter(({ groupId }) => ids.has(groupId)),
      settings,
    );
  });
  return all || tooMany ? [...groupPlan("rigs", "All rigs", miners, settings), ...plans] : plans;
}

function groupPlan(key: string, called: string, members: readonly Miner[], settings: Settings): AccessoryPlan[] {
  const able = members.filter((miner) => miningControl(miner) !== undefined);
  if (able.length === 0) return [];
  const name = homeKitName(called, "Group");
  const known = able.filter(isKnown);
  const state = {
    ids: known.map(({ id }) => id),
    isKnown: known.length > 0,
    isOn: known.some(isMining),
    isInUse: known.some(isHashing),
  };
  const as = settings.groups.as === "switch" ? "switch" : "outlet";
  return [
    {
      key,
      name,
      information: { manufacturer: "Rigbridge", model: "Group of rigs", serial: key, firmware: "0" },
      host: null,
      services: [switchOf(as, "main", name, state)],
    },
  ];
}

/** Of all that is there, what the settings leave: groups that they name with those inside, and the miners there. */
function chosenOf({ miners, groups }: Farm, only: readonly string[] | undefined): Pick<Farm, "miners" | "groups"> {
  if (only === undefined) return { miners, groups };
  const named = groups.filter(({ name }) => only.includes(name));
  const ids = new Set(named.flatMap(({ id }) => [...withInner(id, groups)]));
  return { miners: miners.filter(({ groupId }) => ids.has(groupId)), groups: groups.filter(({ id }) => ids.has(id)) };
}

/** A group and all inside it. */
function withInner(id: number, groups: readonly Group[]): ReadonlySet<number> {
  const ids = new Set([id]);
  for (let size = 0; size !== ids.size; ) {
    size = ids.size;
    for (const group of groups) if (ids.has(group.parentId)) ids.add(group.id);
  }
  return ids;
}
