import { invalid, RigbridgeError } from "../../../contract/problems.ts";
import type { PoolAction, PoolControls, PoolReading } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import type { Access } from "../shared/access.ts";
import { command } from "./rpc.ts";

const pools = {
  add: "addpool",
  switch: "switchpool",
  enable: "enablepool",
  disable: "disablepool",
  remove: "removepool",
} as const;

/** The RPC commands that are sent, where this address may. */
export const rpcCommands = ["pause", "resume", ...Object.values(pools)];

export const allowedPoolActions = (access: Access): PoolAction[] =>
  poolActions.filter((action) => access.allows(pools[action]));

const poolActions = ["add", "switch", "enable", "disable", "remove"] as const;

/** Braiins: "The outcome of these commands is reset after restart". */
const untilRestart = "; a restart of the miner undoes it";

export function rpcPools(rpc: RpcTransport): PoolControls {
  const onPool =
    (name: string) =>
    async (wanted: PoolReading, signal: AbortSignal): Promise<string> =>
      `${await command(rpc, name, String(wanted.index), signal)}${untilRestart}`;
  return {
    add: async (login, signal) => {
      checkLogin(login);
      const parts = [login.url, login.worker, login.password];
      // It is not documented how this firmware escapes characters of cgminer's syntax.
      if (parts.some((part) => /[,|\\]/.test(part)))
        throw invalid("worker", "contains a comma, a bar or a backslash, which cannot be sent to this firmware");
      return `${await command(rpc, "addpool", parts.join(","), signal)}${untilRestart}`;
    },
    switch: onPool("switchpool"),
    enable: onPool("enablepool"),
    disable: onPool("disablepool"),
    remove: onPool("removepool"),
  };
}

export const absent = (action: string): RigbridgeError =>
  new RigbridgeError("control.absent", `This rig does not offer this change of its pools now (${action})`);
