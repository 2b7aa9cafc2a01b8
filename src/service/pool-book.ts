import { invalid, type Mistake, RigbridgeError } from "../contract/problems.ts";
import type { Pool } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import type { PoolLogin } from "../link/driver.ts";
import type { Store, Stored, StoredPool } from "../store/index.ts";
import type { Coin, Coins } from "./coins.ts";
import { hostOf } from "./pool-url.ts";
import { done } from "./replies.ts";
import { find, findOwn, given, present, refuseInUse } from "./stored.ts";

type PoolOperations = Pick<
  MiningService,
  | "listPools"
  | "getPool"
  | "savePool"
  | "deletePool"
  | "listPoolGroups"
  | "savePoolGroup"
  | "deletePoolGroup"
  | "listAddPools"
>;

/** The pool definitions and pool groups, and what follows from them for a rig's pools. */
export class PoolBook implements Omit<PoolOperations, "listAddPools"> {
  readonly #store: Store;
  readonly #coins: Coins;
  readonly #changed: () => void;
  /** Host of the URL to the first pool definition that has it. */
  #byHost = new Map<string, Stored<StoredPool>>();

  /** `changed` is called when a pool's coin or name may be another. */
  constructor(store: Store, coins: Coins, changed: () => void) {
    this.#store = store;
    this.#coins = coins;
    this.#changed = changed;
    this.#index();
  }

  /** A rig's coin is that of the pool definition with the same host. */
  coinOf(url: string): Coin | undefined {
    const pool = this.#byHost.get(hostOf(url));
    return pool === undefined || pool.coinShortName === "" ? undefined : this.#coins.coin(pool.coinShortName);
  }

  nameOf(url: string): string | undefined {
    return this.#byHost.get(hostOf(url))?.description || undefined;
  }

