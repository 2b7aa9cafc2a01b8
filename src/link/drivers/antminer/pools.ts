import type { PoolAction, PoolControls } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import { edit, type MinerConfig, places } from "./config.ts";

type Pools = MinerConfig["pools"];

/**
 * The rig stores three pools, uses the first that answers, and takes only the whole list; their passwords are read to
 * be written back. Mining restarts with each change.
 */
export function listPools(change: (to: (pools: Pools) => Pools, signal: AbortSignal) => Promise<string>): PoolControls {
  return {
    add: async (login, signal) => {
      checkLogin(login);
      return change((pools) => edit.add(pools, login), signal);
    },
    use: async (login, signal) => {
      checkLogin(login);
      return change((pools) => edit.use(pools, login), signal);
    },
    switch: (pool, signal) => change((pools) => edit.first(pools, pool), signal),
    prioritize: (pool, signal) => change((pools) => edit.first(pools, pool), signal),
    remove: (pool, signal) => change((pools) => edit.remove(pools, pool), signal),
  };
}

export function listActions({ pools }: Pick<MinerConfig, "pools">): PoolAction[] {
  const many: PoolAction[] = pools.length > 1 ? ["switch", "remove", "prioritize"] : [];
  return [...(pools.length < places ? (["add"] as const) : []), "use", ...many];
}
