import type { z } from "zod";
import { type RuleInfo, RuleRun } from "../../../contract/rules.ts";
import type { Detail } from "../../../messages/coded-text.ts";
import { detail } from "../../../messages/detail.ts";
import type { Store, StoredTrace, TraceFilter } from "../../../store/index.ts";
import type { RunRecord } from "../run-types.ts";
import { stepText } from "./compile.ts";

export type TraceKind = StoredTrace["kind"];
type Trace = Omit<RuleRun, "id" | "time" | "minerId">;
type OwnedRun = RuleRun & { readonly kind: TraceKind; readonly ownerId: number };

const StoredTraceValue = RuleRun.omit({ id: true, time: true, minerId: true });
/** Unwritten traces kept in memory while the store cannot be written. */
const unwrittenLimit = 10_000;
const listLimit = 1_000;

export interface Kept {
  readonly id: number;
  readonly time: number;
  readonly kind: TraceKind;
  readonly ownerId: number;
  readonly minerId: number;
  readonly trace: Trace;
}

export const rowOfTrace = ({ trace, ...row }: Kept): StoredTrace => ({ ...row, value: JSON.stringify(trace) });

/** The part of a trace about what happened, and what held it back. */
export const saying = (message: string | Detail, heldBy: Detail | null = null) => ({
  message: typeof message === "string" ? message : message.text,
  heldBy: heldBy?.text ?? null,
  coded: { message: typeof message === "string" ? null : message.coded, heldBy: heldBy?.coded ?? null },
});

/** The actions of rules and schedules, written with the next turn. */
export class Traces {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #touch: (kind: TraceKind, ownerId: number) => void;
  readonly #unwritten = new Map<number, Kept>();
  /** Traces of unfinished runs, which will be written again. */
  readonly #open = new Map<number, Kept>();
  #last: number;

  /** `touch` is called when a trace begins or ends. */
  constructor(store: Store, now: () => number, touch: (kind: TraceKind, ownerId: number) => void) {
    this.#store = store;
    this.#now = now;
    this.#touch = touch;
    this.#last = store.ruleLog.lastTraceId;
  }

  /** Returns the trace's id. */
  add(
    kind: TraceKind,
    ownerId: number,
    minerId: number,
    trace: Partial<Trace> & Pick<Trace, "outcome" | "message">,
  ): number {
    this.#last += 1;
    const whole = { heldBy: null, conditions: [], actions: [], ...trace };
    const kept = { id: this.#last, time: this.#now(), kind, ownerId, minerId, trace: whole };
    if (this.#unwritten.size < unwrittenLimit) this.#unwritten.set(kept.id, kept);
    if (trace.outcome === "running") this.#open.set(kept.id, kept);
    this.#touch(kind, ownerId);
    return kept.id;
  }

  /** Its steps run under this id. */
  begun(id: number, run: number): void {
    const kept = this.#open.get(id);
    if (kept === undefined) return;
    const known = { ...kept, trace: { ...kept.trace, run } };
    this.#open.set(id, known);
    this.#unwritten.set(id, known);
  }

  /** Ends the trace of a run. */
  end(id: number, changed: Partial<Trace>): void {
    const kept = this.#open.get(id);
    if (kept === undefined) return;
    this.#open.delete(id);
    this.#unwritten.set(id, { ...kept, trace: { ...kept.trace, ...changed } });
    this.#touch(kept.kind, kept.ownerId);
  }

  /** What is to be written; kept until `written` is called with it. */
  get unwritten(): readonly Kept[] {
    return [...this.#unwritten.values()];
  }

  /** These are stored now, unless they have changed meanwhile. */
  written(rows: readonly Kept[]): void {
    for (const row of rows) if (this.#unwritten.get(row.id) === row) this.#unwritten.delete(row.id);
  }

  /** The newest trace; null if its miner is hidden from the caller. */
  async last(kind: TraceKind, ownerId: number, sees: (minerId: number) => boolean): Promise<RuleInfo["lastRun"]> {
    const [newest] = await this.list(kind, ownerId, sees, 1);
    return newest === undefined ? null : { time: newest.time, outcome: newest.outcome, message: newest.message };
  }

  /** The newest traces that the caller may see, newest first. */
  async list(
    kind: TraceKind,
    ownerId: number,
    sees: (minerId: number) => boolean,
    limit = listLimit,
  ): Promise<RuleRun[]> {
    const fresh = [...this.#unwritten.values()].filter((each) => each.kind === kind && each.ownerId === ownerId);
    const stored = await this.#store.ruleLog.traces(kind, ownerId, limit);
    return this.#newest(fresh, stored, limit).filter(({ minerId }) => minerId === null || sees(minerId));
  }

  /** Traces of all rules and schedules, newest first. */
  async recent(filter: Omit<TraceFilter, "limit">): Promise<readonly OwnedRun[]> {
    const { kind, minerId, since } = filter;
    const fresh = [...this.#unwritten.values()].filter(
      (each) =>
        each.time >= since && (kind === null || each.kind === kind) && (minerId === null || each.minerId === minerId),
    );
    return this.#newest(fresh, await this.#store.ruleLog.recentTraces({ ...filter, limit: listLimit }), listLimit);
  }

  #newest(fresh: readonly Kept[], written: readonly StoredTrace[], limit: number) {
    const ids = new Set(fresh.map(({ id }) => id));
    return [
      ...fresh.map((kept) => ownedRun(kept, kept.trace)),
      ...written.flatMap((row) => {
        const value = ids.has(row.id) ? null : traceIn(row.value);
        if (value === null) return [];
        // Left unfinished by an earlier start of the service.
        const isLost = value.outcome === "running" && !this.#open.has(row.id);
        return [ownedRun(row, isLost ? { ...value, outcome: "unknown", ...interrupted } : value)];
      }),
    ]
      .sort((a, b) => b.id - a.id)
      .slice(0, limit);
  }
}

const interrupted = saying(detail("trace.interrupted"));

const ownedRun = ({ id, time, minerId, kind, ownerId }: Omit<Kept, "trace">, trace: Trace) => ({
  ...trace,
  id,
  kind,
  ownerId,
  time: new Date(time).toISOString(),
  minerId: minerId === 0 ? null : minerId,
});

function traceIn(json: string): z.output<typeof StoredTraceValue> | null {
  const parsed = StoredTraceValue.safeParse(JSON.parse(json));
  return parsed.success ? parsed.data : null;
}

/** Maximum actions in one trace. */
const listedActions = 200;

/** The result of a run. */
export const endOf = (record: RunRecord): Partial<Trace> => {
  const actions = record.miners.flatMap(({ minerId, steps }) =>
    steps.map(({ step, state, message }) => ({ action: stepText(step), minerId, state, message })),
  );
  const failed = actions.find(({ state }) => state === "failed" || state === "unknown");
  return {
    outcome: record.state === "done" ? "done" : record.state === "unknown" ? "unknown" : "failed",
    ...(failed === undefined ? {} : saying(`${failed.action}: ${failed.message}`)),
    actions: actions.slice(0, listedActions),
  };
};
