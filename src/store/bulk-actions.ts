import { type Selectable, sql } from "kysely";
import type { bulkStates } from "../contract/resources.ts";
import { unknownOutcome } from "./commands.ts";
import { CommandParameters } from "./resources.ts";
import type { RunMark } from "./run-mark.ts";
import { isOneOf, type SqliteConnection } from "./sqlite-connection.ts";
import type { Tables } from "./tables.ts";

/** Limits for ended jobs: their age, their number, and the number of their results. */
const keptMs = 30 * 86_400_000;
const maxJobs = 1_000;
const maxResults = 1_000_000;

/** A job resumes if the service was stopped for no longer than this and the job's own delay. */
const resumeWithinMs = 3_600_000;
const awayTooLong = "the service stopped before it was sent, and did not start again within an hour";

type BulkState = (typeof bulkStates)[number];

export interface NewBulkAction {
  /** Who requested it, and the user whose access applies; null = full access. */
  readonly actor: string;
  readonly userId: number | null;
  readonly action: string;
  /** Without secrets. */
  readonly parameters: CommandParameters;
  /** Rigs that get their command at the same time. */
  readonly parallel: number;
  /** s between two starts. */
  readonly delay: number;
  readonly dryRun: boolean;
}

export interface StoredBulkAction extends NewBulkAction {
  readonly id: number;
  /** When it was requested, epoch ms. */
  readonly time: number;
  /** Miners. */
  readonly total: number;
  readonly state: Tables["bulk_action"]["state"];
}

export interface BulkResult {
  readonly minerId: number;
  readonly state: BulkState;
  readonly message: string;
}

/**
 * Jobs, with a result for every miner from the start. A resolved write survives a crash of the process. A miner goes
 * from queued to sent (`claim`), is bound to its command (`bind`) before a byte is sent, and ends (`end`).
 */
export interface BulkActionLog {
  /** Running if any result is queued, else done; resolves once it is on disk. */
  add(job: NewBulkAction, results: readonly BulkResult[]): Promise<StoredBulkAction>;
  get(id: number): Promise<StoredBulkAction | undefined>;
  /** Newest first: those of this user, or all. */
  list(userId?: number): Promise<StoredBulkAction[]>;
  /** In the order of the request. */
  results(id: number): Promise<BulkResult[]>;
  running(): Promise<StoredBulkAction[]>;
  /** Queued miners, in order. */
  queued(id: number): Promise<number[]>;
  /** From queued to sent; false if it is no longer queued. */
  claim(id: number, minerId: number): Promise<boolean>;
  bind(id: number, minerId: number, commandId: number): Promise<void>;
  end(id: number, result: BulkResult): Promise<void>;
  /** Cancels queued miners, with this message, and a running job. Resolves with the number of miners. */
  cancel(id: number, message: string): Promise<number>;
  finish(id: number): Promise<void>;
}

/**
 * Opens the log and settles the miners that the last run left open: they take over the outcome of their command, or are
 * queued again if nothing was sent. In a restored backup all open miners become unknown. Jobs left open long ago are
 * cancelled: nobody expects them any more. Open it before the commands, which end their own open rows.
 */
