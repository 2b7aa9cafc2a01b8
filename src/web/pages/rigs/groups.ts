import type { Group } from "../../../contract/resources.ts";
import { ownGroupName } from "../../../contract/site-numbers.ts";
import { noPlaces, type PlaceTree } from "../../places.ts";

/** The groups of rigs, by id, and their places. */
export interface GroupTree {
  /** "Hall / Row 1"; undefined for an unknown group. */
  nameOf(id: number): string | undefined;
  /** The ids of the group and its parents, as texts: a rig in a row is also in its hall. */
  pathOf(id: number): readonly string[];
  readonly all: readonly Group[];
  readonly places: PlaceTree;
}

const noGroup = ["0"];

export function groupTree(groups: readonly Group[], places: PlaceTree = noPlaces): GroupTree {
  const byId = new Map(groups.map((group) => [group.id, group]));
  const lines = new Map<number, readonly Group[]>();
  const lineOf = (id: number): readonly Group[] => {
    const before = lines.get(id);
    if (before !== undefined) return before;
    const line: Group[] = [];
    for (let group = byId.get(id); group !== undefined && !line.includes(group); group = byId.get(group.parentId))
      line.push(group);
    lines.set(id, line);
    return line;
  };
  const paths = new Map<number, readonly string[]>();
  return {
    all: groups,
    places,
    nameOf: (id) => {
      const line = lineOf(id);
      return line.length === 0 ? undefined : line.map(ownGroupName).toReversed().join(" / ");
    },
    pathOf: (id) => {
      if (id === 0) return noGroup;
      const before = paths.get(id);
      if (before !== undefined) return before;
      const line = lineOf(id);
      const path = line.length === 0 ? [String(id)] : line.map((group) => String(group.id));
      paths.set(id, path);
      return path;
    },
  };
}
