import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Command } from "../../contract/resources.ts";
import type { Caller, MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, StoredCommand } from "../../store/index.ts";
import { done } from "../crud.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import { requestKeyOf } from "../request-key.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { costs, type ReadShares } from "../users/read-shares.ts";
import type { CommandExecutor } from "./command-executor.ts";

const cancelled = new RigbridgeError("not.possible", detail("command.cancelled"));

/** Commands sent to rigs. Users see those of their miners. */
export const commandOperations = (
  registry: MinerRegistry,
  store: Store,
  accessBook: AccessBook,
  shares: ReadShares,
  executor: CommandExecutor,
): Pick<MiningService, "listCommands" | "cancelCommand"> => {
  /** The miners whose commands are listed; undefined = all, also those of removed miners. */
  const minersFor = (access: Access, minerId: number | undefined): readonly number[] | undefined => {
    if (minerId === undefined)
      return access.all ? undefined : Array.from(registry.entriesFor(access), ({ facts }) => facts.id);
    return access.all || registry.visible(minerId, access) !== undefined ? [minerId] : [];
  };
  /** The command that a request of the caller has started. */
  const ofRequest = async (key: string, caller: Caller, access: Access): Promise<Command[]> => {
    const of = requestKeyOf({ ...caller, idempotency: { key } });
    const request = of && (await store.idempotency.find(of));
    if (request?.command === null && request.answer === null)
      throw new RigbridgeError("service.not-ready", "The request with this Idempotency-Key is still running");
    const command = request?.command ? await store.commands.get(request.command.id) : undefined;
    if (command === undefined || !(access.all || registry.visible(command.minerId, access) !== undefined)) return [];
    return [presentCommand(command)];
  };
  return {
    listCommands: async ({ miner, actor, since, request }, caller) => {
      const access = accessBook.of(caller);
      if (request !== undefined) return { commandList: await ofRequest(request, caller, access) };
      const minerId = typeof miner === "string" ? (registry.idOfUid(miner) ?? 0) : miner;
      const minerIds = minersFor(access, minerId);
      shares.take(caller, (minerIds?.length ?? 0) * costs.miner);
      const rows = await store.commands.list({ minerIds, actor, since });
      shares.charge(caller, rows.length * costs.command);
      return { commandList: rows.map(presentCommand) };
    },
    cancelCommand: async ({ id }, caller) => {
      const command = await store.commands.get(id);
      const access = accessBook.of(caller);
      if (command === undefined || !(access.all || registry.visible(command.minerId, access) !== undefined))
        throw notFound("command", id);
      if (await executor.withdraw(id, cancelled)) return done(`Command ${id} is cancelled; nothing of it was sent`);
      const { state } = (await store.commands.get(id)) ?? command;
      throw new RigbridgeError("not.possible", detail("command.notCancelled", { id, state }));
    },
  };
};

export const presentCommand = ({ time, updated, ...row }: StoredCommand): Command => ({
  ...row,
  time: new Date(time).toISOString(),
  updated: new Date(updated).toISOString(),
});
