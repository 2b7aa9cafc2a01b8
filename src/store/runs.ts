import { type Selectable, sql } from "kysely";
import { z } from "zod";
import { Mutex } from "../async/index.ts";
import { BulkPreview } from "../contract/bulk-preview.ts";
import { notFound } from "../contract/problems.ts";
import { bulkStates } from "../contract/resources.ts";
import { unknownOutcome } from "./commands.ts";
import { type Database, plain, type Statement } from "./database.ts";
import { bindRequest, type RequestKey } from "./idempotency.ts";
import { keptRuns } from "./kept-runs.ts";
import { CommandParameters, RunCause } from "./resources.ts";
import type { RunMark } from "./run-mark.ts";
import type { Tables } from "./tables.ts";

/** How long ended runs are kept; further limits are for bulk actions and for other runs. */
const keptMs = 30 * 86_400_000;
const limits = {
  bulk: { runs: 1_000, results: 1_000_000 },
  other: { runs: 200_000, results: 200_000 },
};

/** A run resumes if the service was stopped for no longer than this and the time that the run itself waits. */
const resumeWithinMs = 3_600_000;
const awayTooLong = "the service stopped before it was sent, and did not start again within an hour";

export type ResultState = (typeof bulkStates)[number];

export interface NewRun {
  /** Who requested it, and the user whose access applies; null = full access. */
  readonly actor: string;
  readonly userId: number | null;
  /** The action of a bulk action; for another run, the kind of its cause. */
  readonly action: string;
  /** Without secrets. */
  readonly parameters: CommandParameters;
  /** Rigs that receive their command at the same time. */
  readonly parallel: number;
  /** s between two starts. */
  readonly delay: number;
  readonly dryRun: boolean;
  /** The cause of the run; null: a bulk action. */
  readonly cause?: RunCause | null;
  /** Unique, so that it does not start twice. */
  readonly occurrence?: string | null;
  /** The steps as JSON, validated by the reader; null: only the action, from an older version. */
  readonly steps?: readonly object[] | null;
  /** Total seconds that its steps wait. */
  readonly waits?: number;
  /** What a dry run says; null: none. */
  readonly preview?: BulkPreview | null;
}

export interface StoredRun extends Required<NewRun> {
  readonly id: number;
  /** When it was requested, epoch ms. */
  readonly time: number;
  /** Epoch ms; null while it runs, and for runs of older versions. */
  readonly ended: number | null;
  /** Miners. */
  readonly total: number;
  readonly state: Tables["bulk_action"]["state"];
  /** Miners with this result, or with it predicted by a dry run. */
  readonly done: number;
  readonly failed: number;
  readonly unknown: number;
}

/** The result of a step. `cancelled`: it was not sent. */
export interface StepResult {
  readonly state: ResultState;
  readonly message: string;
  readonly commandId: number | null;
}

export interface RunResult {
  /** 0 for the steps of a run without miners. */
  readonly minerId: number;
  readonly state: ResultState;
  readonly message: string;
}

/** A row as it begins. */
export interface NewResult extends RunResult {
  /** What the setting that it changes was before; absent: not known, or no setting. */
  readonly before?: string | null;
}

/** The progress of a run on a miner. */
export interface RunTurn extends RunResult {
  /** The number of finished steps; `state` and `message` are those of the next one, or of all once it has ended. */
  readonly step: number;
  readonly past: readonly StepResult[];
  readonly commandId: number | null;
}

/** For a step without a command but with an effect elsewhere: its result is unknown after a crash. */
export const noCommand = 0;

/**
 * Runs of steps, with a row for every miner from the start. A resolved write survives a crash of the process. A miner
 * goes from queued to sent (`claim`), is bound to its command (`bind`) before a byte is sent, and ends (`end`); with
 * further steps it is queued again for the next (`next`).
 */
export interface RunLog {
  /**
   * Running if any result is queued, otherwise done; resolves once it is on disk. `request` is bound to the run in the
   * same transaction.
   */
  add(run: NewRun, results: readonly NewResult[], request?: RequestKey): Promise<StoredRun>;
  /** Whether there is a run with this occurrence. */
  isBegun(occurrence: string): Promise<boolean>;
  get(id: number): Promise<StoredRun | undefined>;
  /** Bulk actions, newest first: those of this user, or all. */
  list(userId?: number): Promise<StoredRun[]>;
  /** In the order of the request. */
  results(id: number): Promise<Required<NewResult>[]>;
  turns(id: number): Promise<RunTurn[]>;
  running(): Promise<StoredRun[]>;
  /**
   * From queued to sent; false if it was cancelled. `commandId`: `noCommand`, or null until `bind`. Like `next`, it may be
   * called again if it is not known to be stored.
   */
  claim(id: number, minerId: number, commandId?: number | null): Promise<boolean>;
  bind(id: number, minerId: number, commandId: number): Promise<void>;
  /** Sets the message of a queued miner, such as the time until which it waits. */
  note(id: number, minerId: number, message: string): Promise<void>;
  end(id: number, result: RunResult): Promise<void>;
  /** Stores the result of a step, by its place; the miner is then in this state. */
  next(
    id: number,
    turn: { minerId: number; step: number },
    result: StepResult,
    then: Omit<RunResult, "minerId">,
  ): Promise<void>;
  /** Cancels queued miners, with this message, and a running run. Resolves with the number of miners. */
  cancel(id: number, message: string): Promise<number>;
  finish(id: number): Promise<void>;
}

