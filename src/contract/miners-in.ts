import type { Miner, MinerGroup } from "./resources.ts";

/** The miners of these groups and of those inside them, in the order in which they are listed. */
export const minersIn = (groups: readonly MinerGroup[]): Miner[] =>
  groups.flatMap(({ minerList, groupList = [] }) => [...minerList, ...minersIn(groupList)]);