  /** How a rig logs in to a pool, or to the pools of a group in order. Throws `not.found`, `not.possible`. */
  logins(id: number, type: "single" | "group"): PoolLogin[] {
    if (type === "single") return [loginOf(find(this.#store.pools, id, "pool"))];
    const group = find(this.#store.poolGroups, id, "pool group");
    if (group.pools.length === 0) throw new RigbridgeError("not.possible", `Pool group ${group.name} has no pools`);
    return group.pools.map((poolId) => loginOf(find(this.#store.pools, poolId, "pool")));
  }

  addList(): { name: string; type: "single" | "group"; id: string }[] {
    return [
      ...present(this.#store.pools).map(({ id, description, url }) => ({
        name: description || hostOf(url),
        type: "single" as const,
        id: String(id),
      })),
      ...present(this.#store.poolGroups).map(({ id, name }) => ({ name, type: "group" as const, id: String(id) })),
    ];
  }

  readonly listPools: MiningService["listPools"] = async () => ({
    canAction: true,
    list: present(this.#store.pools).map((pool) => this.#shown(pool)),
  });

  readonly getPool: MiningService["getPool"] = async ({ id }) => this.#shown(find(this.#store.pools, id, "pool"));

  readonly savePool: MiningService["savePool"] = async ({ id, ...body }) => {
    const known = id === 0 ? undefined : findOwn(this.#store.pools, id, "pool");
    const fields = { ...empty, ...known, ...given(body) };
    if (fields.url === "") throw invalid("url", "is required");
    const coin = fields.coinShortName === "" ? undefined : this.#coins.coin(fields.coinShortName);
    const pool: StoredPool = {
      description: fields.description,
      coinClass: body.coinClass ?? coin?.coinClass ?? (fields.coinShortName === "" ? "PreDefined" : "UserDefined"),
      coinShortName: coin?.shortName ?? fields.coinShortName,
      // Another coin brings its algorithm along, unless one is named.
      coinAlgorithm:
        (fields.coinShortName === known?.coinShortName ? fields : body).coinAlgorithm || (coin?.algorithm ?? ""),
      url: fields.url,
      workerName: fields.workerName,
      walletAddress: fields.walletAddress,
      plainWorkerPassword: fields.plainWorkerPassword,
    };
    const saved =
      known === undefined ? await this.#store.pools.add(pool) : await this.#store.pools.change(known.id, pool);
    this.#index();
    this.#changed();
    return this.#shown(saved);
  };

  readonly deletePool: MiningService["deletePool"] = async ({ id }) => {
    const pool = findOwn(this.#store.pools, id, "pool");
    refuseInUse(`Pool ${id}`, [
      ...present(this.#store.poolGroups).flatMap(({ name, pools }) =>
        pools.includes(id) ? [`pool group ${name}`] : [],
      ),
      ...present(this.#store.managedMiners).flatMap((miner) =>
        !miner.isPoolGroup && miner.poolId === id ? [`managed miner ${miner.id}`] : [],
      ),
    ]);
    await this.#store.pools.remove(id);
    this.#index();
    this.#changed();
    return done(`Pool ${pool.description || pool.url} removed`);
  };

  readonly listPoolGroups: MiningService["listPoolGroups"] = async () =>
    present(this.#store.poolGroups).map(({ id, name, pools }) => ({ id: String(id), name, pools }));

  readonly savePoolGroup: MiningService["savePoolGroup"] = async ({ id, name, pools: wanted }) => {
    const known = id === 0 ? undefined : findOwn(this.#store.poolGroups, id, "pool group");
    const pools = wanted ?? known?.pools ?? [];
    const mistakes: Mistake[] = pools.flatMap((pool, index) =>
      present(this.#store.pools).some((each) => each.id === pool)
        ? []
        : [{ path: `pools[${index}]`, message: `there is no pool ${pool}` }],
    );
    if (mistakes.length > 0)
      throw new RigbridgeError("input.invalid", "Unknown pools in the group", { errors: mistakes });
    const group = { name, pools: [...pools] };
    const { poolGroups } = this.#store;
    const saved = known === undefined ? await poolGroups.add(group) : await poolGroups.change(known.id, group);
    return { id: String(saved.id), name: saved.name, pools: saved.pools };
  };

  readonly deletePoolGroup: MiningService["deletePoolGroup"] = async ({ id }) => {
    const group = findOwn(this.#store.poolGroups, id, "pool group");
    refuseInUse(
      `Pool group ${id}`,
      present(this.#store.managedMiners).flatMap((miner) =>
        miner.isPoolGroup && miner.poolId === id ? [`managed miner ${miner.id}`] : [],
      ),
    );
    await this.#store.poolGroups.remove(id);
    return done(`Pool group ${group.name} removed`);
  };

  #index(): void {
    this.#byHost = new Map(
      present(this.#store.pools)
        .toReversed()
        .map((pool) => [hostOf(pool.url), pool]),
    );
  }

  #shown(pool: Stored<StoredPool>): Pool {
    const { id, description, coinClass, coinShortName, coinAlgorithm, url, workerName, walletAddress } = pool;
    const coinDisplayName = this.#coins.coin(coinShortName)?.displayName ?? coinShortName;
    const { plainWorkerPassword } = pool;
    return {
      id,
      description,
      coinClass,
      coinShortName,
      coinDisplayName,
      coinAlgorithm,
      url,
      workerName,
      walletAddress,
      plainWorkerPassword,
    };
  }
}

const empty: StoredPool = {
  description: "",
  coinClass: "",
  coinShortName: "",
  coinAlgorithm: "",
  url: "",
  workerName: "",
  walletAddress: "",
  plainWorkerPassword: "",
};

/** Pools that pay to an address take `address.worker` as the login; others take the worker alone. */
const loginOf = ({ url, workerName, walletAddress, plainWorkerPassword }: StoredPool): PoolLogin => ({
  url,
  worker: [walletAddress, workerName].filter((part) => part !== "").join("."),
  password: plainWorkerPassword,
});