/**
 * Opens the log and settles the miners that the last run of the service left open: they take over the result of their
 * command, or are queued again if nothing was sent. In a restored backup all open miners become unknown. Runs that were
 * left open long ago are cancelled, because nobody expects them. Open it before the commands, which end their own open
 * rows.
 */
export const openRuns = async (database: Database, mark: RunMark, now: () => number): Promise<RunLog> => {
  const { tables, dialect } = database;
  await database.write(settling(database, mark, now()));
  let last = await database.lastId("bulk_action");
  const kinds = {
    bulk: await keptRuns(database, "null", limits.bulk),
    other: await keptRuns(database, "not null", limits.other),
  };

  const pruning = new Mutex();
  const prune = (): Promise<void> =>
    pruning.run(async () => {
      const dropped = [];
      for (const kind of Object.values(kinds)) dropped.push(...(await kind.outdated(now() - keptMs)));
      if (dropped.length === 0) return;
      const ids = dropped.map(({ id }) => id);
      await database.write([
        tables.deleteFrom("bulk_result").where(dialect.isOneOf("bulk_action_id", ids)),
        tables.deleteFrom("bulk_action").where(dialect.isOneOf("id", ids)),
      ]);
    });
  await prune();

  const ofMiner = (id: number, minerId: number) =>
    tables.updateTable("bulk_result").where("bulk_action_id", "=", id).where("miner_id", "=", minerId);
  const newestFirst = tables.selectFrom("bulk_action").selectAll().orderBy("id", "desc");
  const find = async (id: number): Promise<StoredRun | undefined> => {
    const row = await tables.selectFrom("bulk_action").selectAll().where("id", "=", id).executeTakeFirst();
    return row === undefined ? undefined : fromRow(row);
  };
  const finished = `update bulk_result set state = ?, message = ?, step = step + 1, command_id = null,
    past = ${dialect.appended("past")} where bulk_action_id = ? and miner_id = ? and step = ?`;

  return {
    add: async (
      { cause = null, occurrence = null, steps = null, waits = 0, preview = null, ...run },
      results,
      request,
    ) => {
      await prune();
      const { parameters, userId, dryRun, ...others } = run;
      const state: StoredRun["state"] = results.some((result) => result.state === "queued") ? "running" : "done";
      const time = now();
      last += 1;
      const row = {
        ...others,
        id: last,
        time,
        state,
        occurrence,
        waits,
        ended: state === "done" ? time : null,
        user_id: userId,
        parameters: JSON.stringify(parameters),
        dry_run: Number(dryRun),
        total: results.length,
        cause: cause && JSON.stringify(cause),
        steps: steps && JSON.stringify(steps),
        preview: preview && JSON.stringify(preview),
      } as const;
      await database.write([
        tables.insertInto("bulk_action").values(row),
        ...database.idTaken("bulk_action", row.id),
        plain(dialect.insertResults, row.id, JSON.stringify(results)),
        ...(request === undefined ? [] : [bindRequest(tables, request, { run_id: row.id })]),
      ]);
      kinds[cause === null ? "bulk" : "other"].added(results.length);
      const added = await find(row.id);
      if (added === undefined) throw notFound("run", row.id);
      return added;
    },

    isBegun: async (occurrence) => {
      const found = await tables.selectFrom("bulk_action").select("id").where("occurrence", "=", occurrence).execute();
      return found.length > 0;
    },

    get: find,

    list: async (userId) => {
      const all = newestFirst.where("cause", "is", null);
      const rows = await (userId === undefined ? all : all.where("user_id", "=", userId)).execute();
      return rows.map(fromRow);
    },

    results: (id) =>
      tables
        .selectFrom("bulk_result")
        .select(["miner_id as minerId", "state", "message", "before"])
        .where("bulk_action_id", "=", id)
        .orderBy("position")
        .execute(),

    running: async () => {
      const rows = tables.selectFrom("bulk_action").selectAll().where("state", "=", "running").orderBy("id");
      return (await rows.execute()).map(fromRow);
    },

    turns: async (id) => {
      const rows = await tables
        .selectFrom("bulk_result")
        .selectAll()
        .where("bulk_action_id", "=", id)
        .orderBy("position")
        .execute();
      return rows.map(({ miner_id: minerId, state, message, step, past, command_id: commandId }) => ({
        minerId,
        state,
        message,
        step,
        commandId,
        past: Past.parse(JSON.parse(past)),
      }));
    },

    claim: async (id, minerId, commandId = null) => {
      mark.countSend();
      const counting = mark.saving();
      const claimed = { state: "sent", message: "", command_id: commandId } as const;
      let isWritten = false;
      try {
        const [changed = 0] = await database.write([
          ofMiner(id, minerId).set(claimed).where("state", "in", ["queued", "sent"]),
          ...counting.statements,
        ]);
        isWritten = true;
        return changed > 0;
      } finally {
        counting.ended(isWritten);
      }
    },

    bind: async (id, minerId, commandId) => {
      await database.write([ofMiner(id, minerId).set({ command_id: commandId })]);
    },

    note: async (id, minerId, message) => {
      await database.write([ofMiner(id, minerId).set({ message }).where("state", "=", "queued")]);
    },

    end: async (id, { minerId, state, message }) => {
      await database.write([ofMiner(id, minerId).set({ state, message })]);
    },

    next: async (id, { minerId, step }, result, { state, message }) => {
      await database.write([plain(finished, state, message, JSON.stringify(result), id, minerId, step)]);
    },

    cancel: async (id, message) => {
      const job = tables.updateTable("bulk_action").where("id", "=", id).where("state", "=", "running");
      const queued = tables.updateTable("bulk_result").where("bulk_action_id", "=", id).where("state", "=", "queued");
      const [, cancelled = 0] = await database.write([
        job.set({ state: "cancelled", ended: now() }),
        queued.set({ state: "cancelled", message }),
      ]);
      return cancelled;
    },

    finish: async (id) => {
      const running = tables.updateTable("bulk_action").where("id", "=", id).where("state", "=", "running");
      await database.write([running.set({ state: "done", ended: now() })]);
    },
  };
};

