import { invalidAll } from "../../../contract/problems.ts";
import type { PoolAction, PoolControls, PoolLogin } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { cgminerPools } from "../shared/cgminer-pools.ts";
import { accepted } from "../shared/cgminer-replies.ts";

/** LuxOS has no command for the order of its pools: `poolpriority` is not among its commands. */
export const poolActions: readonly PoolAction[] = ["add", "switch", "enable", "disable", "remove"];

/** Pools are changed without a session. Source: Luxor's "CGminer commands". */
export function poolControls(rpc: RpcTransport): PoolControls {
  const { prioritize: _, ...pools } = cgminerPools(
    rpc,
    async (command, parameter, signal) => accepted(rpc.at, command, (await rpc.send(command, parameter, signal)).value),
    (part) => part,
  );
  return {
    ...pools,
    add: async (login, signal) => {
      checkLogin(login);
      checkParts(login);
      return pools.add(login, signal);
    },
  };
}

/** LuxOS documents no way to write a comma within a part. */
function checkParts({ worker, password }: PoolLogin): void {
  const mistakes = Object.entries({ worker, password }).flatMap(([path, part]) =>
    part.includes(",") ? [{ path, message: "contains a comma, which LuxOS cannot take" }] : [],
  );
  if (mistakes.length > 0) throw invalidAll(mistakes);
}
