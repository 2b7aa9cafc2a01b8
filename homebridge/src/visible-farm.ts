import type { Group, Miner } from "rigbridge";
import { choicesFor, type Listed } from "./config/choices.ts";
import type { RigSettings, Settings } from "./config/schema.ts";
import type { Farm } from "./farm-view.ts";
import type { VisibleRig } from "./homekit/rig-parts.ts";
import { homeKitName } from "./homekit/texts.ts";

/** Rigs above which only their groups are shown: a bridge of HomeKit has room for 149 accessories. */
export const mostRigs = 140;

/** What the settings leave of a farm, for HomeKit and for Matter alike. */
export interface VisibleFarm {
  readonly miners: readonly Miner[];
  /** Rigs that are not hidden, those too that were not identified yet. */
  readonly wanted: readonly VisibleRig[];
  readonly tooMany: boolean;
  /** Those of them that are shown: the identified ones, or none where they are too many. */
  readonly rigs: readonly VisibleRig[];
  readonly groups: readonly VisibleGroup[];
}

/** Rigs that are switched together. */
export interface VisibleGroup {
  /** `group:<id>`, or `rigs` for all of them. */
  readonly key: string;
  readonly name: string;
  readonly members: readonly Miner[];
}

export function shownFarm(farm: Farm, settings: Settings, listed: Listed): VisibleFarm {
  const { miners, groups } = chosenOf(farm, settings.groups.only);
  const wanted = miners.map((miner) => wantedRig(miner, settings, listed(miner))).filter((each) => each !== null);
  // Those that were not identified yet count: they would come, and then go again.
  const tooMany = wanted.length > mostRigs;
  return {
    miners,
    wanted,
    tooMany,
    rigs: tooMany ? [] : wanted.filter(({ miner }) => miner.uid !== null),
    groups: shownGroups(miners, groups, settings, tooMany),
  };
}

/** null = it is not wanted. */
function wantedRig(miner: Miner, settings: Settings, listed: RigSettings | undefined): VisibleRig | null {
  const choices = choicesFor(settings, listed);
  if (choices.as === "hidden") return null;
  const name = homeKitName(listed?.name ?? miner.name, "Rig");
  return { miner, name, choices, settings, offlineExpected: listed?.offlineExpected ?? false };
}

function shownGroups(
  miners: readonly Miner[],
  groups: readonly Group[],
  { groups: { as, all } }: Settings,
  tooMany: boolean,
): VisibleGroup[] {
  const whole = { key: "rigs", name: "All rigs", members: miners };
  const wanted = as === "hidden" ? [] : groups;
  const shown = wanted.map(({ id, name }): VisibleGroup => {
    const ids = withInner(id, groups);
    const members = miners.filter(({ groupId }) => ids.has(groupId));
    return { key: `group:${id}`, name: homeKitName(name, "Group"), members };
  });
  return all || tooMany ? [whole, ...shown] : shown;
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
