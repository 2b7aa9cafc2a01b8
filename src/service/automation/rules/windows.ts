import { Cron } from "croner";
import { type Weekly, weekdays } from "../../../contract/rule-conditions.ts";

/** Epoch ms. */
export interface Span {
  readonly start: number;
  /** Null: it has no end. */
  readonly end: number | null;
}

/** Windows by the wall clock of a time zone; days of 23 and 25 hours included. */
export interface Windows {
  /** The last window that began by this time, ended or not; null if there is none. */
  last(now: number): Span | null;
  /** The first window that begins after this time; null if there is none. */
  next(now: number): Span | null;
}

export const cronOf = (pattern: string, timeZone: string | undefined): Cron =>
  new Cron(pattern, { paused: true, ...(timeZone === undefined ? {} : { timezone: timeZone }) });

/** The cron pattern of a time of day on some days. */
export const dailyPattern = (time: string, days: readonly string[] | undefined): string => {
  const [hours = "0", minutes = "0"] = time.split(":");
  return `${Number(minutes)} ${Number(hours)} * * ${days === undefined ? "*" : days.flatMap(daysOf).join(",")}`;
};

const names: readonly string[] = weekdays;

/** Days like `fri-mon`, which cron rejects. */
function daysOf(text: string): string[] {
  const [from = "", to = from] = text.split("-");
  const first = names.indexOf(from);
  const last = names.indexOf(to);
  const count = ((last - first + 7) % 7) + 1;
  return Array.from({ length: count }, (_, index) => names[(first + index) % 7] ?? "");
}

/** Windows that begin at `starts`; `endOf` gives the end of the window that begins at this time. */
const windowsOf = (starts: Cron, endOf: (start: number) => number | null): Windows => {
  const spanAt = (start: Date | null | undefined): Span | null =>
    start == null ? null : { start: start.getTime(), end: endOf(start.getTime()) };
  return {
    // Exclusive, and in whole seconds.
    last: (now) => spanAt(starts.previousRuns(1, new Date(now + 1_000))[0]),
    next: (now) => spanAt(starts.nextRun(new Date(now))),
  };
};

export function weeklyWindows({ days, from, to, timeZone }: Weekly, zone: string | undefined): Windows {
  const ends = cronOf(dailyPattern(to, undefined), timeZone ?? zone);
  return windowsOf(
    cronOf(dailyPattern(from, days), timeZone ?? zone),
    (start) => ends.nextRun(new Date(start))?.getTime() ?? null,
  );
}

export const cronWindows = (pattern: string, zone: string | undefined, lastsMs: number | null): Windows =>
  windowsOf(cronOf(pattern, zone), (start) => (lastsMs === null ? null : start + lastsMs));

/** Whether this time is inside one of the windows. */
export function isInside(windows: Windows, now: number): boolean {
  const last = windows.last(now);
  return last !== null && (last.end === null || now < last.end);
}

/** The next time a window begins or ends, epoch ms; Infinity if never. */
export function changeAfter(windows: Windows, now: number): number {
  const last = windows.last(now);
  const end = last?.end ?? null;
  const start = windows.next(now)?.start ?? Number.POSITIVE_INFINITY;
  return end !== null && end > now ? Math.min(end, start) : start;
}
