import { groupsIn } from "../contract/miners-in.ts";
import { type Miner, minerStatuses, type Summary } from "../contract/resources.ts";
import type { Caller, MiningService } from "../contract/service.ts";
import type { Family, Labels } from "./exposition.ts";
import { joules } from "./miner-metrics.ts";

/** The labels of all samples of a miner. */
export const minerLabels = (miner: Miner, group: string): Labels => ({
  ...idLabels(miner),
  name: miner.name,
  group,
  model: miner.hardware,
});

/** A rig that was never identified has no uid, and names are not unique, so it gets its id. */
const idLabels = ({ uid, id }: Miner): Labels => (uid === null ? { uid: "", id: String(id) } : { uid });

/** Counts miners by status; each status begins at zero. */
export class StatusCounts {
  readonly byStatus = new Map<string, number>(minerStatuses.map((status) => [status, 0]));

  add({ statusInfo: { statusDisplay: status } }: Miner): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
  }
}

/** The metrics of the farm. */
export const farmFamilies = (
  { byStatus }: StatusCounts,
  { energy = null, groupList = [] }: Summary,
): readonly Family[] => [
  {
    metric: { name: "rigbridge_miners", type: "gauge", help: "Miners by status." },
    samples: [...byStatus].map(([status, count]) => [{ status }, count]),
  },
  {
    metric: {
      name: "rigbridge_energy_joules_total",
      type: "counter",
      help: "Energy used by all miners, also those removed since.",
    },
    samples: [[{}, joules(energy)]],
  },
  {
    metric: {
      name: "rigbridge_group_energy_joules_total",
      type: "counter",
      help: "Energy used by the miners of a group and its subgroups while they were in it.",
    },
    samples: groupList.map((group) => [{ group: group.name, id: String(group.id) }, joules(group.energy)]),
  },
];

type Grouped = readonly [miner: Miner, group: string];

/** Every miner that the caller may see, with the name of its group. */
export async function minersOf(service: MiningService, caller: Caller): Promise<Iterable<Grouped>> {
  if (service.eachMiner === undefined)
    return groupsIn((await service.listMiners({}, caller)).groupList).flatMap(({ id, name, minerList }) =>
      minerList.map((miner): Grouped => [miner, id === 0 ? "" : name]),
    );
  const groups = await service.listGroups({}, caller);
  return named(service.eachMiner(caller), new Map(groups.map(({ id, name }) => [id, name])));
}

function* named(miners: Iterable<Miner>, groups: ReadonlyMap<number, string>): Iterable<Grouped> {
  for (const miner of miners) yield [miner, groups.get(miner.groupId) ?? ""];
}