/** What becomes of the miners that the last run of the service left open. */
function settling({ tables }: Database, mark: RunMark, now: number): Statement[] {
  const { isUnchanged, sentAt } = mark.last;
  const results = tables.updateTable("bulk_result");
  const sent = results.where("state", "=", "sent");
  const queued = results.where("state", "=", "queued");
  const running = tables.updateTable("bulk_action").where("state", "=", "running");
  const command = (columns: string) =>
    sql.raw<string>(`(select ${columns} from command where command.id = bulk_result.command_id)`);
  const ended = sql<boolean>`${command("state")} in ('done', 'failed', 'unknown')`;
  const followed = sent.set({ state: sql<ResultState>`${command("state")}`, message: command("message") }).where(ended);
  const cancelled = tables.selectFrom("bulk_action").select("id").where("state", "=", "cancelled");
  const dropped = queued
    .set({ state: "cancelled", message: "the service stopped before it was sent" })
    .where("bulk_action_id", "in", cancelled);
  if (!isUnchanged)
    return [
      followed,
      results.set({ state: "unknown", message: unknownOutcome }).where("state", "in", ["queued", "sent"]),
      running.set({ state: "cancelled", ended: now }),
      dropped,
    ];
  const isQueued = sql<boolean>`(command_id is null or ${command("state")} = 'queued')`;
  // The clock may have been set back.
  const seen = sql<number>`case when time > ${sentAt ?? 0} then time else ${sentAt ?? 0} end`;
  const old = sql<boolean>`abs(${now} - ${seen}) > ${resumeWithinMs} + (delay + waits) * 1000`;
  const tooOld = tables.selectFrom("bulk_action").select("id").where("state", "=", "running").where(old);
  return [
    followed,
    sent.set({ state: "queued", command_id: null }).where(isQueued),
    sent.set({ state: "unknown", message: "the service stopped before the rig answered" }),
    queued.set({ state: "cancelled", message: awayTooLong }).where("bulk_action_id", "in", tooOld),
    running.set({ state: "cancelled", ended: now }).where(old),
    dropped,
  ];
}

const Past = z.array(z.object({ state: z.enum(bulkStates), message: z.string(), commandId: z.number().nullable() }));

const fromRow = (row: Selectable<Tables["bulk_action"]>): StoredRun => {
  const { user_id: userId, dry_run, parameters, cause, steps, preview, ...others } = row;
  return {
    ...others,
    userId,
    dryRun: dry_run === 1,
    parameters: CommandParameters.parse(JSON.parse(parameters)),
    cause: cause === null ? null : RunCause.parse(JSON.parse(cause)),
    steps: steps === null ? null : z.array(z.looseObject({})).parse(JSON.parse(steps)),
    preview: preview === null ? null : BulkPreview.parse(JSON.parse(preview)),
  };
};
