import { invalid, RigbridgeError } from "../../../contract/problems.ts";
import type { PoolAction, PoolControls, PoolReading } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { isAllowed } from "../shared/cgminer-replies.ts";
import { command } from "./rpc.ts";

const pools = {
  add: "addpool",
  switch: "switchpool",
  enable: "enablepool",
  disable: "disablepool",
  remove: "removepool",
} as const;

const asked = ["pause", "resume", ...Object.values(pools)];

/** The RPC commands that this address may send, by the rig's `check`; each is checked once. */
export class Allowed {
  readonly #known = new Map<string, boolean>();

  has(name: string): boolean {
    return this.#known.get(name) === true;
  }

  get poolActions(): PoolAction[] {
    return poolActions.filter((action) => this.has(pools[action]));
  }

  forget(): void {
    this.#known.clear();
  }

  async refresh(rpc: RpcTransport, until: number, signal: AbortSignal): Promise<void> {
    for (const name of asked) {
      if (this.#known.has(name)) continue;
      if (performance.now() > until) return;
      this.#known.set(name, (await isAllowed(rpc, name, signal)) === true);
    }
  }
}

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
