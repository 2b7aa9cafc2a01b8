import { ScheduleSettings } from "../../../contract/rules.ts";
import type { Stored, StoredRuleState, StoredSchedule } from "../../../store/index.ts";
import { cronWindows, type Span, type Windows, weeklyWindows } from "./windows.ts";

export interface LiveSchedule {
  readonly id: number;
  readonly settings: ScheduleSettings;
  readonly makerId: number | null;
  /** null: it follows the price. */
  readonly windows: Windows | null;
  /** What `windows` was made of, as JSON: another text is another timetable. */
  readonly times: string;
  /** The last beginning that was handled, epoch ms; null: none yet. */
  handled: number | null;
  /** What has begun and not ended yet; its beginning is the handled one. */
  active: Span | null;
  /** Steps that maintenance kept from a miner, by miner; they follow when its maintenance is over. */
  readonly owed: Map<number, OwedSteps>;
  /** When it next begins or ends, epoch ms. */
  changesAt: number;
  problem: string | null;
}

export type OwedSteps = "do" | "onEnd";

/** What outlives a definition; `times` null: those of now, in a store of an earlier version. */
type ScheduleState = Pick<LiveSchedule, "handled" | "active" | "owed"> & { readonly times: string | null };

/** The schedule of a row before its first beginning; null if this version cannot read it. */
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
 * Continues what an earlier definition of this schedule has begun. With other times it ends by the new ones: later,
 * earlier, or now if they do not include this time. What they would have begun before now was not missed.
 */
export function takeOver(schedule: LiveSchedule, before: ScheduleState, now: number): void {
  schedule.handled = before.handled;
  schedule.active = before.active;
  for (const [minerId, steps] of before.owed) schedule.owed.set(minerId, steps);
  if (before.times === null || before.times === schedule.times) return;
  const { windows, active } = schedule;
  const last = windows?.last(now) ?? null;
  const current = last?.end != null && now < last.end ? last : null;
  // One that is current and has not begun yet begins with the next turn.
  const start = Math.max(before.handled ?? 0, active === null && current !== null ? 0 : (last?.start ?? 0));
  if (before.handled !== null || active !== null) schedule.handled = start;
  const isOver = active?.end != null && now >= active.end;
  if (active !== null)
    schedule.active = { start, end: isOver ? active.end : windows === null ? null : (current?.end ?? now) };
}

/** The rows of a schedule: its own with miner 0, and one for each miner to which it owes steps. */
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

/** What the rows of one schedule say. */
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
