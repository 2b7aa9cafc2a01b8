import type { HomeAssistantSettings } from "../../config/mqtt.ts";
import type { Group, Miner } from "../../contract/resources.ts";
import { farmId, groupId, type Place } from "./device.ts";

/** With more miners than this, a device for each would overload Home Assistant. */
export const maxMiners = 100;

/** Decides which devices are announced, and through which others they are connected. */
export interface Scope {
  readonly settings: HomeAssistantSettings;
  readonly groups: ReadonlyMap<number, Group>;
  readonly count: number;
  /** Whether the miner with this uid is already announced. */
  readonly isAnnounced: (uid: string) => boolean;
}

export const showsMiners = ({ settings, count }: Scope): boolean => settings.miners ?? count <= maxMiners;

/** With too many miners, no further ones are announced and none is removed. */
export const showsMiner = (scope: Scope, { groupId: group, uid }: Miner): boolean =>
  isChosen(scope, group) &&
  (showsMiners(scope) || (scope.settings.miners === undefined && uid !== null && scope.isAnnounced(uid)));

export const showsGroup = (scope: Scope, { id }: Group): boolean => isChosen(scope, id);

/** Choosing a group chooses its subgroups. */
const isChosen = ({ settings, groups }: Scope, id: number): boolean =>
  settings.groups === undefined || lineOf(groups, id).some(({ name }) => settings.groups?.includes(name));

/**
 * A miner is connected through its group, a group through its parent, and all through the farm. Its area is the
 * innermost of its groups that is a room.
 */
export function placeOf(scope: Scope, { groupId: id }: Miner, base: string): Place {
  const room = lineOf(scope.groups, id).find((group) => group.room === true);
  return { via: deviceOf(scope, id, base), area: room?.name ?? null };
}

export const viaOf = (scope: Scope, { parentId }: Group, base: string): string => deviceOf(scope, parentId, base);

const deviceOf = (scope: Scope, id: number, base: string): string => {
  const group = scope.groups.get(id);
  return group !== undefined && showsGroup(scope, group) ? groupId(base, id) : farmId(base);
};

/** The number of levels down to this group: its parents are announced first. */
export const depthOf = ({ groups }: Scope, { id }: Group): number => lineOf(groups, id).length;

/** The group, its parent, and so on. */
function lineOf(groups: ReadonlyMap<number, Group>, id: number): Group[] {
  const line: Group[] = [];
  for (let next = groups.get(id); next !== undefined && !line.includes(next); next = groups.get(next.parentId))
    line.push(next);
  return line;
}
