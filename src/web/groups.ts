import type { Group } from "../contract/resources.ts";
import { ownGroupName } from "../contract/site-numbers.ts";

/** The path to a group, outermost first, including the group; empty for 0 and for a hidden group. */
export function groupPath(groups: readonly Group[], id: number): readonly Group[] {
  const byId = new Map(groups.map((group) => [group.id, group]));
  const path: Group[] = [];
  // A repeated group would be inside itself.
  for (let group = byId.get(id); group !== undefined && !path.includes(group); group = byId.get(group.parentId))
    path.unshift(group);
  return path;
}

/** "Hall / Row 1". */
export const groupName = (groups: readonly Group[], id: number): string =>
  groupPath(groups, id).map(ownGroupName).join(" / ");
