import type { Group, Miner } from "rigbridge";
import { energyIn } from "rigbridge/farm";
import { homeKitName } from "./accessory-texts.ts";
import type { RigChoices, RigSettings, Settings } from "./config/schema.ts";
import type { Farm } from "./farm-view.ts";

/** Above this number of rigs only groups are shown: a HomeKit bridge has room for 149 accessories. */
export const mostRigs = 140;

/** Finds a miner's entry in `rigs` of the settings, by name or address; undefined if it has none. */
export type FindSettings = (miner: Miner) => RigSettings | undefined;

/** What the settings leave of a farm, for HomeKit and Matter alike. */
export interface VisibleFarm {
  readonly miners: readonly Miner[];
  /** Rigs that are not hidden, including those that have not been identified yet. */
  readonly wanted: readonly VisibleRig[];
  readonly tooMany: boolean;
  /** The identified ones of `wanted`; none if there are too many. */
  readonly rigs: readonly VisibleRig[];
  readonly groups: readonly VisibleGroup[];
}

/** A miner with its settings. */
export interface VisibleRig {
  readonly miner: Miner;
  /** The name of its accessory. */
  readonly name: string;
  readonly choices: RigChoices;
  readonly settings: Settings;
  /** An offline rig raises no alarm. */
  readonly offlineExpected: boolean;
}

/** Rigs that are switched together. */
export interface VisibleGroup {
  /** `group:<id>`, or `rigs` for all of them. */
  readonly key: string;
  readonly name: string;
  readonly members: readonly Miner[];
  /** Wh; null if unknown. */
  readonly energy: number | null;
}

export function visibleFarm(farm: Farm, settings: Settings, find: FindSettings): VisibleFarm {
  const shown = selected(farm, settings.groups.only);
  const { miners } = shown;
  const wanted = miners.map((miner) => visibleRig(miner, settings, find(miner))).filter((each) => each !== null);
  // Unidentified rigs count; otherwise rigs would appear and then disappear.
  const tooMany = wanted.length > mostRigs;
  return {
    miners,
    wanted,
    tooMany,
    rigs: tooMany ? [] : wanted.filter(({ miner }) => miner.uid !== null),
    groups: visibleGroups(shown, settings, tooMany),
  };
}

/** null = hidden. What the rig's own settings leave out is as for all rigs. */
function visibleRig(miner: Miner, settings: Settings, own: RigSettings | undefined): VisibleRig | null {
  const { defaults } = settings;
  const choices = {
    as: own?.as ?? defaults.as,
    sensors: own?.sensors ?? defaults.sensors,
    fan: own?.fan ?? defaults.fan,
    power: own?.power ?? defaults.power,
    alarm: own?.alarm ?? defaults.alarm,
    switches: own?.switches ?? defaults.switches,
  };
  if (choices.as === "hidden") return null;
  const name = homeKitName(own?.name ?? miner.name, "Rig");
  return { miner, name, choices, settings, offlineExpected: own?.offlineExpected ?? false };
}

function visibleGroups(
  { miners, groups, energies }: Pick<Farm, "miners" | "groups" | "energies">,
  { groups: { as, all, only } }: Settings,
  tooMany: boolean,
): VisibleGroup[] {
  const energyOf = (id: number | null) => energyIn(energies, id);
  // The energy of a group includes that of its subgroups.
  const outermost = groups.filter(({ parentId }) => groups.every(({ id }) => id !== parentId));
  const energy = only === undefined ? energyOf(null) : sumOf(outermost.map(({ id }) => energyOf(id)));
  const whole = { key: "rigs", name: "All rigs", members: miners, energy };
  const wanted = as === "hidden" ? [] : groups;
  const visible = wanted.map(({ id, name }): VisibleGroup => {
    const ids = withSubgroups(id, groups);
    const members = miners.filter(({ groupId }) => ids.has(groupId));
    return { key: `group:${id}`, name: homeKitName(name, "Group"), members, energy: energyOf(id) };
  });
  return all || tooMany ? [whole, ...visible] : visible;
}

/** Null if no value is known. */
function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value);
}

/** The groups named in the settings with their subgroups, and the miners in them. */
function selected(farm: Farm, only: readonly string[] | undefined): Pick<Farm, "miners" | "groups" | "energies"> {
  const { miners, groups, energies } = farm;
  if (only === undefined) return farm;
  const named = groups.filter(({ name }) => only.includes(name));
  const ids = new Set(named.flatMap(({ id }) => [...withSubgroups(id, groups)]));
  return {
    miners: miners.filter(({ groupId }) => ids.has(groupId)),
    groups: groups.filter(({ id }) => ids.has(id)),
    energies,
  };
}

function withSubgroups(id: number, groups: readonly Group[]): ReadonlySet<number> {
  const ids = new Set([id]);
  for (let size = 0; size !== ids.size; ) {
    size = ids.size;
    for (const group of groups) if (ids.has(group.parentId)) ids.add(group.id);
  }
  return ids;
}
