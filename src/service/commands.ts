import type { Command } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import type { Store, StoredCommand } from "../store/index.ts";
import type { AccessBook } from "./access.ts";
import type { Roster } from "./roster.ts";

/** What was sent to rigs. A user is shown what was sent to the miners that they see. */
export const commandOperations = (
  roster: Roster,
  store: Store,
  access: AccessBook,
): Pick<MiningService, "listCommands"> => ({
  listCommands: async ({ miner, actor, since }, caller) => {
    const eyes = access.of(caller);
    const minerId = typeof miner === "string" ? (roster.idOfUid(miner) ?? 0) : miner;
    const ofMiner = eyes.all ? undefined : (id: number) => roster.seen(id, eyes) !== undefined;
    const rows = await store.commands.list({ minerId, actor, since, ofMiner });
    return { commandList: rows.map(shownCommand) };
  },
});

export const shownCommand = ({ time, updated, ...row }: StoredCommand): Command => ({
  ...row,
  time: new Date(time).toISOString(),
  updated: new Date(updated).toISOString(),
});
