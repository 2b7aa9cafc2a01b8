import type { Stored, StoredGroup } from "../store/index.ts";

interface Nested<T> {
  readonly groups?: readonly T[] | undefined;
}

/**
 * Every group, parents first, with its ancestors (`above`) from the top; skips the subgroups of groups for which
 * `enters` is false.
 */
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

/** The ids of groups and all their subgroups. */
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

/** A group and its ancestors; only 0 for none. Groups that were removed from the file are skipped. */
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
