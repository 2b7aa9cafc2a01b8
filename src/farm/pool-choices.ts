import type { Miner, MinerPool } from "../contract/resources.ts";

/** A pool that the rig lists, under a name that no other on it has. */
export interface ListedPool {
  readonly name: string;
  readonly pool: MinerPool;
}

/** Two pools of one name are told apart by worker, and after that by address; what is still alike is one. */
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

/** The name of the pool in use; null while none is known. Of several at its host the first in priority. */
export function poolInUse(miner: Miner): string | null {
  if (miner.pool === "") return null;
  const [first] = listedPools(miner)
    .filter(({ pool }) => hostOf(pool.additionalInfo.displayUrl) === miner.pool)
    .sort((a, b) => a.pool.priorityInfo.priority - b.pool.priorityInfo.priority);
  return first?.name ?? miner.pool;
}

const hostOf = (address: string): string => address.replace(/:\d+$/, "");
