import { type Selectable, sql } from "kysely";
import { notFound } from "../contract/problems.ts";
import { CommandCause, type CommandState } from "../contract/resources.ts";
import { unlessFull } from "./deferred-delete.ts";
import { bindRequest, type RequestKey } from "./idempotency.ts";
import { newestCommands, type WantedCommands } from "./newest-commands.ts";
import { CommandParameters, type NewCommand, type StoredCommand } from "./resources.ts";
import type { RunMark } from "./run-mark.ts";
import type { Run, SqliteConnection } from "./sqlite-connection.ts";
import type { Tables } from "./tables.ts";

/** Limits for commands: their age and number; the newest are kept even if the clock is wrong. */
const keptMs = 400 * 86_400_000;
const keptAtMost = 1_000_000;
const keptAtLeast = 10_000;
/** Interval of dropping old commands in new commands, and the maximum dropped at a time. */
const pruneEvery = 100;
const pruneBatch = 1_000;
/** Rows kept in memory while the store cannot be written. */
const unwrittenLimit = 10_000;
const listLimit = 1_000;

export interface CommandLog {
  /**
   * Adds a row in state `queued`; resolves once it is on disk. While the store cannot be written, rows are kept in memory
   * so that commands still work; a crash of the process would lose them. Throws store.full if there are too many.
   * `request` is bound to the command in the same transaction.
   */
  add(command: NewCommand, request?: RequestKey): Promise<StoredCommand>;
  /** Resolves with the changed row. Throws not.found. */
  move(id: number, state: CommandState, message: string): Promise<StoredCommand>;
  get(id: number): Promise<StoredCommand | undefined>;
  /** Newest first, at most 1,000. */
  list(wanted?: WantedCommands): Promise<StoredCommand[]>;
  /** Writes unwritten rows. Throws store.full. */
  flush(): void;
}

/** For commands left open in a store that has changed since the last run. */
export const unknownOutcome =
  "it is unknown whether this was sent, because the store was restored from a backup or last used by an older version";

/** Opens the log, ends open commands of the last run (none is ever sent twice), and drops old ones. */
export const openCommands = async (sqlite: SqliteConnection, mark: RunMark, now: () => number): Promise<CommandLog> => {
  const { tables } = sqlite;
  sqlite.write((run) => {
    const end = (from: CommandState, state: CommandState, message: string) =>
      run(tables.updateTable("command").set({ state, message, updated: now() }).where("state", "=", from));
    end("sent", "unknown", "the service stopped before the rig answered");
    if (mark.last.isUnchanged) end("queued", "failed", "the service stopped before it was sent");
    else end("queued", "unknown", unknownOutcome);
  });
  let last = mark.last.lastId("command");
  /** Up to this id every row is on disk, possibly without its latest change. */
  let onDisk = last;
  const unwritten = new Map<number, Row>();

  const drop = sqlite.prepare(
    `delete from command where id in
      (select id from command where id <= ? and (time < ? or id <= ?) order by id limit ${pruneBatch})`,
  );
  const prune = (): void => {
    drop.run(last - keptAtLeast, now() - keptMs, last - keptAtMost);
  };
  sqlite.write(prune);

  const flush = (): void => {
    if (unwritten.size === 0) return;
    sqlite.write((run) => {
      for (const row of unwritten.values()) save(run, row);
      mark.save(run);
    });
    onDisk = last;
    unwritten.clear();
    mark.publish(true);
  };

  const save = (run: Run, { id, ...columns }: Row): void => {
    run(
      tables
        .insertInto("command")
        .values({ id, ...columns })
        .onConflict((conflict) => conflict.column("id").doUpdateSet(columns)),
    );
  };

  /** The current row. */
  const find = async (id: number): Promise<Row | undefined> =>
    unwritten.get(id) ?? (await tables.selectFrom("command").selectAll().where("id", "=", id).executeTakeFirst());

  /** Whether the row is on disk now. */
  const write = (row: Row, request?: RequestKey): boolean => {
    const written = unlessFull(() => {
      flush();
      sqlite.write((run) => {
        save(run, row);
        mark.save(run);
        if (request !== undefined) bindRequest(run, tables, request, { command_id: row.id });
        if (row.id % pruneEvery === 0 && row.state === "queued") prune();
      });
    });
    if (written) onDisk = Math.max(onDisk, row.id);
    else unwritten.set(row.id, row);
    return written;
  };

  const newestOnDisk = newestCommands(sqlite);
  const readFromDisk = async (wanted: WantedCommands): Promise<StoredCommand[]> => {
    const ids = JSON.stringify(newestOnDisk(wanted, listLimit));
    const rows = await tables
      .selectFrom("command")
      .selectAll()
      .where("id", "in", sql<number>`(select value from json_each(${ids}))`)
      .orderBy("id", "desc")
      .execute();
    return rows.map((row) => fromRow(unwritten.get(row.id) ?? row));
  };

  /** Rows that are only in memory, newest first. */
  const listUnwritten = ({ minerIds, actor }: WantedCommands): StoredCommand[] => {
    const wanted = minerIds && new Set(minerIds);
    return [...unwritten.values()]
      .filter((row) => row.id > onDisk && wanted?.has(row.miner_id) !== false && (actor ?? row.actor) === row.actor)
      .map(fromRow)
      .sort((a, b) => b.id - a.id);
  };

  return {
    add: async ({ minerId, minerName, actor, action, parameters, cause = null }, request) => {
      if (unwritten.size >= unwrittenLimit) flush();
      const time = now();
      const row: Row = {
        id: last + 1,
        time,
        updated: time,
        miner_id: minerId,
        miner_name: minerName,
        actor,
        action,
        parameters: JSON.stringify(parameters),
        cause: cause && JSON.stringify(cause),
        state: "queued",
        message: "",
      };
      if (!write(row, request)) mark.idGiven("command", row.id);
      last = row.id;
      return fromRow(row);
    },

    move: async (id, state, message) => {
      const current = await find(id);
      if (current === undefined) throw notFound("command", id);
      const row = { ...current, state, message, updated: now() };
      if (state === "sent") mark.countSend();
      const written = write(row);
      if (state === "sent") mark.publish(written);
      return fromRow(row);
    },

    get: async (id) => {
      const row = await find(id);
      return row === undefined ? undefined : fromRow(row);
    },

    list: async (wanted = {}) => {
      const { since = 0 } = wanted;
      const found = [...listUnwritten(wanted), ...(await readFromDisk(wanted))];
      return found.filter(({ time }) => time >= since).slice(0, listLimit);
    },

    flush,
  };
};

type Row = Selectable<Tables["command"]>;

const fromRow = ({ miner_id, miner_name, parameters, cause, ...row }: Row): StoredCommand => ({
  ...row,
  cause: cause === null ? null : CommandCause.parse(JSON.parse(cause)),
  minerId: miner_id,
  minerName: miner_name,
  parameters: CommandParameters.parse(JSON.parse(parameters)),
});
