import { type Selectable, sql } from "kysely";
import { z } from "zod";
import { bulkStates } from "../contract/resources.ts";
import { unknownOutcome } from "./commands.ts";
import { bindRequest, type RequestKey } from "./idempotency.ts";
import { keptRuns } from "./kept-runs.ts";
import { CommandParameters, RunCause } from "./resources.ts";
import type { RunMark } from "./run-mark.ts";
import { isOneOf, type SqliteConnection } from "./sqlite-connection.ts";
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
  isBegun(occurrence: string): boolean;
  get(id: number): Promise<StoredRun | undefined>;
  /** Bulk actions, newest first: those of this user, or all. */
  list(userId?: number): Promise<StoredRun[]>;
  /** In the order of the request. */
  results(id: number): Promise<Required<NewResult>[]>;
  turns(id: number): Promise<RunTurn[]>;
  running(): Promise<StoredRun[]>;
  /** From queued to sent; false if it is no longer queued. `commandId`: `noCommand`, or null until `bind`. */
  claim(id: number, minerId: number, commandId?: number | null): Promise<boolean>;
  bind(id: number, minerId: number, commandId: number): Promise<void>;
  /** Sets the message of a queued miner, such as the time until which it waits. */
  note(id: number, minerId: number, message: string): Promise<void>;
  end(id: number, result: RunResult): Promise<void>;
  /** Stores the result of a step; the miner is then in this state. */
  next(id: number, minerId: number, result: StepResult, then: Omit<RunResult, "minerId">): Promise<void>;
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
export const openRuns = async (sqlite: SqliteConnection, mark: RunMark, now: () => number): Promise<RunLog> => {
  const { tables } = sqlite;
  const { isUnchanged, sentAt } = mark.last;
  sqlite.write((run) => {
    const results = tables.updateTable("bulk_result");
    const sent = results.where("state", "=", "sent");
    const queued = results.where("state", "=", "queued");
    const running = tables.updateTable("bulk_action").where("state", "=", "running");
    const command = (columns: string) =>
      sql.raw<string>(`(select ${columns} from command where command.id = bulk_result.command_id)`);
    const ended = sql<boolean>`${command("state")} in ('done', 'failed', 'unknown')`;
    run(sent.set({ state: sql<ResultState>`${command("state")}`, message: command("message") }).where(ended));
    if (isUnchanged) {
      const isQueued = sql<boolean>`(command_id is null or ${command("state")} = 'queued')`;
      run(sent.set({ state: "queued", command_id: null }).where(isQueued));
      run(sent.set({ state: "unknown", message: "the service stopped before the rig answered" }));
      // The clock may have been set back.
      const away = sql<number>`abs(${now()} - max(time, ${sentAt ?? 0}))`;
      const old = sql<boolean>`${away} > ${resumeWithinMs} + (delay + waits) * 1000`;
      const tooOld = tables.selectFrom("bulk_action").select("id").where("state", "=", "running").where(old);
      run(queued.set({ state: "cancelled", message: awayTooLong }).where("bulk_action_id", "in", tooOld));
      run(running.set({ state: "cancelled", ended: now() }).where(old));
    } else {
      run(results.set({ state: "unknown", message: unknownOutcome }).where("state", "in", ["queued", "sent"]));
      run(running.set({ state: "cancelled", ended: now() }));
    }
    const cancelled = tables.selectFrom("bulk_action").select("id").where("state", "=", "cancelled");
    run(
      queued
        .set({ state: "cancelled", message: "the service stopped before it was sent" })
        .where("bulk_action_id", "in", cancelled),
    );
  });

  /** From JSON in one statement: 100,000 statements would block the process for seconds. */
  const insertResults = sqlite.prepare(
    `insert into bulk_result (bulk_action_id, miner_id, position, state, message, before)
      select ?, value ->> 'minerId', key, value ->> 'state', value ->> 'message', value ->> 'before' from json_each(?)`,
  );
  const kinds = { bulk: keptRuns(sqlite, "null", limits.bulk), other: keptRuns(sqlite, "not null", limits.other) };

  const prune = (): void => {
    const dropped = Object.values(kinds).flatMap((kind) => kind.outdated(now() - keptMs));
    if (dropped.length === 0) return;
    const ids = dropped.map(({ id }) => id);
    sqlite.write((run) => {
      run(tables.deleteFrom("bulk_result").where(isOneOf("bulk_action_id", ids)));
      run(tables.deleteFrom("bulk_action").where(isOneOf("id", ids)));
    });
  };
  prune();
  const begun = sqlite.prepare("select 1 from bulk_action where occurrence = ?");

  const ofMiner = (id: number, minerId: number) =>
    tables.updateTable("bulk_result").where("bulk_action_id", "=", id).where("miner_id", "=", minerId);
  const newestFirst = tables.selectFrom("bulk_action").selectAll().orderBy("id", "desc");

  return {
    add: async ({ cause = null, occurrence = null, steps = null, waits = 0, ...run }, results, request) => {
      prune();
      const { parameters, userId, dryRun, ...others } = run;
      const state: StoredRun["state"] = results.some((result) => result.state === "queued") ? "running" : "done";
      const time = now();
      const row = {
        ...others,
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
      } as const;
      const id = sqlite.write((write) => {
        const inserted = write(tables.insertInto("bulk_action").values(row));
        insertResults.run(inserted.id, JSON.stringify(results));
        if (request !== undefined) bindRequest(write, tables, request, { run_id: inserted.id });
        return inserted.id;
      });
      kinds[cause === null ? "bulk" : "other"].added(results.length);
      return fromRow(await tables.selectFrom("bulk_action").selectAll().where("id", "=", id).executeTakeFirstOrThrow());
    },

    isBegun: (occurrence) => begun.get(occurrence) !== undefined,

    get: async (id) => {
      const row = await tables.selectFrom("bulk_action").selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined ? undefined : fromRow(row);
    },

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
      const { changes } = sqlite.write((run) => {
        mark.save(run);
        const claimed = { state: "sent", message: "", command_id: commandId } as const;
        return run(ofMiner(id, minerId).set(claimed).where("state", "=", "queued"));
      });
      mark.publish(true);
      return changes > 0;
    },

    bind: async (id, minerId, commandId) => {
      sqlite.write((run) => run(ofMiner(id, minerId).set({ command_id: commandId })));
    },

    note: async (id, minerId, message) => {
      sqlite.write((run) => run(ofMiner(id, minerId).set({ message }).where("state", "=", "queued")));
    },

    end: async (id, { minerId, state, message }) => {
      sqlite.write((run) => run(ofMiner(id, minerId).set({ state, message })));
    },

    next: async (id, minerId, result, { state, message }) => {
      const past = sql<string>`json_insert(past, '$[#]', json(${JSON.stringify(result)}))`;
      const step = sql<number>`step + 1`;
      sqlite.write((run) => run(ofMiner(id, minerId).set({ state, message, past, step, command_id: null })));
    },

    cancel: async (id, message) =>
      sqlite.write((run) => {
        const job = tables.updateTable("bulk_action").where("id", "=", id).where("state", "=", "running");
        run(job.set({ state: "cancelled", ended: now() }));
        const queued = tables.updateTable("bulk_result").where("bulk_action_id", "=", id).where("state", "=", "queued");
        return run(queued.set({ state: "cancelled", message })).changes;
      }),

    finish: async (id) => {
      const running = tables.updateTable("bulk_action").where("id", "=", id).where("state", "=", "running");
      sqlite.write((run) => run(running.set({ state: "done", ended: now() })));
    },
  };
};

const Past = z.array(z.object({ state: z.enum(bulkStates), message: z.string(), commandId: z.number().nullable() }));

const fromRow = (row: Selectable<Tables["bulk_action"]>): StoredRun => {
  const { user_id: userId, dry_run, parameters, cause, steps, ...others } = row;
  return {
    ...others,
    userId,
    dryRun: dry_run === 1,
    parameters: CommandParameters.parse(JSON.parse(parameters)),
    cause: cause === null ? null : RunCause.parse(JSON.parse(cause)),
    steps: steps === null ? null : z.array(z.looseObject({})).parse(JSON.parse(steps)),
  };
};
