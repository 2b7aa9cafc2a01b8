import { groupsIn, minersIn } from "../contract/miners-in.ts";
import { invalid } from "../contract/problems.ts";
import type { MinerList } from "../contract/resources.ts";
import { type MinerRow, rowOf } from "../contract/rows.ts";
import type { Input, Reply } from "../contract/service.ts";

/** Rows of a foreign server's miners. It does not report which notifications concern which miner. */
export function rowsIn(list: Pick<MinerList, "groupList">, filter: Omit<Input<"listMinerRows">, "view">): MinerRow[] {
  const { status, group, tag } = filter;
  const groups = group === undefined ? list.groupList : groupsNamed(list.groupList, group);
  const miners = new Map(minersIn(groups).map((miner) => [miner.id, miner]));
  return [...miners.values()]
    .map((miner) => rowOf(miner, null))
    .filter((row) => status === undefined || status.some((each) => each === row.status))
    .filter((row) => tag === undefined || row.tags.includes(tag));
}

/** Throws `input.invalid` if there is none. */
function groupsNamed(all: MinerList["groupList"], group: number | string): MinerList["groupList"] {
  const found = groupsIn(all).filter(({ id, name }) => id === group || name === group);
  if (found.length === 0) throw invalid("group", `there is no group ${group}`);
  return found;
}

/** The rows that a caller has after a reply to a request without filters. */
export function rowsAfter(
  before: ReadonlyMap<number, MinerRow> | undefined,
  { whole, miners, removed }: Reply<"listMinerRows">,
): ReadonlyMap<number, MinerRow> | undefined {
  if (!whole && before === undefined) return undefined;
  const rows = new Map(whole ? [] : before);
  for (const row of miners) rows.set(row.id, row);
  for (const id of removed) rows.delete(id);
  return rows;
}

/** A row of a miner whose service cannot be reached. */
export const rowOutOfReach = (row: MinerRow): MinerRow => ({
  ...row,
  status: "Disconnected",
  reason: null,
  hashrate: null,
  expected: null,
  power: null,
  temperature: null,
  pool: null,
  profit: null,
  hashrateAverage: null,
  efficiency: null,
  startedAt: null,
  powerLimit: null,
  mode: null,
  rejected: null,
  revenue: null,
  cost: null,
  worker: null,
});
