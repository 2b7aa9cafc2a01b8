import { z } from "zod";
import { miningSoftware } from "../../catalogue/mining-software.ts";
import { algorithmOf, type TwinCoins } from "./coins.ts";
import { badRequest, notNow, notThere } from "./refusals.ts";

const text = z.string();
const id = z.int().min(0);

/** Bodies: an absent field keeps its value, or has that of an empty form; unknown fields are ignored. */
const PoolBody = z.object({
  id,
  description: text,
  coinClass: text,
  coinShortName: text,
  coinAlgorithm: text,
  url: text,
  workerName: text,
  walletAddress: text,
  plainWorkerPassword: text,
});
const HostBody = z.object({ id, description: text, hostname: text });
const ManagedMinerBody = z.object({
  id,
  description: text,
  hostId: id,
  isPoolGroup: z.boolean(),
  poolId: id,
  commandLineParams: text,
  softwareAutoDownload: z.boolean(),
  softwareType: text,
  softwarePath: text,
  algorithm: text,
  dualAlgorithm: text,
});

export type PoolDefinition = z.infer<typeof PoolBody>;
export type HostDefinition = z.infer<typeof HostBody>;
export type ManagedMinerDefinition = z.infer<typeof ManagedMinerBody>;

export interface PoolGroupDefinition {
  readonly id: number;
  readonly name: string;
  /** Static IDs. */
  readonly pools: readonly number[];
}

export const emptyPool: PoolDefinition = {
  id: 0,
  description: "",
  coinClass: "PreDefined",
  coinShortName: "",
  coinAlgorithm: "",
  url: "",
  workerName: "",
  walletAddress: "",
  plainWorkerPassword: "",
};

const emptyHost: HostDefinition = { id: 0, description: "", hostname: "" };

export const emptyManagedMiner: ManagedMinerDefinition = {
  id: 0,
  description: "",
  hostId: 0,
  isPoolGroup: false,
  poolId: 0,
  commandLineParams: "",
  softwareAutoDownload: true,
  softwareType: "",
  softwarePath: "",
  algorithm: "",
  dualAlgorithm: "Unspecified",
};

/** Items with consecutive ids. */
export class Collection<T extends { readonly id: number }> {
  readonly #what: string;
  readonly #items = new Map<number, T>();
  #lastId = 0;

  constructor(what: string, items: readonly T[]) {
    this.#what = what;
    for (const item of items) this.put(item);
  }

  get all(): T[] {
    return [...this.#items.values()];
  }

  find(wanted: number): T | undefined {
    return this.#items.get(wanted);
  }

  get(wanted: number): T {
    const item = this.#items.get(wanted);
    if (item === undefined) throw notThere(this.#what, wanted);
    return item;
  }

  get nextId(): number {
    return this.#lastId + 1;
  }

  put(item: T): T {
    this.#items.set(item.id, item);
    this.#lastId = Math.max(this.#lastId, item.id);
    return item;
  }

  remove(wanted: number): T {
    const item = this.get(wanted);
    this.#items.delete(wanted);
    return item;
  }
}

/** The definitions of pools, pool groups, hosts and managed miners, and their rules. */
export class Definitions {
  readonly pools: Collection<PoolDefinition>;
  readonly poolGroups: Collection<PoolGroupDefinition>;
  readonly hosts: Collection<HostDefinition>;
  readonly managedMiners: Collection<ManagedMinerDefinition>;
  readonly #coins: TwinCoins;

  constructor(
    start: {
      readonly pools: readonly PoolDefinition[];
      readonly poolGroups: readonly PoolGroupDefinition[];
      readonly hosts: readonly HostDefinition[];
    },
    coins: TwinCoins,
  ) {
    this.pools = new Collection("pool", start.pools);
    this.poolGroups = new Collection("pool group", start.poolGroups);
    this.hosts = new Collection("host", start.hosts);
    this.managedMiners = new Collection<ManagedMinerDefinition>("managed miner", []);
    this.#coins = coins;
  }

  /** A single pool, or those of a group in order. */
  poolsOf(type: "single" | "group", wanted: number): PoolDefinition[] {
    if (type === "single") return [this.pools.get(wanted)];
    return this.poolGroups.get(wanted).pools.flatMap((each) => this.pools.find(each) ?? []);
  }

  savePool(body: unknown): PoolDefinition {
    const pool = filled(PoolBody, emptyPool, body, this.pools);
    if (!URL.canParse(pool.url)) throw badRequest("The pool URL is not valid.");
    const coin = this.#coins.find(pool.coinShortName);
    return this.pools.put({
      ...pool,
      coinAlgorithm: pool.coinAlgorithm === "" ? (coin?.algorithm ?? "") : pool.coinAlgorithm,
    });
  }

  removePool(wanted: number): PoolDefinition {
    this.pools.get(wanted);
    const user = this.managedMiners.all.find(({ isPoolGroup, poolId }) => !isPoolGroup && poolId === wanted);
    if (user !== undefined) throw notNow(`The pool is used by the managed miner ${user.description}.`);
    return this.pools.remove(wanted);
  }

  saveHost(body: unknown): HostDefinition {
    const host = filled(HostBody, emptyHost, body, this.hosts);
    if (host.hostname === "") throw badRequest("The host name is required.");
    return this.hosts.put(host);
  }

  saveManagedMiner(body: unknown): ManagedMinerDefinition {
    const miner = filled(ManagedMinerBody, emptyManagedMiner, body, this.managedMiners);
    if (this.hosts.find(miner.hostId) === undefined) throw badRequest("The host does not exist.");
    if (!miningSoftware.some((each) => each.id === miner.softwareType)) throw badRequest("Unknown mining software.");
    if (algorithmOf(miner.algorithm) === undefined) throw badRequest("Unknown algorithm.");
    if ((miner.isPoolGroup ? this.poolGroups : this.pools).find(miner.poolId) === undefined)
      throw badRequest(miner.isPoolGroup ? "The pool group does not exist." : "The pool does not exist.");
    return this.managedMiners.put(miner);
  }
}

const Fields = z.looseObject({ id: id.optional() });

/** The item to store: the body over the item with its id; without an id, or with 0, a new one. */
function filled<T extends { readonly id: number }>(
  schema: z.ZodType<T>,
  empty: T,
  body: unknown,
  items: Collection<T>,
): T {
  const fields = checked(Fields, body);
  const known = fields.id === undefined || fields.id === 0 ? undefined : items.get(fields.id);
  return checked(schema, { ...empty, ...known, ...fields, id: known?.id ?? items.nextId });
}

function checked<T>(schema: z.ZodType<T>, input: unknown): T {
  const { data, error } = schema.safeParse(input);
  if (error === undefined) return data;
  const path = error.issues[0]?.path.join(".") ?? "";
  throw badRequest(path === "" ? "The body must be an object." : `The value of ${path} is not valid.`);
}
