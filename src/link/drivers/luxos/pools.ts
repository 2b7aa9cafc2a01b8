import { invalidAll, RigbridgeError } from "../../../contract/problems.ts";
import type { PoolAction, PoolControls, PoolLogin, PoolReading } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { accepted, poolsOf } from "../shared/cgminer-replies.ts";

/** LuxOS knows no order of its own to give: `poolpriority` is not among its commands. */
export const poolActions: readonly PoolAction[] = ["add", "switch", "enable", "disable", "remove"];

/** Pools are changed without a session. Source: Luxor's "CGminer commands". */
export function poolControls(rpc: RpcTransport): PoolControls {
  const change = async (command: string, parameter: string, signal: AbortSignal): Promise<string> =>
    accepted(rpc.at, command, (await rpc.send(command, parameter, signal)).value);

  /** Numbers move when a pool is removed, and a wrong one is obeyed, so the list is read before each change. */
  const fresh = async (signal: AbortSignal): Promise<PoolReading[]> => {
    const { value } = await rpc.send("pools", undefined, signal);
    accepted(rpc.at, "pools", value);
    return poolsOf(new TolerantReader(value, new Notes(), "").list("POOLS"));
  };
  const onPool =
    (command: string) =>
    async (pool: PoolReading, signal: AbortSignal): Promise<string> =>
      change(command, String(found(await fresh(signal), pool).index), signal);

  return {
    add: async (login, signal) => {
      checkLogin(login);
      checkParts(login);
      const parameter = [login.url, login.worker, login.password || "x"].join(",");
      try {
        return await change("addpool", parameter, signal);
      } catch (error) {
        throw withoutSecret(error, parameter, login);
      }
    },
    switch: onPool("switchpool"),
    enable: onPool("enablepool"),
    disable: onPool("disablepool"),
    remove: async (pool, signal) => {
      const pools = await fresh(signal);
      const { index } = found(pools, pool);
      if (pools.filter(({ devFee }) => !devFee).length < 2)
        throw new RigbridgeError("pool.last", "The last pool cannot be removed");
      return change("removepool", String(index), signal);
    },
  };
}

/** LuxOS documents no way to write a comma within a part. */
function checkParts({ worker, password }: PoolLogin): void {
  const mistakes = Object.entries({ worker, password }).flatMap(([path, part]) =>
    part.includes(",") ? [{ path, message: "has a comma in it, which LuxOS cannot take" }] : [],
  );
  if (mistakes.length > 0) throw invalidAll(mistakes);
}

/** By its place, or where it has moved to. */
function found(pools: readonly PoolReading[], wanted: PoolReading): PoolReading {
  const same = pools.filter(({ url, worker }) => url === wanted.url && worker === wanted.worker);
  const pool = same.find(({ index }) => index === wanted.index) ?? (same.length === 1 ? same[0] : undefined);
  if (pool === undefined) throw new RigbridgeError("not.possible", `The rig no longer lists the pool ${wanted.url}`);
  if (pool.devFee) throw new RigbridgeError("not.possible", `${wanted.url} belongs to the maker of the firmware`);
  return pool;
}

/** The RPC may repeat the whole parameter of a pool that it does not take, its password too. */
function withoutSecret(error: unknown, parameter: string, { url, password }: PoolLogin): unknown {
  if (!(error instanceof RigbridgeError) || error.code !== "rig.refused") return error;
  const shown = error.message.replaceAll(parameter, url);
  // A very short password is no secret, and its letters are everywhere.
  return new RigbridgeError(error.code, password.length < 3 ? shown : shown.replaceAll(password, "***"));
}
