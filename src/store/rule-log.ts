import type { Selectable } from "kysely";
import { type Database, plain, type Row, type SqlValue, type Statement } from "./database.ts";
import { unlessFull } from "./deferred-delete.ts";
import type { Tables } from "./tables.ts";
import { upsert } from "./upsert.ts";

/** The state of a rule or schedule for one miner; miner 0: no single miner. Times are epoch ms. */
export interface StoredRuleState {
  readonly kind: "rule" | "schedule";
  readonly ownerId: number;
  readonly minerId: number;
  readonly phase: string;
  readonly since: number;
  /** ms that its conditions have held, or not held. */
  readonly elapsed: number;
  /** Firings so far, which number the runs. */
  readonly count: number;
  /** Times of the firings of the last day. */
  readonly fired: readonly number[];
  /** Why it is held back; null if it is not. */
  readonly held: string | null;
  /** Actions since a rule last cleared, if it repeats them. */
  readonly attempts: number;
  /** The times of a schedule when this was written, as JSON; null for rules, and for stores of earlier versions. */
  readonly times: string | null;
}

export interface StoredTrace {
  readonly id: number;
  readonly time: number;
  readonly kind: "rule" | "schedule";
  readonly ownerId: number;
  readonly minerId: number;
  /** JSON */
  readonly value: string;
}

/** Null: any. */
export interface TraceFilter {
  readonly kind: StoredTrace["kind"] | null;
  readonly minerId: number | null;
  readonly since: number;
  readonly limit: number;
}

type StateKey = Pick<StoredRuleState, "kind" | "ownerId" | "minerId">;

export interface RuleLog {
  /** Calls `take` with every state; some 200,000 a second. */
  eachState(take: (state: StoredRuleState) => void): Promise<void>;
  /** Writes states and traces, and removes states, in one transaction; false if the store is full. */
  save(states: readonly StoredRuleState[], gone: readonly StateKey[], traces: readonly StoredTrace[]): Promise<boolean>;
  /** Newest first. */
  traces(kind: StoredTrace["kind"], ownerId: number, limit: number): Promise<StoredTrace[]>;
  /** Of all rules and schedules, newest first; `since`: epoch ms. */
  recentTraces(filter: TraceFilter): Promise<StoredTrace[]>;
  /** The highest trace id ever used. */
  readonly lastTraceId: number;
  /** Removes the states of a rule or schedule, and its traces. */
  forget(kind: StoredTrace["kind"], ownerId: number): Promise<void>;
}

/** Retention of traces: 30 days, and a maximum number. */
const keptMs = 30 * 86_400_000;
const keptAtMost = 200_000;
const pruneEvery = 500;
const pruneBatch = 2_000;

const stateColumns = {
  kind: "text",
  owner_id: "integer",
  miner_id: "integer",
  phase: "text",
  since: "integer",
  elapsed: "real",
  count: "integer",
  fired: "text",
  held: "text",
  attempts: "integer",
  times: "text",
} as const;
const stateRows = upsert("rule_state", stateColumns, ["kind", "owner_id", "miner_id"]);
const traceRows = upsert(
  "rule_trace",
  { id: "integer", time: "integer", kind: "text", owner_id: "integer", miner_id: "integer", value: "text" },
  ["id"],
);

const texts = {
  states: `select ${Object.keys(stateColumns).join(", ")} from rule_state`,
  removeState: "delete from rule_state where kind = ? and owner_id = ? and miner_id = ?",
  last: "select max(id) as last from rule_trace",
  prune: `delete from rule_trace where id in
    (select id from rule_trace where time < ? or id <= ? order by id limit ${pruneBatch})`,
};

export const openRuleLog = async (database: Database, now: () => number): Promise<RuleLog> => {
  const { tables } = database;
  const [newest] = await database.rows(plain(texts.last));
  let last = Number(newest?.last ?? 0);
  let unpruned = pruneEvery;

  const pruning = (written: number): Statement[] => {
    unpruned += written;
    if (unpruned < pruneEvery) return [];
    unpruned = 0;
    return [plain(texts.prune, now() - keptMs, last - keptAtMost)];
  };

  return {
    eachState: async (take) => {
      for (const row of await database.rows(plain(texts.states))) take(stateIn(row));
    },
    save: (states, gone, traces) => {
      for (const { id } of traces) last = Math.max(last, id);
      const statements = [
        ...gone.map(({ kind, ownerId, minerId }) => plain(texts.removeState, kind, ownerId, minerId)),
        stateRows(states.map(stateRow)),
        traceRows(
          traces.map(({ id, time, kind, ownerId, minerId, value }) => [id, time, kind, ownerId, minerId, value]),
        ),
        ...pruning(traces.length),
      ];
      return unlessFull(() => database.write(statements));
    },
    traces: async (kind, ownerId, limit) => {
      const ofOwner = tables
        .selectFrom("rule_trace")
        .selectAll()
        .where("kind", "=", kind)
        .where("owner_id", "=", ownerId);
      return (await ofOwner.orderBy("id", "desc").limit(limit).execute()).map(traceIn);
    },
    recentTraces: async ({ kind, minerId, since, limit }) => {
      let wanted = tables.selectFrom("rule_trace").selectAll().where("time", ">=", since);
      if (kind !== null) wanted = wanted.where("kind", "=", kind);
      if (minerId !== null) wanted = wanted.where("miner_id", "=", minerId);
      return (await wanted.orderBy("id", "desc").limit(limit).execute()).map(traceIn);
    },
    get lastTraceId() {
      return last;
    },
    forget: async (kind, ownerId) => {
      await unlessFull(() =>
        database.free([
          tables.deleteFrom("rule_state").where("kind", "=", kind).where("owner_id", "=", ownerId),
          tables.deleteFrom("rule_trace").where("kind", "=", kind).where("owner_id", "=", ownerId),
        ]),
      );
    },
  };
};

const kindIn = ({ kind }: Row): StoredTrace["kind"] => (kind === "schedule" ? "schedule" : "rule");

const stateRow = (state: StoredRuleState): SqlValue[] => {
  const { kind, ownerId, minerId, phase, since, elapsed, count, fired, held, attempts, times } = state;
  return [kind, ownerId, minerId, phase, since, elapsed, count, JSON.stringify(fired), held, attempts, times ?? null];
};

const stateIn = (row: Row): StoredRuleState => ({
  kind: kindIn(row),
  ownerId: Number(row.owner_id),
  minerId: Number(row.miner_id),
  phase: String(row.phase),
  since: Number(row.since),
  elapsed: Number(row.elapsed),
  count: Number(row.count),
  fired: timesIn(String(row.fired)),
  held: row.held === null ? null : String(row.held),
  attempts: Number(row.attempts),
  times: row.times === null ? null : String(row.times),
});

const none: readonly number[] = [];

/** Most have none or one: JSON.parse for each of 200,000 would take longer than reading them. */
function timesIn(json: string): readonly number[] {
  if (json === "[]") return none;
  const only = Number(json.slice(1, -1));
  if (Number.isFinite(only)) return [only];
  const times: unknown = JSON.parse(json);
  return Array.isArray(times) ? times.filter((each) => typeof each === "number") : none;
}

const traceIn = ({ owner_id, miner_id, ...row }: Selectable<Tables["rule_trace"]>): StoredTrace => ({
  ...row,
  ownerId: owner_id,
  minerId: miner_id,
});
