import type { Miner } from "rigbridge";
import type { FarmConnection } from "../shared/farm-connection.ts";
import { Fault } from "../shared/faults.ts";
import type { Reply } from "./messages.ts";
import type { CommandRequest } from "./to-service-call.ts";

const startsMining: ReadonlySet<string> = new Set(["start", "restart", "reboot", "mining", "change_pool"]);

/** Whether the miner is meant to mine after the command. */
export function isToMine(request: CommandRequest): boolean {
  if (request.kind === "action") return startsMining.has(request.action);
  const { command, value } = request;
  return startsMining.has(command) && (command !== "mining" || !/^(false|off|0)$/i.test(String(value)));
}

export interface Wait {
  readonly connection: FarmConnection;
  /** As it was before the command. */
  readonly before: Miner;
  /** As the service reports it after the command. */
  readonly after: Miner;
  readonly reply: Reply;
  /** s */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/**
 * Resolves with the miner once it mines. A command that the rig has not confirmed has not taken effect while the miner
 * mines on as before. Rejects with a Fault: `rig.timeout` after these seconds, `not.found` if the miner is removed.
 */
export function untilMining({ connection, before, after, reply, seconds, signal }: Wait): Promise<Miner> {
  return new Promise((resolve, reject) => {
    let isEffective = reply.state === "done";
    let isJoined = false;
    let leave = (): void => undefined;
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", close);
      // A member may be called before `join` returns.
      queueMicrotask(() => leave());
      settle();
    };
    const fail = (fault: Fault): void => end(() => reject(fault));
    const close = (): void => fail(new Fault("service.not-ready", "closed"));
    const timer = setTimeout(
      () => fail(new Fault("rig.timeout", "not-mining", { miner: before.name, seconds })),
      seconds * 1000,
    );
    signal.addEventListener("abort", close, { once: true });
    const look = (miner: Miner): void => {
      const isMining = miner.statusInfo.statusDisplay === "Mining";
      isEffective ||= !isMining || miner.readings.startedAt !== before.readings.startedAt;
      if (isMining && isEffective) end(() => resolve(miner));
    };
    leave = connection.join({
      miner: (miner) => {
        if (miner.id === before.id) look(miner);
      },
      read: ({ miners }) => {
        const miner = miners.get(before.id);
        // The state at the time of joining is older than the command.
        if (miner !== undefined && isJoined) look(miner);
      },
      removed: (id) => {
        if (id === before.id)
          fail(new Fault("not.found", "unknown-miner", { field: "=field.miners", name: before.name }));
      },
    });
    isJoined = true;
    look(after);
  });
}
