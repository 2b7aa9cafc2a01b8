import { inAnyCase } from "../contract/nearest.ts";
import type { Miner, MinerPool } from "../contract/resources.ts";
import type { Caller, MiningService } from "../contract/service.ts";

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

/** The list of pool definitions is read again after this. */
const cacheMs = 10_000;

/** The pool definitions that miners can be switched to, by name. */
export class PoolNames {
  readonly #service: MiningService;
  readonly #caller: Caller;
  readonly #now: () => number;
  #ids: ReadonlyMap<string, number> | null = null;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(service: MiningService, caller: Caller, now: () => number) {
    this.#service = service;
    this.#caller = caller;
    this.#now = now;
  }

  /** As last read; null before the first read. */
  get names(): readonly string[] | null {
    return this.#ids === null ? null : [...this.#ids.keys()];
  }

  /** Resolves with a lookup of the Static ID by name; if the list cannot be read, the last one is used. */
  async read(): Promise<(name: string) => number | undefined> {
    if (this.#now() - this.#readAt >= cacheMs) {
      this.#readAt = this.#now();
      const list = await this.#service.listPools({}, this.#caller).catch(() => undefined);
      // The first of two with the same name counts; names in Home Assistant have at most 250 characters.
      const named = (list?.list ?? []).filter(({ description }) => description !== "");
      if (list !== undefined)
        this.#ids = new Map(named.toReversed().map(({ description, id }) => [description.slice(0, 250), id]));
    }
    const ids = this.#ids ?? new Map<string, number>();
    return (name) => ids.get(inAnyCase(name, [...ids.keys()]) ?? "");
  }
}
