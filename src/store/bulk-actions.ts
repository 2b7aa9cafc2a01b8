import { type Selectable, sql } from "kysely";
import type { bulkStates } from "../contract/resources.ts";
import { unknownOutcome } from "./commands.ts";
import { isOneOf } from "./one-of.ts";
import { CommandParameters } from "./resources.ts";
import type { RunMark } from "./run-mark.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import type { Tables } from "./tables.ts";

/** How long ended jobs are kept: so many ms, so many of them, and so many results in all of them. */
const keptMs = 30 * 86_400_000;
const keptJobs = 1_000;
const keptResults = 1_000_000;

/** ms, beside the job's own delay between two starts, within which a job goes on after the service was away. */
const resumeWithinMs = 3_600_000;
const awayTooLong = "the service stopped before it was sent, and was away for more than an hour";

type BulkState = (typeof bulkStates)[number];

export interface NewBulkAction {
  /** Who asked, and through whose eyes; null = everybody's. */
  readonly actor: string;
  readonly userId: number | null;
  readonly action: string;
  /** Without secrets. */
  readonly parameters: CommandParameters;
  /** Rigs told at once. */
  readonly parallel: number;
  /** s between two starts. */
  readonly delay: number;
  readonly dryRun: boolean;
}

export interface StoredBulkAction extends NewBulkAction {
  readonly id: number;
  /** When it was asked for, epoch ms. */
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
 * Jobs, with a result for every miner from the beginning. What resolves survives the death of the process. A miner goes
 * queued → sent (`claim`), is bound to its command (`bind`) before a byte leaves, and ends (`end`).
 */
export interface BulkActionLog {
  /** Running when any result is queued, else done; resolves with the job when it is on disk. */
  add(job: NewBulkAction, results: readonly BulkResult[]): Promise<StoredBulkAction>;
  get(id: number): Promise<StoredBulkAction | undefined>;
  /** Newest first: of this user, or all. */
  list(userId?: number): Promise<StoredBulkAction[]>;
  /** In the order in which the miners were named. */
  results(id: number): Promise<BulkResult[]>;
  running(): Promise<StoredBulkAction[]>;
  /** Miners that are still queued, in order. */
  queued(id: number): Promise<number[]>;
  /** From queued to sent; false when it is not queued any more. */
  claim(id: number, minerId: number): Promise<boolean>;
  bind(id: number, minerId: number, commandId: number): Promise<void>;
  end(id: number, result: BulkResult): Promise<void>;
  /** What is queued is cancelled with these words, and so is a running job. Resolves with how many miners that were. */
  cancel(id: number, message: string): Promise<number>;
  /** A running job is done. */
  finish(id: number): Promise<void>;
}

/**
 * Opens the log and settles what the last run left open: what a command has become is taken over, and what no byte has
 * left for is queued again. In a store that is not as the last run left it (a restored backup) all that was open is
 * unknown, and what was left open long ago is given up: nobody expects it any more. Open it before the commands are,
 * which end all that is left of theirs.
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
      // Clocks also go backwards.
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

  /** From JSON in one statement: 100,000 statements would keep everything waiting for seconds. */
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

/** How many of these ended jobs, newest first, are kept. */
const keptOf = (ended: readonly { readonly time: number; readonly total: number }[], now: number): number => {
  let results = 0;
  const first = ended.findIndex(({ time, total }, index) => {
    results += total;
    return index >= keptJobs || time < now - keptMs || (index > 0 && results > keptResults);
  });
  return first === -1 ? ended.length : first;
};

const fromRow = ({ user_id, dry_run, parameters, ...row }: Selectable<Tables["bulk_action"]>): StoredBulkAction => ({
  ...row,
  userId: user_id,
  dryRun: dry_run === 1,
  parameters: CommandParameters.parse(JSON.parse(parameters)),
});
