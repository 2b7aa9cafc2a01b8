import type { Repair } from "../../contract/resources.ts";
import type { Collection, Stored, StoredRepair } from "../../store/index.ts";

type Repairs = Collection<StoredRepair>;
type Rows = ReadonlyMap<number, Stored<StoredRepair>>;

/** By miner, for each list of them: thousands of miners are looked up when the service starts. */
const byMiner = new WeakMap<readonly Stored<StoredRepair>[], Rows>();

function rowsIn(repairs: Pick<Repairs, "all">): Rows {
  const all = repairs.all();
  const rows = byMiner.get(all) ?? new Map(all.map((row) => [row.minerId, row]));
  byMiner.set(all, rows);
  return rows;
}

/** The repair of a miner; null if it is not in repair. */
export function repairOf(repairs: Pick<Repairs, "all">, minerId: number): Repair | null {
  const row = rowsIn(repairs).get(minerId);
  return row === undefined ? null : { note: row.note, since: new Date(row.since).toISOString() };
}

/** Stores that a miner is in repair; with another note it is so since the same time. null: it no longer is. */
export async function saveRepair(repairs: Repairs, minerId: number, note: string | null, now: number): Promise<void> {
  const row = rowsIn(repairs).get(minerId);
  if (note !== null)
    await (row === undefined ? repairs.add({ minerId, note, since: now }) : repairs.change(row.id, { note }));
  else if (row !== undefined) await repairs.remove(row.id);
}