export const openBulkActions = async (
  sqlite: SqliteConnection,
  mark: RunMark,
  now: () => number,
): Promise<BulkActionLog> => {
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
    run(sent.set({ state: sql<BulkState>`${command("state")}`, message: command("message") }).where(ended));
    if (isUnchanged) {
      const isQueued = sql<boolean>`(command_id is null or ${command("state")} = 'queued')`;
      run(sent.set({ state: "queued", command_id: null }).where(isQueued));
      run(sent.set({ state: "unknown", message: "the service stopped before the rig answered" }));
      // The clock may have been set back.
      const away = sql<number>`abs(${now()} - max(time, ${sentAt ?? 0}))`;
      const old = sql<boolean>`${away} > ${resumeWithinMs} + delay * 1000`;
      const tooOld = tables.selectFrom("bulk_action").select("id").where("state", "=", "running").where(old);
      run(queued.set({ state: "cancelled", message: awayTooLong }).where("bulk_action_id", "in", tooOld));
      run(running.set({ state: "cancelled" }).where(old));
    } else {
      run(results.set({ state: "unknown", message: unknownOutcome }).where("state", "in", ["queued", "sent"]));
      run(running.set({ state: "cancelled" }));
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
    `insert into bulk_result (bulk_action_id, miner_id, position, state, message)
      select ?, value ->> 'minerId', key, value ->> 'state', value ->> 'message' from json_each(?)`,
  );

  const prune = async (): Promise<void> => {
    const ended = await tables
      .selectFrom("bulk_action")
      .select(["id", "time", "total"])
      .where("state", "<>", "running")
      .orderBy("id", "desc")
      .execute();
    const kept = keptOf(ended, now());
    const dropped = ended.slice(kept).map(({ id }) => id);
    if (dropped.length === 0) return;
    sqlite.write((run) => {
      run(tables.deleteFrom("bulk_result").where(isOneOf("bulk_action_id", dropped)));
      run(tables.deleteFrom("bulk_action").where(isOneOf("id", dropped)));
    });
  };
  await prune();

  const ofMiner = (id: number, minerId: number) =>
    tables.updateTable("bulk_result").where("bulk_action_id", "=", id).where("miner_id", "=", minerId);

  return {
    add: async ({ parameters, userId, dryRun, ...job }, results) => {
      await prune();
      const state = results.some((result) => result.state === "queued") ? "running" : "done";
      const row = {
        ...job,
        time: now(),
        state,
        user_id: userId,
        parameters: JSON.stringify(parameters),
        dry_run: Number(dryRun),
        total: results.length,
      } as const;
      const id = sqlite.write((run) => {
        const added = run(tables.insertInto("bulk_action").values(row));
        insertResults.run(added.id, JSON.stringify(results));
        return added.id;
      });
      return fromRow({ id, ...row });
    },

    get: async (id) => {
      const row = await tables.selectFrom("bulk_action").selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined ? undefined : fromRow(row);
    },

    list: async (userId) => {
      const all = tables.selectFrom("bulk_action").selectAll().orderBy("id", "desc");
      const rows = await (userId === undefined ? all : all.where("user_id", "=", userId)).execute();
      return rows.map(fromRow);
    },

    results: (id) =>
      tables
        .selectFrom("bulk_result")
        .select(["miner_id as minerId", "state", "message"])
        .where("bulk_action_id", "=", id)
        .orderBy("position")
        .execute(),

    running: async () => {
      const rows = tables.selectFrom("bulk_action").selectAll().where("state", "=", "running").orderBy("id");
      return (await rows.execute()).map(fromRow);
    },

    queued: async (id) => {
      const rows = await tables
        .selectFrom("bulk_result")
        .select("miner_id")
        .where("bulk_action_id", "=", id)
        .where("state", "=", "queued")
        .orderBy("position")
        .execute();
      return rows.map((row) => row.miner_id);
    },

    claim: async (id, minerId) => {
      mark.countSend();
      const { changes } = sqlite.write((run) => {
        mark.save(run);
        return run(ofMiner(id, minerId).set({ state: "sent", command_id: null }).where("state", "=", "queued"));
      });
      mark.publish(true);
      return changes > 0;
    },

    bind: async (id, minerId, commandId) => {
      sqlite.write((run) => run(ofMiner(id, minerId).set({ command_id: commandId })));
    },

    end: async (id, { minerId, state, message }) => {
      sqlite.write((run) => run(ofMiner(id, minerId).set({ state, message })));
    },

    cancel: async (id, message) =>
      sqlite.write((run) => {
        const job = tables.updateTable("bulk_action").where("id", "=", id).where("state", "=", "running");
        run(job.set({ state: "cancelled" }));
        const queued = tables.updateTable("bulk_result").where("bulk_action_id", "=", id).where("state", "=", "queued");
        return run(queued.set({ state: "cancelled", message })).changes;
      }),

    finish: async (id) => {
      const running = tables.updateTable("bulk_action").where("id", "=", id).where("state", "=", "running");
      sqlite.write((run) => run(running.set({ state: "done" })));
    },
  };
};

/** How many of these ended jobs, newest first, are within the limits. */
const keptOf = (ended: readonly { readonly time: number; readonly total: number }[], now: number): number => {
  let results = 0;
  const first = ended.findIndex(({ time, total }, index) => {
    results += total;
    return index >= maxJobs || time < now - keptMs || (index > 0 && results > maxResults);
  });
  return first === -1 ? ended.length : first;
};

const fromRow = ({ user_id, dry_run, parameters, ...row }: Selectable<Tables["bulk_action"]>): StoredBulkAction => ({
  ...row,
  userId: user_id,
  dryRun: dry_run === 1,
  parameters: CommandParameters.parse(JSON.parse(parameters)),
});
