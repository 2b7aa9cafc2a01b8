import type { PeakSignal, PeakWindow } from "../../../contract/signal-settings.ts";
import { isInside, weeklyWindows } from "../../automation/rules/windows.ts";
import { localTimeIn } from "../../money/local-time.ts";

/** A time of an expected peak, epoch ms. */
export interface Peak {
  readonly start: number;
  readonly end: number;
}

/** The peak that lasts at this time: of the list, otherwise of the hours; null = none. `zone`: that of display. */
export function peakAt(
  now: number,
  windows: readonly PeakWindow[],
  { hours, months }: Pick<PeakSignal, "hours" | "months">,
  zone: string | undefined,
): Peak | null {
  const listed = windows
    .map(({ from, until }) => ({ start: Date.parse(from), end: Date.parse(until) }))
    .filter(({ start, end }) => start <= now && now < end);
  // Of windows that overlap, the last to end.
  const [longest] = listed.toSorted((a, b) => b.end - a.end);
  if (longest !== undefined) return longest;
  if (hours === undefined) return null;
  const spans = weeklyWindows(hours, zone);
  const last = spans.last(now);
  if (last === null || last.end === null || !isInside(spans, now)) return null;
  const month = Number(monthOf(last.start, hours.timeZone ?? zone).slice(5));
  return months === undefined || months.includes(month) ? { start: last.start, end: last.end } : null;
}

/** "2026-07", by the wall clock of a zone. */
export const monthOf = (time: number, zone: string | undefined): string => localTimeIn(zone)(time).date.slice(0, 7);
