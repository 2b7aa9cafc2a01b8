import type { Selectable } from "kysely";
import { notFound } from "../contract/problems.ts";
import type { CommandState } from "../contract/resources.ts";
import type { Connection } from "./connection.ts";
import { CommandParameters, type NewCommand, type StoredCommand } from "./resources.ts";
import type { Tables } from "./tables.ts";

const keptFor = 400 * 86_400_000;
const listLimit = 1_000;

export interface CommandFilter {
  readonly minerId?: number | undefined;
  readonly actor?: string | undefined;
  /** epoch ms */
  readonly since?: number | undefined;
  /** Whether a miner's commands are wanted. */
  readonly ofMiner?: ((minerId: number) => boolean) | undefined;
}

export interface CommandLog {
  /** A new row in state `queued`; resolves when it is on disk. */
  add(command: NewCommand): Promise<StoredCommand>;
  /** Resolves with the row as it is now. Throws not.found. */
  move(id: number, state: CommandState, message: string): Promise<StoredCommand>;
  /** Newest first, at most 1,000. */
  list(filter?: CommandFilter): Promise<StoredCommand[]>;
}

/** Opens the log, ends what the last run left open (nothing is ever sent twice), and drops what is too old. */
export const openCommands = async (connection: Connection, now: () => number): Promise<CommandLog> => {
  const { tables } = connection;
  connection.write((run) => {
    const end = (left: CommandState, state: CommandState, message: string) =>
      run(tables.updateTable("command").set({ state, message, updated: now() }).where("state", "=", left));
    end("sent", "unknown", "the service stopped before the rig answered");
    end("queued", "failed", "the service stopped before it was sent");
    run(tables.deleteFrom("command").where("time", "<", now() - keptFor));
  });

  const pageOf = async ({ minerId, actor, since }: CommandFilter, below?: number): Promise<StoredCommand[]> => {
    const rows = await tables
      .selectFrom("command")
      .selectAll()
      .$if(minerId !== undefined, (query) => query.where("miner_id", "=", minerId ?? 0))
      .$if(actor !== undefined, (query) => query.where("actor", "=", actor ?? ""))
      .$if(since !== undefined, (query) => query.where("time", ">=", since ?? 0))
      .$if(below !== undefined, (query) => query.where("id", "<", below ?? 0))
      .orderBy("id", "desc")
      .limit(listLimit)
      .execute();
    return rows.map(fromRow);
  };

  return {
    add: async ({ minerId, minerName, actor, action, parameters }) => {
      const time = now();
      const row = { time, updated: time, miner_id: minerId, miner_name: minerName, actor, action };
      const rest = { parameters: JSON.stringify(parameters), state: "queued" as const, message: "" };
      const { id } = connection.write((run) => run(tables.insertInto("command").values({ ...row, ...rest })));
      return fromRow({ id, ...row, ...rest });
    },

    move: async (id, state, message) => {
      const update = tables.updateTable("command").set({ state, message, updated: now() }).where("id", "=", id);
      connection.write((run) => run(update));
      const row = await tables.selectFrom("command").selectAll().where("id", "=", id).executeTakeFirst();
      if (row === undefined) throw notFound("command", id);
      return fromRow(row);
    },

    list: async ({ ofMiner = () => true, ...filter } = {}) => {
      const found: StoredCommand[] = [];
      for (let below: number | undefined; ; ) {
        const page = await pageOf(filter, below);
        found.push(...page.filter(({ minerId }) => ofMiner(minerId)));
        below = page.at(-1)?.id;
        if (page.length < listLimit || found.length >= listLimit) return found.slice(0, listLimit);
      }
    },
  };
};

const fromRow = ({ miner_id, miner_name, parameters, ...row }: Selectable<Tables["command"]>): StoredCommand => ({
  ...row,
  minerId: miner_id,
  minerName: miner_name,
  parameters: CommandParameters.parse(JSON.parse(parameters)),
});
