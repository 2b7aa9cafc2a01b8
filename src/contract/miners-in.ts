/** A list of miners, or of something else about each miner, by group. */
export interface Grouped<M> {
  readonly id: number;
  readonly name: string;
  readonly minerList: M[];
  readonly groupList?: Grouped<M>[] | undefined;
}

/** These groups and their subgroups, in listing order. */
export const groupsIn = <M>(groups: readonly Grouped<M>[]): Grouped<M>[] =>
  groups.flatMap((group) => [group, ...groupsIn(group.groupList ?? [])]);

/** The miners of these groups and their subgroups, in listing order. */
export const minersIn = <M>(groups: readonly Grouped<M>[]): M[] =>
  groupsIn(groups).flatMap(({ minerList }) => minerList);
