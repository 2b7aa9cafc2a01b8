import type { Selectable } from "kysely";
import { notFound } from "../contract/problems.ts";
import { CommandCause, type CommandState } from "../contract/resources.ts";
import { type Database, plain, type Statement, type WantedCommands } from "./database.ts";
import { unlessFull } from "./deferred-delete.ts";
import { isAway } from "./failures.ts";
import { flusher } from "./flusher.ts";
import { bindRequest, type RequestKey } from "./idempotency.ts";
import { CommandParameters, type NewCommand, type StoredCommand } from "./resources.ts";
import type { RunMark } from "./run-mark.ts";
import type { Tables } from "./tables.ts";
import type { WaitingCommands } from "./waiting-commands.ts";

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
   * Adds a row in state `queued`, or `done`; resolves once it is on disk. While the store cannot be written, rows are kept in
   * memory so that commands still work; a crash of the process would lose them. Throws store.full if there are too many.
   * `request` is bound to the command in the same transaction. A command `forSafety` is kept in a file while the store is
   * away, so that a rig can be stopped then.
   */
  add(command: NewCommand, request?: RequestKey, forSafety?: boolean): Promise<StoredCommand>;
  /** Whether a command for safety is in the file only. */
  isWaiting(id: number): boolean;
  /**
   * Resolves with the changed row. Throws not.found, and service.store-away: a command that has ended is then written once
   * the store is back, and `watchLate` is told.
   */
  move(id: number, state: CommandState, message: string): Promise<StoredCommand>;
  /** Calls the watcher with each command whose end was written late. */
  watchLate(watcher: (command: StoredCommand) => void): void;
  get(id: number): Promise<StoredCommand | undefined>;
  /** Newest first, at most 1,000. */
  list(wanted?: WantedCommands): Promise<StoredCommand[]>;
  /** Writes unwritten rows. Throws store.full. */
  flush(): Promise<void>;
}

const stoppedBeforeAnswer = "the service stopped before the rig answered";
const stoppedBeforeSent = "the service stopped before it was sent";

/** The end of a command that was under way when the service stopped. */
const endOfLeft = ({ state, message }: Pick<Row, "state" | "message">): Pick<Row, "state" | "message"> => {
  if (state === "sent") return { state: "unknown", message: stoppedBeforeAnswer };
  return state === "queued" ? { state: "failed", message: stoppedBeforeSent } : { state, message };
};

const isEnd = (state: CommandState): boolean => state !== "queued" && state !== "sent";

/** For a command that may be stored although the store did not confirm it. */
const notConfirmed = "the store could not be reached, so it was not sent";

/** For commands left open in a store that has changed since the last run. */
export const unknownOutcome =
  "it is unknown whether this was sent, because the store was restored from a backup or last used by an older version";

const drop = `delete from command where id in
  (select id from command where id <= ? and (time < ? or id <= ?) order by id limit ${pruneBatch})`;

const stored = async (write: () => Promise<unknown>): Promise<boolean> => {
  await write();
  return true;
};

/**
 * `isShared`: with other services, so that nothing is sent of a command whose row is not stored. Opens the log, ends open commands of the last run (none is ever sent twice), and drops old ones. */
