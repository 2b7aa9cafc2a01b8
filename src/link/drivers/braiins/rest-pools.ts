import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { PoolControls, PoolLogin, PoolReading } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import { lastPool, listedEntry } from "../shared/listed-pool.ts";
import { redacted } from "../shared/redact.ts";
import type { BraiinsRest } from "./rest.ts";

/** As the rig stores it; unknown fields are written back unchanged. */
type Group = Readonly<Record<string, unknown>> & { readonly pools: readonly Pool[] };
type Pool = Readonly<Record<string, unknown>>;

/**
 * Pools are changed in the rig's own configuration, which has their passwords, and all groups are written back at once
 * (`PUT pools/batch`): the rig accepts the whole list or nothing.
 */
export function restPools(rest: BraiinsRest, changing: () => void): Required<Omit<PoolControls, "use">> {
  const change = async (edit: (groups: readonly Group[]) => readonly Group[], done: string, signal: AbortSignal) => {
    changing();
    const groups = edit(await configured(rest, signal));
    const secrets = groups.flatMap(({ pools }) => pools.map(({ password }) => password));
    return rest.write("PUT", "pools/batch", groups, done, signal).catch((error: unknown) => {
      throw redacted(error, secrets);
    });
  };
  return {
    add: async (login, signal) => {
      checkLogin(login);
      return change((groups) => added(groups, login), "The pool is added", signal);
    },
    switch: (pool, signal) => change((groups) => first(enabled(groups, pool, true), pool), leads, signal),
    prioritize: (pool, signal) => change((groups) => first(groups, pool), leads, signal),
    enable: (pool, signal) => change((groups) => enabled(groups, pool, true), "The pool is switched on", signal),
    disable: (pool, signal) => change((groups) => enabled(groups, pool, false), "The pool is switched off", signal),
    remove: (pool, signal) => change((groups) => removed(groups, pool), "The pool is removed", signal),
  };
}

const leads = "The pool is the first of its group";

async function configured(rest: BraiinsRest, signal: AbortSignal): Promise<Group[]> {
  const page = await rest.strictPage("configuration/miner", signal);
  const groups = isRecord(page) && Array.isArray(page.pool_groups) ? page.pool_groups.map(groupOf) : [null];
  const known = groups.filter((group) => group !== null);
  if (known.length < groups.length)
    throw new RigbridgeError("rig.garbled", `${rest.at}: its pools could not be read, so they are not written`);
  if (known.length === 0 && (await listsPools(rest, signal)))
    throw new RigbridgeError(
      "not.possible",
      `${rest.at} does not report how its pools are set, so they are not written`,
    );
  return known;
}

async function listsPools(rest: BraiinsRest, signal: AbortSignal): Promise<boolean> {
  const listed = await rest.strictPage("pools/", signal);
  return !Array.isArray(listed) || listed.length > 0;
}

/** null for what cannot be written back completely: an odd pool, or a hidden password. */
function groupOf(value: unknown): Group | null {
  if (!isRecord(value) || !Array.isArray(value.pools)) return null;
  const pools = value.pools.filter(isRecord);
  if (pools.length < value.pools.length) return null;
  if (pools.some(({ password }) => typeof password === "string" && /^\*+$/.test(password))) return null;
  return { ...value, pools };
}

/** To the end of the first group; the rig assigns an id. */
function added(groups: readonly Group[], { url, worker, password }: PoolLogin): readonly Group[] {
  const pool = { enabled: true, url, user: worker, password };
  const [group = { name: "Default", load_balance_strategy: { quota: { value: 1 } }, pools: [] }, ...others] = groups;
  return [{ ...group, pools: [...group.pools, pool] }, ...others];
}

function first(groups: readonly Group[], wanted: PoolReading): readonly Group[] {
  const pool = configuredPool(groups, wanted);
  return groups.map((group) =>
    group.pools.includes(pool) ? { ...group, pools: [pool, ...group.pools.filter((other) => other !== pool)] } : group,
  );
}

function enabled(groups: readonly Group[], wanted: PoolReading, on: boolean): readonly Group[] {
  const pool = configuredPool(groups, wanted);
  return groups.map((group) => ({
    ...group,
    pools: group.pools.map((each) => (each === pool ? { ...each, enabled: on } : each)),
  }));
}

/** With its group, where it is the only pool of it. */
function removed(groups: readonly Group[], wanted: PoolReading): readonly Group[] {
  const pool = configuredPool(groups, wanted);
  const rest = groups.map((group) => ({ ...group, pools: group.pools.filter((each) => each !== pool) }));
  const left = rest.filter(({ pools }, at) => pools.length > 0 || groups[at]?.pools.length === 0);
  if (!left.some(({ pools }) => pools.length > 0)) throw lastPool();
  return left;
}

const configuredPool = (groups: readonly Group[], wanted: PoolReading): Pool =>
  listedEntry(
    groups.flatMap(({ pools }) => pools),
    wanted,
    ({ url, user }) => ({ url: String(url), worker: String(user) }),
  );
