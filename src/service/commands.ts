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
    const { all } = access.of(caller);
    const minerId = typeof miner === "string" ? (roster.idOfUid(miner) ?? 0) : miner;
    const rows = await store.commands.list({ minerId, actor, since });
    const seen = all ? rows : rows.filter((row) => roster.seen(row.minerId, access.of(caller)));
    return { commandList: seen.map(shownCommand) };
  },
});

export const shownCommand = ({ time, updated, ...row }: StoredCommand): Command => ({
  ...row,
  time: new Date(time).toISOString(),
  updated: new Date(updated).toISOString(),
});
