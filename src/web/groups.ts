import type { Group } from "../contract/resources.ts";

/** The groups above a group and itself, outermost first; empty for 0 and for a group that the user cannot see. */
export function groupPath(groups: readonly Group[], id: number): readonly Group[] {
  const byId = new Map(groups.map((group) => [group.id, group]));
  const path: Group[] = [];
  // A group that is met twice would be inside itself.
  for (let group = byId.get(id); group !== undefined && !path.includes(group); group = byId.get(group.parentId))
    path.unshift(group);
  return path;
}

/** "Hall / Row 1". */
export const groupName = (groups: readonly Group[], id: number): string =>
  groupPath(groups, id)
    .map(({ name }) => name)
    .join(" / ");