export const openCommands = async (
  database: Database,
  mark: RunMark,
  now: () => number,
  file: WaitingCommands | null = null,
  isShared = false,
): Promise<CommandLog> => {
  const { tables } = database;
  // Only beside a file a mark tells the next process what was sent without a row.
  const unlessFullHere: typeof unlessFull = isShared ? stored : unlessFull;
  const ended = (from: CommandState, state: CommandState, message: string) =>
    tables.updateTable("command").set({ state, message, updated: now() }).where("state", "=", from);
  await database.write([
    ended("sent", "unknown", stoppedBeforeAnswer),
    mark.last.isUnchanged ? ended("queued", "failed", stoppedBeforeSent) : ended("queued", "unknown", unknownOutcome),
  ]);
  let last = mark.last.lastId("command");
  /** Up to this id every row is on disk, possibly without its latest change. */
  let onDisk = last;
  const unwritten = new Map<number, Row>();
  /** Those of the unwritten whose end could not be stored when it came. */
  const late = new Set<number>();
  const watchers: ((command: StoredCommand) => void)[] = [];
  /** Commands under way, so that their end is known even while the store is away. */
  const open = new Map<number, Row>();
  /** Ids of new rows that the store has not confirmed, and may have stored. Nothing of them was sent. */
  const doubtful = new Set<number>();
  /** Those of the unwritten that are in the file. */
  const inFile = new Set<number>();

  const pruning = (newest: number): Statement => plain(drop, newest - keptAtLeast, now() - keptMs, newest - keptAtMost);
  await database.write([pruning(last)]);

  const saved = ({ id, ...columns }: Row): Statement =>
    tables
      .insertInto("command")
      .values({ id, ...columns })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(columns));

  /** Writes rows and how much was sent, in one transaction. */
  const save = async (statements: readonly Statement[]): Promise<void> => {
    const counting = mark.saving();
    let isWritten = false;
    try {
      await database.write([...statements, ...counting.statements]);
      isWritten = true;
    } finally {
      counting.ended(isWritten);
    }
  };

  /** Stores what an earlier process could not, each once: it may have stored some before it ended. */
  const takeLeft = async (waiting: WaitingCommands): Promise<void> => {
    const statements: Statement[] = [];
    for (const { id: _, ...row } of await waiting.left()) {
      const { miner_id, time, actor, action } = row;
      const same = tables.selectFrom("command").select("id").where("miner_id", "=", miner_id).where("time", "=", time);
      const [known] = await same.where("actor", "=", actor).where("action", "=", action).execute();
      if (known !== undefined) continue;
      last += 1;
      statements.push(saved({ ...row, ...endOfLeft(row), id: last }), ...database.idTaken("command", last));
    }
    await database.write(statements);
    await waiting.clear();
  };
  if (file !== null) await takeLeft(file);

  const flush = flusher(save, () => {
    const rows = [...unwritten.values()];
    const ids = [...doubtful];
    if (rows.length + ids.length === 0) return null;
    const unsent = ended("queued", "failed", notConfirmed).where(database.dialect.isOneOf("id", ids));
    return {
      statements: [...rows.map(saved), ...(ids.length === 0 ? [] : [unsent]), ...database.idTaken("command", last)],
      written: () => {
        const wereInFile = inFile.size;
        for (const id of ids) doubtful.delete(id);
        for (const row of rows) {
          onDisk = Math.max(onDisk, row.id);
          if (unwritten.get(row.id) === row) {
            unwritten.delete(row.id);
            inFile.delete(row.id);
          }
          if (late.delete(row.id)) for (const watcher of watchers) watcher(fromRow(row));
        }
        if (wereInFile > 0 && inFile.size === 0) file?.clear().catch(() => undefined);
      },
      failed: () => undefined,
    };
  });

  const keep = async (row: Row): Promise<void> => {
    unwritten.set(row.id, row);
    inFile.add(row.id);
    await file?.keep(row);
  };

  /** The current row. */
  const find = async (id: number): Promise<Row | undefined> =>
    unwritten.get(id) ?? (await tables.selectFrom("command").selectAll().where("id", "=", id).executeTakeFirst());

  /** Whether the row is on disk now. */
  const write = async (row: Row, more: readonly Statement[] = []): Promise<boolean> => {
    const isWritten = await unlessFullHere(async () => {
      if (unwritten.size + doubtful.size > 0) await flush();
      const numbered = row.id > onDisk ? database.idTaken("command", row.id) : [];
      await save([saved(row), ...numbered, ...more]);
    });
    if (isWritten) onDisk = Math.max(onDisk, row.id);
    else unwritten.set(row.id, row);
    return isWritten;
  };

  const readFromDisk = async (wanted: WantedCommands): Promise<StoredCommand[]> => {
    const rows = await tables
      .selectFrom("command")
      .selectAll()
      .where(database.dialect.isOneOf("id", await database.newestCommands(wanted, listLimit)))
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
    add: async ({ minerId, minerName, actor, action, parameters, cause = null, done }, request, forSafety = false) => {
      if (unwritten.size >= unwrittenLimit) await flush();
      last += 1;
      const time = now();
      const row: Row = {
        id: last,
        time,
        updated: time,
        miner_id: minerId,
        miner_name: minerName,
        actor,
        action,
        parameters: JSON.stringify(parameters),
        cause: cause && JSON.stringify(cause),
        state: done === undefined ? "queued" : "done",
        message: done ?? "",
      };
      const more = [
        ...(request === undefined ? [] : [bindRequest(tables, request, { command_id: row.id })]),
        ...(row.id % pruneEvery === 0 ? [pruning(row.id - 1)] : []),
      ];
      const mayWait = forSafety && file !== null;
      try {
        if (mayWait && database.isAway) await keep(row);
        else if (!(await write(row, more))) mark.idGiven("command", row.id);
      } catch (error) {
        if (!isAway(error)) throw error;
        if (!mayWait && doubtful.size < unwrittenLimit) doubtful.add(row.id);
        if (!mayWait) throw error;
        await keep(row);
      }
      if (done === undefined) open.set(row.id, row);
      return fromRow(row);
    },

    move: async (id, state, message) => {
      const current = open.get(id) ?? (await find(id));
      if (current === undefined) throw notFound("command", id);
      const row = { ...current, state, message, updated: now() };
      if (state === "sent") mark.countSend();
      if (isEnd(state)) open.delete(id);
      try {
        // The next flush writes it.
        if (inFile.has(id)) await keep(row);
        else await write(row);
      } catch (error) {
        if (isEnd(state) && (isAway(error) || isShared)) {
          unwritten.set(id, row);
          late.add(id);
        }
        throw error;
      }
      if (!isEnd(state)) open.set(id, row);
      return fromRow(row);
    },

    isWaiting: (id) => inFile.has(id),

    watchLate: (watcher) => {
      watchers.push(watcher);
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
