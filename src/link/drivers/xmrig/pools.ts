import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { PoolLogin, PoolReading } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { lastPool, listedEntry } from "../shared/listed-pool.ts";

/** XMRig's whole configuration; unknown parts stay unchanged. */
export type Config = Readonly<Record<string, unknown>>;

/** Changes of the pool list. Pure; each throws `not.possible` or `pool.last` rather than make a useless list. */
export const edit = {
  add(config: Config, login: PoolLogin): Config {
    const { host, port, tls, scheme } = checkLogin(login);
    const pools = listOf(config);
    const plain = scheme === "stratum+tcp" || tls;
    const url = plain ? `${host}:${port}` : login.url;
    const added = {
      algo: common(pools, "algo"),
      coin: common(pools, "coin"),
      url,
      user: login.worker,
      pass: login.password,
      enabled: true,
      tls,
    };
    return { ...config, pools: [...pools, added] };
  },

  /** First and enabled: XMRig uses the first that answers. */
  first(config: Config, wanted: PoolReading): Config {
    const { pools, found } = find(config, wanted);
    return { ...config, pools: [{ ...found, enabled: true }, ...pools.filter((pool) => pool !== found)] };
  },

  enabled(config: Config, wanted: PoolReading, enabled: boolean): Config {
    const { pools, found } = find(config, wanted);
    const changed = pools.map((pool) => (pool === found ? { ...pool, enabled } : pool));
    if (!changed.some(isEnabled)) throw new RigbridgeError("pool.last", "The last enabled pool cannot be disabled");
    return { ...config, pools: changed };
  },

  remove(config: Config, wanted: PoolReading): Config {
    const { pools, found } = find(config, wanted);
    const left = pools.filter((pool) => pool !== found);
    if (left.length === 0) throw lastPool();
    if (!left.some(isEnabled)) throw new RigbridgeError("pool.last", "The last enabled pool cannot be removed");
    return { ...config, pools: left };
  },
} as const;

type Pool = Readonly<Record<string, unknown>>;

const isEnabled = (pool: Pool): boolean => pool.enabled !== false;

function listOf(config: Config): Pool[] {
  if (!Array.isArray(config.pools)) {
    throw new RigbridgeError("rig.garbled", "XMRig's configuration has no list of pools");
  }
  return config.pools.filter(isRecord);
}

function find(config: Config, wanted: PoolReading): { pools: Pool[]; found: Pool } {
  const pools = listOf(config);
  const found = listedEntry(pools, wanted, (pool) => {
    const entry = new TolerantReader(pool, new Notes(), "");
    return { url: urlOf(entry), worker: workerOf(entry) };
  });
  return { pools, found };
}

/** The value that all pools share, which a new one gets too. */
function common(pools: readonly Pool[], key: "algo" | "coin"): unknown {
  const [first] = pools;
  return first !== undefined && pools.every((pool) => pool[key] === first[key]) ? (first[key] ?? null) : null;
}

/** XMRig writes host:port and TLS separately. */
function urlOf(pool: TolerantReader): string {
  const url = pool.text("url", 255) ?? "";
  if (url.includes("://")) return url;
  return `${pool.boolean("tls") === true ? "stratum+ssl" : "stratum+tcp"}://${url}`;
}

const workerOf = (pool: TolerantReader): string => pool.text("user", 255) ?? "";

const withoutScheme = (url: string): string => url.replace(/^[a-z+0-9]+:\/\//, "");

/** The pools of the configuration; the active one is named in the summary's `connection`. */
export function poolsOf(config: unknown, connection: TolerantReader, notes: Notes): PoolReading[] {
  const pools = new TolerantReader(config, notes, "config").list("pools", 64);
  const connected = withoutScheme(connection.text("pool", 255) ?? "");
  const active =
    connected === "" ? undefined : pools.find((pool) => enabledOf(pool) && withoutScheme(urlOf(pool)) === connected);
  return pools.map((pool, index) => ({
    index,
    url: urlOf(pool),
    worker: workerOf(pool),
    status: enabledOf(pool) ? "enabled" : "disabled",
    active: pool === active,
    priority: index,
    quota: null,
    accepted: pool === active ? connection.integer("accepted") : null,
    rejected: pool === active ? connection.integer("rejected") : null,
    stale: null,
    devFee: false,
  }));
}

const enabledOf = (pool: TolerantReader): boolean => pool.boolean("enabled") ?? true;

/** A restricted XMRig shows only the pool in use, without its worker. */
export function activeOnly(connection: TolerantReader): PoolReading[] {
  const pool = connection.text("pool", 255);
  if (pool === null) return [];
  const tls = connection.text("tls") !== null;
  return [
    {
      index: 0,
      url: pool.includes("://") ? pool : `${tls ? "stratum+ssl" : "stratum+tcp"}://${pool}`,
      worker: "",
      status: "enabled",
      active: true,
      priority: 0,
      quota: null,
      accepted: connection.integer("accepted"),
      rejected: connection.integer("rejected"),
      stale: null,
      devFee: false,
    },
  ];
}
