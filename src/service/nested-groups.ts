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
