import type { Stored, StoredGroup } from "../store/index.ts";

interface Nested<T> {
  readonly groups?: readonly T[] | undefined;
}

/** Every group, parents first, with those `above` it from the top; nothing inside a group for which `enters` is false. */
export function* walkGroups<T extends Nested<T>>(
  groups: readonly T[],
  enters: (group: T) => boolean = () => true,
  above: readonly T[] = [],
): Generator<{ readonly group: T; readonly above: readonly T[] }> {
  for (const group of groups) {
    yield { group, above };
    if (group.groups !== undefined && enters(group)) yield* walkGroups(group.groups, enters, [...above, group]);
  }
}

/** The ids of groups, and of all groups inside them. */
export function withInnerGroups(
  ids: Iterable<number>,
  groups: readonly { readonly id: number; readonly parentId: number }[],
): ReadonlySet<number> {
  const found = new Set(ids);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const { id, parentId } of groups) if (found.has(parentId)) found.add(id);
  }
  return found;
}

/** A group and those that it is inside of; 0 alone for none. A group that the file no longer declares does not count. */
export function lineOf(
  groupId: number,
  groups: { get(id: number): Stored<StoredGroup> | undefined },
): readonly number[] {
  const ids: number[] = [];
  let group = groups.get(groupId);
  while (group !== undefined && !group.disabled && !ids.includes(group.id)) {
    ids.push(group.id);
    group = groups.get(group.parentId);
  }
  return ids.length === 0 ? [0] : ids;
}
