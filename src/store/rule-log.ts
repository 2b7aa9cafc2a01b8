import type { SQLOutputValue } from "node:sqlite";
import { unlessFull } from "./deferred-delete.ts";
import type { Run, SqliteConnection } from "./sqlite-connection.ts";

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
  eachState(take: (state: StoredRuleState) => void): void;
  /** Writes states and traces, and removes states, in one transaction; false if the store is full. */
  save(states: readonly StoredRuleState[], gone: readonly StateKey[], traces: readonly StoredTrace[]): boolean;
  /** Newest first. */
  traces(kind: StoredTrace["kind"], ownerId: number, limit: number): StoredTrace[];
  /** Of all rules and schedules, newest first; `since`: epoch ms. */
  recentTraces(filter: TraceFilter): StoredTrace[];
  /** The highest trace id ever used. */
  readonly lastTraceId: number;
  /** Removes the states of a rule or schedule, and its traces. */
  forget(kind: StoredTrace["kind"], ownerId: number): void;
}

/** Retention of traces: 30 days, and a maximum number. */
const keptMs = 30 * 86_400_000;
const keptAtMost = 200_000;
const pruneEvery = 500;
const pruneBatch = 2_000;

export const openRuleLog = (sqlite: SqliteConnection, now: () => number): RuleLog => {
  const statements = {
    states: sqlite.prepare(
      "select kind, owner_id, miner_id, phase, since, elapsed, count, fired, held, attempts, times from rule_state",
    ),
    saveState: sqlite.prepare("insert or replace into rule_state values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    removeState: sqlite.prepare("delete from rule_state where kind = ? and owner_id = ? and miner_id = ?"),
    saveTrace: sqlite.prepare("insert or replace into rule_trace values (?, ?, ?, ?, ?, ?)"),
    traces: sqlite.prepare("select * from rule_trace where kind = ? and owner_id = ? order by id desc limit ?"),
    recent: sqlite.prepare(
      `select * from rule_trace where time >= :since and (:kind is null or kind = :kind)
        and (:miner is null or miner_id = :miner) order by id desc limit :limit`,
    ),
    last: sqlite.prepare("select max(id) as last from rule_trace"),
    prune: sqlite.prepare(
      `delete from rule_trace where id in
        (select id from rule_trace where time < ? or id <= ? order by id limit ${pruneBatch})`,
    ),
    forgetStates: sqlite.prepare("delete from rule_state where kind = ? and owner_id = ?"),
    forgetTraces: sqlite.prepare("delete from rule_trace where kind = ? and owner_id = ?"),
  };
  let last = Number(statements.last.get()?.last ?? 0);
  let unpruned = pruneEvery;

  const prune = (written: number): void => {
    unpruned += written;
    if (unpruned < pruneEvery) return;
    unpruned = 0;
    statements.prune.run(now() - keptMs, last - keptAtMost);
  };

  return {
    eachState: (take) =>
      sqlite.read(() => {
        for (const row of statements.states.iterate()) {
          take(stateIn(row));
        }
      }),
    save: (states, gone, traces) =>
      unlessFull(() =>
        sqlite.write((_run: Run) => {
          for (const { kind, ownerId, minerId } of gone) statements.removeState.run(kind, ownerId, minerId);
          for (const { kind, ownerId, minerId, phase, since, elapsed, count, fired, held, attempts, times } of states) {
            const key = [kind, ownerId, minerId] as const;
            const rest = [count, JSON.stringify(fired), held, attempts, times ?? null] as const;
            statements.saveState.run(...key, phase, since, elapsed, ...rest);
          }
          for (const { id, time, kind, ownerId, minerId, value } of traces) {
            statements.saveTrace.run(id, time, kind, ownerId, minerId, value);
            last = Math.max(last, id);
          }
          prune(traces.length);
        }),
      ),
    traces: (kind, ownerId, limit) => sqlite.read(() => statements.traces.all(kind, ownerId, limit).map(traceIn)),
    recentTraces: ({ kind, minerId, since, limit }) =>
      sqlite.read(() => statements.recent.all({ kind, miner: minerId, since, limit }).map(traceIn)),
    get lastTraceId() {
      return last;
    },
    forget: (kind, ownerId) => {
      unlessFull(() =>
        sqlite.free(() => {
          statements.forgetStates.run(kind, ownerId);
          statements.forgetTraces.run(kind, ownerId);
        }),
      );
    },
  };
};

type Row = Record<string, SQLOutputValue>;

const kindIn = ({ kind }: Row): StoredTrace["kind"] => (kind === "schedule" ? "schedule" : "rule");

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

const traceIn = (row: Row): StoredTrace => ({
  id: Number(row.id),
  time: Number(row.time),
  kind: kindIn(row),
  ownerId: Number(row.owner_id),
  minerId: Number(row.miner_id),
  value: String(row.value),
});
