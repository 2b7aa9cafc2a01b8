import { siteFindings } from "../../config/rule-checks.ts";
import { invalidAll, type Mistake, mistake, notFound, RigbridgeError, thing } from "../../contract/problems.ts";
import type { Pool, PoolGroup } from "../../contract/resources.ts";
import type { Input, MiningService } from "../../contract/service.ts";
import type { PoolLogin } from "../../link/driver.ts";
import type { PoolPassword } from "../../link/link.ts";
import { passwordIn } from "../../link/pool-login.ts";
import { hostAndPortOf, hostOf } from "../../link/pool-url.ts";
import { detail } from "../../messages/detail.ts";
import type { Collection, Store, Stored, StoredPool, StoredPoolGroup } from "../../store/index.ts";
import { done, enabled, find, findOwn, given, refuseInUse, refuseOfCentre } from "../crud.ts";
import { isLinked, type Links } from "../links.ts";
import type { Sections } from "../settings/live-settings.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { forgetFor } from "../users/users.ts";
import type { Coin, Coins } from "./coins.ts";

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

/** The pool definitions and pool groups, and their application to the pools of rigs. */
export class PoolBook implements Omit<PoolOperations, "listAddPools"> {
  readonly #store: Store;
  readonly #coins: Coins;
  readonly #accessBook: AccessBook;
  readonly #settings: Sections<"sites">;
  /** By group. */
  readonly #logins = new Map<
    number,
    { readonly pools: readonly StoredPool[]; readonly logins: readonly PoolLogin[] }
  >();
  /** Pool definitions by host, port and worker, by host and port, and by host; in order of definition. */
  #byLogin: Index = new Map();
  #byPort: Index = new Map();
  #byHost: Index = new Map();

  constructor(store: Store, coins: Coins, accessBook: AccessBook, settings: Sections<"sites">) {
    this.#store = store;
    this.#coins = coins;
    this.#accessBook = accessBook;
    this.#settings = settings;
    this.renew();
  }

  /**
   * Gives a miner the password of the definition with this address and worker, which rigs do not report; never that of
   * a definition hidden from an administrator of the miner's group, who could add a miner to learn it.
   */
  passwordsFor(minerId: number): PoolPassword {
    return (url, worker) => passwordIn(this.loginsFor(minerId), url, worker);
  }

  /** The logins with these passwords: the same list until it changes, for all miners of a group. */
  loginsFor(minerId: number): readonly PoolLogin[] {
    const groupId = this.#store.miners.get(minerId)?.groupId ?? 0;
    const administrators = this.#accessBook.administratorsOf(groupId);
    const pools = enabled(this.#store.pools).filter(({ id }) => administrators.every((access) => access.seesPool(id)));
    const known = this.#logins.get(groupId);
    const isSame = known?.pools.length === pools.length && pools.every((pool, index) => pool === known.pools[index]);
    if (known !== undefined && isSame) return known.logins;
    const logins = pools.map(loginOf);
    this.#logins.set(groupId, { pools, logins });
    return logins;
  }

  /**
   * Name and coin of a pool on a rig that mines this algorithm (null: unknown). The coin is unknown if its algorithm is
   * not the rig's: the pool then accepts other work than its definition states.
   */
  definitionOf({ url, worker }: RigPool, algorithm: string | null): { readonly name: string; readonly coin?: Coin } {
    const found = this.#matching(url, worker).map(({ description, coinShortName }) => {
      const coin = coinShortName === "" ? undefined : this.#coins.coin(coinShortName);
      const fits = coin !== undefined && (algorithm === null || this.#coins.isSameAlgorithm(coin.algorithm, algorithm));
      return { name: description, ...(fits ? { coin } : {}) };
    });
    return found.find(({ coin }) => coin !== undefined) ?? found[0] ?? { name: "" };
  }

  /** The best match for the pool of a rig. */
  definition(url: string, worker: string): Stored<StoredPool> | undefined {
    return this.#matching(url, worker)[0];
  }

