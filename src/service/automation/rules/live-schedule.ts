import { ScheduleSettings } from "../../../contract/rules.ts";
import type { Stored, StoredRuleState, StoredSchedule } from "../../../store/index.ts";
import { cronWindows, type Span, type Windows, weeklyWindows } from "./windows.ts";

export interface LiveSchedule {
  readonly id: number;
  readonly settings: ScheduleSettings;
  readonly makerId: number | null;
  /** Null: it follows the price. */
  readonly windows: Windows | null;
  /** The JSON that `windows` was built from; a different text means a different timetable. */
  readonly times: string;
  /** Start of the last handled window, epoch ms; null: none yet. */
  handled: number | null;
  /** The window that has begun and not ended; it starts at `handled`. */
  active: Span | null;
  /** Steps that maintenance deferred, by miner; they run when the miner's maintenance ends. */
  readonly owed: Map<number, OwedSteps>;
  /** When it next begins or ends, epoch ms. */
  changesAt: number;
  problem: string | null;
}

export type OwedSteps = "do" | "onEnd";

/** State that survives a change of the definition; `times` null: stored by an earlier version, taken as unchanged. */
type ScheduleState = Pick<LiveSchedule, "handled" | "active" | "owed"> & { readonly times: string | null };

/** The schedule of a row before its first window; null if this version cannot read it. */
export function liveSchedule(row: Stored<StoredSchedule>, zone: string | undefined): LiveSchedule | null {
  const { data: settings } = ScheduleSettings.safeParse(row.definition);
  if (settings === undefined) return null;
  const { weekly, cron, timeZone = zone, lasts, price } = settings;
  const windows =
    weekly !== undefined
      ? weeklyWindows(weekly, zone)
      : cron === undefined
        ? null
        : cronWindows(cron, timeZone, lasts === undefined ? null : lasts * 1000);
  return {
    id: row.id,
    settings,
    makerId: row.makerId,
    windows,
    times: JSON.stringify([weekly, cron, timeZone, lasts, price]),
    handled: null,
    active: null,
    owed: new Map(),
    changesAt: 0,
    problem: null,
  };
}

/**
 * Takes over the state of an earlier definition of this schedule. If its times changed, an active window ends by the
 * new times: later, earlier, or now if they do not include the present. Windows of the new times that began in the past
 * do not count as missed.
 */
export function takeOver(schedule: LiveSchedule, before: ScheduleState, now: number): void {
  schedule.handled = before.handled;
  schedule.active = before.active;
  for (const [minerId, steps] of before.owed) schedule.owed.set(minerId, steps);
  if (before.times === null || before.times === schedule.times) return;
  const { windows, active } = schedule;
  const last = windows?.last(now) ?? null;
  const current = last?.end != null && now < last.end ? last : null;
  // A window that is current but not active begins with the next turn.
  const start = Math.max(before.handled ?? 0, active === null && current !== null ? 0 : (last?.start ?? 0));
  if (before.handled !== null || active !== null) schedule.handled = start;
  const isOver = active?.end != null && now >= active.end;
  if (active !== null)
    schedule.active = { start, end: isOver ? active.end : windows === null ? null : (current?.end ?? now) };
}

/** The rows of a schedule: one with miner 0, and one for each miner with deferred steps. */
export function rowsOf(schedule: LiveSchedule): StoredRuleState[] {
  const { id, handled, active, times, owed } = schedule;
  const row = (minerId: number, phase: string, elapsed: number): StoredRuleState => ({
    kind: "schedule",
    ownerId: id,
    minerId,
    phase,
    since: handled ?? 0,
    elapsed,
    count: 0,
    fired: [],
    held: null,
    attempts: 0,
    times,
  });
  return [
    row(0, active === null ? "idle" : "firing", active?.end == null ? -1 : active.end - active.start),
    ...Array.from(owed, ([minerId, steps]) => row(minerId, steps, -1)),
  ];
}

/** The state in the rows of one schedule. */
export function stateIn(rows: readonly StoredRuleState[]): ScheduleState | null {
  const own = rows.find(({ minerId }) => minerId === 0);
  if (own === undefined) return null;
  const { since, elapsed, phase, times } = own;
  return {
    times,
    handled: since,
    active: phase === "firing" ? { start: since, end: elapsed < 0 ? null : since + elapsed } : null,
    owed: new Map(
      rows.flatMap(({ minerId, phase: steps }): [number, OwedSteps][] =>
        minerId !== 0 && (steps === "do" || steps === "onEnd") ? [[minerId, steps]] : [],
      ),
    ),
  };
}
