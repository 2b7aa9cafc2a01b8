import { invalid, RigbridgeError, thing } from "../../contract/problems.ts";
import type { Group } from "../../contract/resources.ts";
import type { MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, Stored, StoredGroup } from "../../store/index.ts";
import { done, enabled, findOwn, given } from "../crud.ts";
import { walkGroups } from "../nested-groups.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { forgetFor } from "../users/users.ts";
import type { GroupSection } from "./miner-json-cache.ts";

type GroupOperations = Pick<MiningService, "listGroups" | "addGroup" | "changeGroup" | "deleteGroup">;

const presentGroup = ({ id, name, parentId, room = false, owner }: Stored<StoredGroup>): Group => ({
  id,
  name,
  parentId,
  ...(room ? { room } : {}),
  ...(owner === "file" ? { owner } : {}),
});

/** Groups of miners. `regrouped` is called when miners may have changed group. */
export function groupOperations(
  store: Store,
  accessBook: AccessBook,
  move: (minerId: number, groupId: number) => Promise<void>,
  regrouped: () => void,
): GroupOperations {
  const { groups, miners } = store;
  const checkParent = (parentId: number, id: number | null): void => {
    if (parentId === 0) return;
    for (let above = parentId; above !== 0; above = groups.get(above)?.parentId ?? 0) {
      if (above === id) throw invalid("parentId", detail("input.groupInside"));
      if (groups.get(above)?.disabled !== false)
        throw invalid("parentId", detail("input.noThing", { thing: thing("group"), id: above }));
    }
  };
  return {
    listGroups: async (_input, caller) => {
      const { seesGroup } = accessBook.of(caller);
      const visible = enabled(groups).filter(({ id }) => seesGroup(id));
      const ids = new Set(visible.map(({ id }) => id));
      return visible.map((group) => ({
        ...presentGroup(group),
        parentId: ids.has(group.parentId) ? group.parentId : 0,
      }));
    },
    addGroup: async ({ name, parentId, room }) => {
      checkParent(parentId, null);
      const added = await groups.add({ name, parentId, room });
      regrouped();
      return presentGroup(added);
    },
    changeGroup: async ({ id, ...change }) => {
      findOwn(groups, id, "group");
      if (change.parentId !== undefined) checkParent(change.parentId, id);
      const changed = await groups.change(id, given(change));
      regrouped();
      return presentGroup(changed);
    },
    deleteGroup: async ({ id }) => {
      const group = findOwn(groups, id, "group");
      const members = enabled(miners).filter(({ groupId }) => groupId === id);
      const inside = enabled(groups).filter(({ parentId }) => parentId === id);
      if ([...members, ...inside].some(({ owner }) => owner === "file")) {
        throw new RigbridgeError("owned.by-file", detail("owned.group", { group: group.name }));
      }
      for (const miner of members) await move(miner.id, group.parentId);
      for (const host of enabled(store.hosts))
        if (host.groupId === id) await store.hosts.change(host.id, { groupId: group.parentId });
      for (const miner of enabled(store.managedMiners))
        if (miner.groupId === id) await store.managedMiners.change(miner.id, { groupId: group.parentId });
      for (const { id: below } of inside) await groups.change(below, { parentId: group.parentId });
      await groups.remove(id);
      const maximum = store.roomMaxima.all().find(({ room }) => room === `group-${id}`);
      if (maximum !== undefined) await store.roomMaxima.remove(maximum.id);
      await forgetFor(store, "groups", id);
      await store.groupEnergies.forget(id);
      await store.farmSamples.forget(id);
      regrouped();
      return done(`Group ${group.name} removed`);
    },
  };
}

/** The groups that are visible to this access; a group whose parent is hidden moves to the top. */
export const visibleSections = (sections: readonly GroupSection[], { seesGroup }: Access): GroupSection[] =>
  Array.from(
    walkGroups(sections, ({ id }) => !seesGroup(id)),
    ({ group }) => group,
  ).filter(({ id }) => seesGroup(id));

const separator = " / ";

/** All groups on one level, each named by its path: many clients show only one level. */
export const flatSections = (sections: readonly GroupSection[]): GroupSection[] =>
  Array.from(walkGroups(sections), ({ group, above }) => ({
    ...group,
    name: [...above, group].map(({ name }) => name).join(separator),
    groups: [],
  }));

