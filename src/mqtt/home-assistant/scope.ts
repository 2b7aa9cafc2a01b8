import type { HomeAssistantSettings } from "../../config/mqtt.ts";
import type { Group, Miner } from "../../contract/resources.ts";
import { farmId, groupId, type Place } from "./device.ts";

/** Miners beyond which a device for each would drown Home Assistant. */
export const minersAtMost = 100;

/** Which devices there are, and what they hang on. */
export interface Scope {
  readonly settings: HomeAssistantSettings;
  readonly groups: ReadonlyMap<number, Group>;
  /** How many miners there are in all. */
  readonly count: number;
}

export const showsMiners = ({ settings, count }: Scope): boolean => settings.miners ?? count <= minersAtMost;

export const showsMiner = (scope: Scope, { groupId: group }: Miner): boolean =>
  showsMiners(scope) && isChosen(scope, group);

export const showsGroup = (scope: Scope, { id }: Group): boolean => isChosen(scope, id);

/** A group is chosen with all groups inside it. */
const isChosen = ({ settings, groups }: Scope, id: number): boolean =>
  settings.groups === undefined || lineOf(groups, id).some(({ name }) => settings.groups?.includes(name));

/** A miner hangs on its group, a group on the one that it is in, and all on the farm. */
export function placeOf(scope: Scope, { groupId: id }: Miner, base: string): Place {
  return { via: deviceOf(scope, id, base), area: scope.groups.get(id)?.name ?? null };
}

export const viaOf = (scope: Scope, { parentId }: Group, base: string): string => deviceOf(scope, parentId, base);

const deviceOf = (scope: Scope, id: number, base: string): string => {
  const group = scope.groups.get(id);
  return group !== undefined && showsGroup(scope, group) ? groupId(base, id) : farmId(base);
};

/** How many groups this one is in: those are announced before it. */
export const depthOf = ({ groups }: Scope, { id }: Group): number => lineOf(groups, id).length;

/** The group, the one that it is in, and so on. */
function lineOf(groups: ReadonlyMap<number, Group>, id: number): Group[] {
  const line: Group[] = [];
  for (let next = groups.get(id); next !== undefined && !line.includes(next); next = groups.get(next.parentId))
    line.push(next);
  return line;
}
