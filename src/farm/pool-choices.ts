import type { Miner, MinerPool } from "../contract/resources.ts";

/** A pool that the rig lists, under a name that is unique on the rig. */
export interface ListedPool {
  readonly name: string;
  readonly pool: MinerPool;
}

/** Pools of one name are distinguished by worker, then by address; identical ones are listed once. */
export function listedPools({ poolList }: Miner): ListedPool[] {
  const byName = new Map<string, ListedPool>();
  for (const pool of poolList) {
    const { displayUrl, worker } = pool.additionalInfo;
    const name = [pool.name, `${pool.name} (${worker})`, `${pool.name} (${worker} at ${displayUrl})`].find(
      (each) => !byName.has(each),
    );
    if (name !== undefined) byName.set(name, { name, pool });
  }
  return [...byName.values()];
}

/** The name of the pool in use; null while it is unknown. Of several at its host, the one with the highest priority. */
export function poolInUse(miner: Miner): string | null {
  if (miner.pool === "") return null;
  const [first] = listedPools(miner)
    .filter(({ pool }) => hostOf(pool.additionalInfo.displayUrl) === miner.pool)
    .sort((a, b) => a.pool.priorityInfo.priority - b.pool.priorityInfo.priority);
  return first?.name ?? miner.pool;
}

const hostOf = (address: string): string => address.replace(/:\d+$/, "");