  /** The best matches for a pool; by host alone only if the host has a single definition. */
  #matching(url: string, worker: string): readonly Stored<StoredPool>[] {
    const hostAndPort = hostAndPortOf(url);
    const exact = this.#byLogin.get(loginKey(hostAndPort, worker)) ?? this.#byPort.get(hostAndPort);
    if (exact !== undefined) return exact;
    const ofHost = this.#byHost.get(hostOf(url)) ?? [];
    return ofHost.length === 1 ? ofHost : [];
  }

  /**
   * The login for a pool, or for the pools of a group in order. Throws `not.found`, also for a pool that is hidden from
   * this access, and `not.possible`.
   */
  logins(id: number, type: "single" | "group", access: Access): PoolLogin[] {
    if (type === "single") return [loginOf(this.#find(id, access))];
    const group = find(this.#store.poolGroups, id, "pool group");
    if (!seesPoolGroup(access, group)) throw notFound("pool group", id);
    if (group.pools.length === 0)
      throw new RigbridgeError("not.possible", detail("pool.emptyGroup", { group: group.name }));
    return group.pools.map((poolId) => loginOf(this.#find(poolId, access)));
  }

  addList(access: Access): { name: string; type: "single" | "group"; id: string }[] {
    return [
      ...this.#pools(access).map(({ id, description, url }) => ({
        name: shownName({ description, url }),
        type: "single" as const,
        id: String(id),
      })),
      ...this.#groups(access).map(({ id, name }) => ({ name, type: "group" as const, id: String(id) })),
    ];
  }

  readonly listPools: MiningService["listPools"] = async (_input, caller) => {
    const access = this.#accessBook.of(caller);
    return {
      canAction: access.all && access.privilege === "administrator",
      list: this.#pools(access).map((pool) => this.#present(pool)),
    };
  };

  readonly getPool: MiningService["getPool"] = async ({ id }, caller) => {
    const access = this.#accessBook.of(caller);
    return this.#present(this.#find(id, access));
  };

  readonly savePool: MiningService["savePool"] = async ({ id, ...body }) => {
    const existing = id === 0 ? undefined : own(this.#store.pools, id, "pool");
    const sites = this.#siteMistakes(body);
    const pool = { ...this.poolOf(body, existing, sites), runsAt: sitesOf(body, existing) };
    const saved =
      existing === undefined ? await this.#store.pools.add(pool) : await this.#store.pools.change(existing.id, pool);
    this.renew();
    return this.#present(saved);
  };

  /** The pool of a body. Throws `input.invalid`, also with other mistakes. */
  poolOf(body: Omit<Input<"savePool">, "id">, existing?: StoredPool, others: readonly Mistake[] = []): StoredPool {
    const fields = { ...empty, ...existing, ...given(body) };
    const mistakes = [...this.#mistakesIn(fields.url, body), ...others];
    if (mistakes.length > 0) throw invalidAll(mistakes);
    const coin = fields.coinShortName === "" ? undefined : this.#coins.coin(fields.coinShortName);
    return {
      description: fields.description,
      coinClass: body.coinClass ?? coin?.coinClass ?? (fields.coinShortName === "" ? "PreDefined" : "UserDefined"),
      coinShortName: coin?.shortName ?? fields.coinShortName,
      // A changed coin brings its algorithm along, unless one is given.
      coinAlgorithm:
        (fields.coinShortName === existing?.coinShortName ? fields : body).coinAlgorithm || (coin?.algorithm ?? ""),
      url: fields.url,
      workerName: fields.workerName,
      walletAddress: fields.walletAddress,
      plainWorkerPassword: fields.plainWorkerPassword,
    };
  }

  #siteMistakes({ runsAt }: { readonly runsAt?: readonly string[] | undefined }): Mistake[] {
    const sites = new Set(this.#settings.sites.map(({ name }) => name));
    return siteFindings({ runsAt }, [], { sites, isLimited: false }).map((each) => ({ ...each, path: "runsAt" }));
  }

  readonly deletePool: MiningService["deletePool"] = async ({ id }) => {
    const pool = own(this.#store.pools, id, "pool");
    this.refuseUsedPool(id);
    await this.#store.pools.remove(id);
    await forgetFor(this.#store, "pools", id);
    this.renew();
    return done(`Pool ${pool.description || pool.url} removed`);
  };

  /** Throws `in.use` if something here uses the pool. */
  refuseUsedPool(id: number): void {
    refuseInUse(`Pool ${id}`, [
      ...enabled(this.#store.poolGroups).flatMap(({ name, pools }) =>
        pools.includes(id) ? [`pool group ${name}`] : [],
      ),
      ...enabled(this.#store.managedMiners).flatMap((miner) =>
        !miner.isPoolGroup && miner.poolId === id ? [`managed miner ${miner.id}`] : [],
      ),
      ...this.#listsNaming("pool", id),
    ]);
  }

  readonly listPoolGroups: MiningService["listPoolGroups"] = async (_input, caller) =>
    this.#groups(this.#accessBook.of(caller)).map(presentGroup);

  readonly savePoolGroup: MiningService["savePoolGroup"] = async ({ id, name, pools: poolIds, runsAt }) => {
    const existing = id === 0 ? undefined : own(this.#store.poolGroups, id, "pool group");
    const pools = poolIds ?? existing?.pools ?? [];
    const mistakes: Mistake[] = pools.flatMap((pool, index) =>
      enabled(this.#store.pools).some((each) => each.id === pool)
        ? []
        : [mistake(`pools[${index}]`, detail("input.noThing", { thing: thing("pool"), id: pool }))],
    );
    if (mistakes.length > 0)
      throw new RigbridgeError("input.invalid", "Unknown pools in the group", { errors: mistakes });
    const sites = this.#siteMistakes({ runsAt });
    if (sites.length > 0) throw invalidAll(sites);
    const group = { name, pools: [...pools], runsAt: sitesOf({ runsAt }, existing) };
    const { poolGroups } = this.#store;
    const saved = existing === undefined ? await poolGroups.add(group) : await poolGroups.change(existing.id, group);
    return presentGroup(saved);
  };

  readonly deletePoolGroup: MiningService["deletePoolGroup"] = async ({ id }) => {
    const group = own(this.#store.poolGroups, id, "pool group");
    this.refuseUsedGroup(id);
    await this.#store.poolGroups.remove(id);
    return done(`Pool group ${group.name} removed`);
  };

  /** Throws `in.use` if something here uses the pool group. */
  refuseUsedGroup(id: number): void {
    refuseInUse(`Pool group ${id}`, [
      ...enabled(this.#store.managedMiners).flatMap((miner) =>
        miner.isPoolGroup && miner.poolId === id ? [`managed miner ${miner.id}`] : [],
      ),
      ...this.#listsNaming("poolGroup", id),
    ]);
  }

  /** API-defined lists that name this pool or pool group; lists of the file are changed only there. */
  #listsNaming(kind: "pool" | "poolGroup", id: number): string[] {
    const { rules, schedules, templates } = this.#store;
    return (
      [
        ["rule", rules],
        ["schedule", schedules],
        ["template", templates],
      ] as const
    ).flatMap(([what, rows]) =>
      enabled<{ readonly name: string; readonly links?: Links | undefined }>(rows)
        .filter((row) => isLinked(row, kind, id))
        .map(({ name }) => `${what} ${name}`),
    );
  }

  /** Checks only names in the body: stored ones stay as they are. */
  #mistakesIn(url: string, { coinShortName = "", coinAlgorithm = "" }: Omit<Input<"savePool">, "id">): Mistake[] {
    return [
      ...(url === "" ? [{ path: "url", message: "is required" }] : []),
      ...(coinShortName === "" || this.#coins.coin(coinShortName) !== undefined
        ? []
        : [
            mistake(
              "coinShortName",
              detail("input.noCoin", { coin: coinShortName, path: encodeURIComponent(coinShortName.toWellFormed()) }),
            ),
          ]),
      ...(coinAlgorithm === "" ? [] : this.#coins.algorithmMistakes("coinAlgorithm", coinAlgorithm)),
    ];
  }

  /** Call it when definitions have changed outside of this book. */
  renew(): void {
    const pools = enabled(this.#store.pools);
    this.#byLogin = Map.groupBy(pools, (pool) => loginKey(hostAndPortOf(pool.url), loginOf(pool).worker));
    this.#byPort = Map.groupBy(pools, ({ url }) => hostAndPortOf(url));
    this.#byHost = Map.groupBy(pools, ({ url }) => hostOf(url));
  }

  #find(id: number, access: Access): Stored<StoredPool> {
    const pool = find(this.#store.pools, id, "pool");
    if (!access.seesPool(id)) throw notFound("pool", id);
    return pool;
  }

  #pools(access: Access): Stored<StoredPool>[] {
    return enabled(this.#store.pools).filter(({ id }) => access.seesPool(id));
  }

  #groups(access: Access): Stored<StoredPoolGroup>[] {
    return enabled(this.#store.poolGroups).filter((group) => seesPoolGroup(access, group));
  }

  #present({ owner, key, disabled, ...pool }: Stored<StoredPool>): Pool {
    const coinDisplayName = this.#coins.coin(pool.coinShortName)?.displayName ?? pool.coinShortName;
    return { ...pool, coinDisplayName, ...(pool.centre === undefined ? {} : { plainWorkerPassword: "" }) };
  }
}

/** The name of a pool in lists and in steps. */
export const shownName = ({ description, url }: Pick<StoredPool, "description" | "url">): string =>
  description || hostOf(url);

const presentGroup = ({ id, name, pools, runsAt, centre }: Stored<StoredPoolGroup>): PoolGroup => ({
  id: String(id),
  name,
  pools,
  ...given({ runsAt, centre }),
});

/** A row that may be changed here. Throws `not.found`, `owned.by-file` or `owned.by-centre`. */
function own<T extends { readonly centre?: string | undefined }>(
  collection: Collection<T>,
  id: number,
  what: string,
): Stored<T> {
  const row = findOwn(collection, id, what);
  refuseOfCentre(row, what, id);
  return row;
}

interface Shared {
  readonly runsAt?: string[] | undefined;
}

/** The sites after a change; an empty list is none. */
export const sitesOf = ({ runsAt }: Shared, existing: Shared | undefined): string[] | undefined =>
  runsAt === undefined ? existing?.runsAt : runsAt.length === 0 ? undefined : runsAt;

type Index = ReadonlyMap<string, readonly Stored<StoredPool>[]>;

/** A pool in a rig's list. */
interface RigPool {
  readonly url: string;
  readonly worker: string;
}

const loginKey = (hostAndPort: string, worker: string): string => `${hostAndPort}\n${worker}`;

/** A group is visible with access to all its pools, an empty group with access to everything. */
const seesPoolGroup = (access: Access, { pools }: StoredPoolGroup): boolean =>
  pools.length === 0 ? access.all : pools.every((poolId) => access.seesPool(poolId));

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

/** Pools that pay to an address expect `address.worker` as the login; others only the worker. */
const loginOf = ({ url, workerName, walletAddress, plainWorkerPassword }: StoredPool): PoolLogin => ({
  url,
  worker: [walletAddress, workerName].filter((part) => part !== "").join("."),
  password: plainWorkerPassword,
});
