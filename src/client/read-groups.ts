import type { Grouped } from "../contract/miners-in.ts";
import type { Fields } from "./fields.ts";
import { type Omitting, readable } from "./omissions.ts";

/** Levels of groups inside groups that are read. */
const deepest = 32;

type Group<M> = Grouped<M> & { groupList?: Group<M>[] };

/** The groups of a reply, with what `miners` reads of each. Throws `service.garbled` where they are nested too deeply. */
export function readGroups<M>(
  holder: Fields,
  omitting: Omitting,
  miners: (group: Fields, id: number) => M[],
  depth = 0,
): Group<M>[] {
  const [groups = []] = readable(
    [holder],
    (fields) => fields.readable("groupList", (group) => group, omitting),
    omitting,
  );
  if (groups.length > 0 && depth === deepest) throw holder.odd("groupList", "no further group");
  return groups.flatMap((group) => {
    const groupList = readGroups(group, omitting, miners, depth + 1);
    const build = (): Group<M> => {
      const id = group.id();
      const minerList = miners(group, id);
      return { id, name: group.text("name"), minerList, ...(groupList.length === 0 ? {} : { groupList }) };
    };
    return readable([group], build, omitting);
  });
}
