import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Command } from "../../contract/resources.ts";
import type { MiningService } from "../../contract/service.ts";
import type { Store, StoredCommand } from "../../store/index.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { costs, type ReadShares } from "../history/read-shares.ts";
import { done } from "../replies.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { CommandExecutor } from "./command-executor.ts";

const cancelled = new RigbridgeError("not.possible", "Cancelled before it was sent");

/** What was sent to rigs. A user is shown what was sent to the miners that they see. */
export const commandOperations = (
  registry: MinerRegistry,
  store: Store,
  access: AccessBook,
  shares: ReadShares,
  executor: CommandExecutor,
): Pick<MiningService, "listCommands" | "cancelCommand"> => {
  /** Whose commands are shown; undefined = all, also of miners that are no more. */
  const minersFor = (eyes: Access, minerId: number | undefined): readonly number[] | undefined => {
    if (minerId === undefined)
      return eyes.all ? undefined : Array.from(registry.entriesFor(eyes), ({ facts }) => facts.id);
    return eyes.all || registry.seen(minerId, eyes) !== undefined ? [minerId] : [];
  };
  return {
    listCommands: async ({ miner, actor, since }, caller) => {
      const eyes = access.of(caller);
      const minerId = typeof miner === "string" ? (registry.idOfUid(miner) ?? 0) : miner;
      const minerIds = minersFor(eyes, minerId);
      shares.take(caller, (minerIds?.length ?? 0) * costs.miner);
      const rows = await store.commands.list({ minerIds, actor, since });
      shares.charge(caller, rows.length * costs.command);
      return { commandList: rows.map(shownCommand) };
    },
    cancelCommand: async ({ id }, caller) => {
      const command = await store.commands.get(id);
      const eyes = access.of(caller);
      if (command === undefined || !(eyes.all || registry.seen(command.minerId, eyes) !== undefined))
        throw notFound("command", id);
      if (await executor.withdraw(id, cancelled)) return done(`Command ${id} is cancelled; nothing of it was sent`);
      const { state } = (await store.commands.get(id)) ?? command;
      throw new RigbridgeError("not.possible", `Command ${id} cannot be cancelled any more: it is ${state}`);
    },
  };
};

export const shownCommand = ({ time, updated, ...row }: StoredCommand): Command => ({
  ...row,
  time: new Date(time).toISOString(),
  updated: new Date(updated).toISOString(),
});
