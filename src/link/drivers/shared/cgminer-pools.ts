import type { PoolAction, PoolControls, PoolReading } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { accepted, poolsOf } from "./cgminer-replies.ts";
import { lastPool, listedPool } from "./listed-pool.ts";
import { redacted } from "./redact.ts";

/** cgminer's commands for its pools. They take hold at once. */
export const poolCommands = {
  add: "addpool",
  switch: "switchpool",
  enable: "enablepool",
  disable: "disablepool",
  remove: "removepool",
  prioritize: "poolpriority",
} as const satisfies Partial<Record<PoolAction, string>>;

/** Sends one command; resolves with the rig's own words. */
type Run = (command: string, parameter: string, signal: AbortSignal) => Promise<string>;

/**
 * Pool controls by these commands. Indexes move when a pool is removed, and the rig obeys a wrong one, so the list is
 * read before each change.
 */
export function cgminerPools(rpc: RpcTransport, run: Run, escaped = escapePart): Required<Omit<PoolControls, "use">> {
  const onPool =
    (command: string) =>
    async (pool: PoolReading, signal: AbortSignal): Promise<string> =>
      run(command, String(listedPool(await freshPools(rpc, signal), pool).index), signal);
  return {
    add: async (login, signal) => {
      checkLogin(login);
      const { url, worker, password } = login;
      // cgminer refuses an empty password; x is customary for pools that need none.
      const parameter = [url, worker, password || "x"].map(escaped).join(",");
      try {
        return await run(poolCommands.add, parameter, signal);
      } catch (error) {
        throw redacted(error, [parameter, escaped(password), password]);
      }
    },
    switch: onPool(poolCommands.switch),
    enable: onPool(poolCommands.enable),
    disable: onPool(poolCommands.disable),
    remove: async (pool, signal) => {
      const pools = await freshPools(rpc, signal);
      const { index } = listedPool(pools, pool);
      if (pools.filter(({ devFee }) => !devFee).length < 2) throw lastPool();
      return run(poolCommands.remove, String(index), signal);
    },
    prioritize: async (pool, signal) => {
      const pools = await freshPools(rpc, signal);
      const wanted = listedPool(pools, pool);
      const others = pools.filter((each) => each !== wanted).sort((a, b) => a.priority - b.priority);
      return run(poolCommands.prioritize, [wanted, ...others].map(({ index }) => index).join(","), signal);
    },
  };
}

export async function freshPools(rpc: RpcTransport, signal: AbortSignal): Promise<PoolReading[]> {
  const { value } = await rpc.send("pools", undefined, signal);
  accepted(rpc.at, "pools", value);
  return poolsOf(new TolerantReader(value, new Notes(), "").list("POOLS"));
}

/** A comma separates parameters; it and the backslash are escaped with a backslash. */
const escapePart = (part: string): string => part.replace(/[\\,]/g, "\\$&");