/** The groups that contain one of these miners, directly or in a subgroup. */
export const sectionsWith = (sections: readonly GroupSection[], isShown: (id: number) => boolean): GroupSection[] =>
  sections.flatMap((section) => {
    const minerIds = section.minerIds.filter(isShown);
    const groups = sectionsWith(section.groups, isShown);
    return minerIds.length + groups.length === 0 ? [] : [{ ...section, minerIds, groups }];
  });

/** The miners of groups and of their subgroups. */
export const minersInSections = (sections: readonly GroupSection[]): number[] =>
  [...walkGroups(sections)].flatMap(({ group }) => group.minerIds);

/**
 * Finds a group by its id, name or path and returns its id, or the reason why it was not found. A request may name
 * 100,000.
 */
export type FindGroup = (group: string | number) => number | { readonly message: string };

/** The id of a group. Throws `input.invalid` at the field. */
export function groupIdOf(
  group: string | number,
  groups: Store["groups"],
  access: Access,
  field: "group" | "groupId" = "group",
): number {
  const found = groupFinder(groups, access)(group);
  if (typeof found === "number") return found;
  throw invalid(field, found.message);
}

/**
 * Searches the groups that are visible to this access; 0 stands for the miners in no group. Paths start at the topmost
 * visible group, as in the list of miners.
 */
export function groupFinder(groups: Store["groups"], access: Access): FindGroup {
  const visible = visibleGroups(groups, access);
  const idsByName = new Map<string, Set<number>>();
  for (const { id, name } of visible.values())
    for (const each of [name, pathOf(id, visible)]) idsByName.set(each, (idsByName.get(each) ?? new Set()).add(id));
  return (group) => {
    if (group === 0 || (typeof group === "number" && visible.has(group))) return group;
    const [first, ...others] = idsByName.get(String(group)) ?? [];
    if (typeof group === "number" || first === undefined) return noGroup(group);
    if (others.length === 0) return first;
    const named = `there are ${others.length + 1} groups named ${group}`;
    return { message: `${named}; give the id, or a path such as Hall${separator}Row 1` };
  };
}

/** The paths of the groups that are visible to this access, by which `groupFinder` finds them. */
export function groupPaths(groups: Store["groups"], access: Access): ReadonlyMap<number, string> {
  const visible = visibleGroups(groups, access);
  return new Map(Array.from(visible.keys(), (id) => [id, pathOf(id, visible)]));
}

const visibleGroups = (groups: Store["groups"], access: Access): ReadonlyMap<number, Stored<StoredGroup>> =>
  new Map(
    enabled(groups)
      .filter(({ id }) => access.seesGroup(id))
      .map((group) => [group.id, group]),
  );

export const noGroup = (group: string | number) => ({ message: `there is no group ${group}` });

/** The path as in `flatSections`. */
function pathOf(id: number, visible: ReadonlyMap<number, Stored<StoredGroup>>): string {
  let path = "";
  for (let at = visible.get(id); at !== undefined && path.length <= longestPath; at = visible.get(at.parentId))
    path = path === "" ? at.name : `${at.name}${separator}${path}`;
  return path;
}

/** Maximum characters of a group in a request. */
const longestPath = 400;

/** The groups as GET /api/miners shows them: nested, with ungrouped miners last. */
export function sectionsOf(
  groups: readonly Stored<StoredGroup>[],
  miners: readonly { readonly id: number; readonly groupId: number }[],
): GroupSection[] {
  const ids = new Set(groups.map(({ id }) => id));
  const inGroup = Map.groupBy(miners, ({ groupId }) => (ids.has(groupId) ? groupId : 0));
  const below = Map.groupBy(groups, ({ parentId }) => (ids.has(parentId) ? parentId : 0));
  const minerIds = (id: number): number[] => (inGroup.get(id) ?? []).map((miner) => miner.id);
  const section = ({ id, name }: Stored<StoredGroup>): GroupSection => ({
    id,
    name,
    minerIds: minerIds(id),
    groups: (below.get(id) ?? []).map(section),
  });
  const ungrouped = minerIds(0);
  const rest = { id: 0, name: "Ungrouped", minerIds: ungrouped, groups: [] };
  return [...(below.get(0) ?? []).map(section), ...(ungrouped.length > 0 ? [rest] : [])];
}
