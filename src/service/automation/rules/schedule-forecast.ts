import type { ScheduleSettings } from "../../../contract/rules.ts";
import type { LiveSchedule } from "./live-schedule.ts";
import type { Span } from "./windows.ts";

/** Step and range of the price forecast, ms. */
const priceStepMs = 900_000;
const priceAheadMs = 2 * 86_400_000;

type WantedPrice = NonNullable<ScheduleSettings["price"]>;

export const isWanted = (price: number, { below, above }: WantedPrice): boolean =>
  (below === undefined || price < below) && (above === undefined || price > above);

/** The windows of a schedule that begin after `now` and before `until`, soonest first, up to a limit; epoch ms. */
export function upcomingSpans(
  { settings, windows }: Pick<LiveSchedule, "settings" | "windows">,
  now: number,
  until: number,
  most: number,
  priceAt: (time: number) => number | null,
): Span[] {
  if (settings.enabled === false) return [];
  if (windows === null)
    return settings.price === undefined
      ? []
      : pricesAhead(settings.price, now, Math.min(until, now + priceAheadMs), priceAt);
  const found: Span[] = [];
  for (let next = windows.next(now); next !== null && next.start < until && found.length < most; ) {
    found.push(next);
    next = windows.next(next.start);
  }
  return found;
}

function pricesAhead(
  wanted: WantedPrice,
  now: number,
  until: number,
  priceAt: (time: number) => number | null,
): Span[] {
  const found: { start: number; end: number | null }[] = [];
  let open: { start: number; end: number | null } | null = null;
  for (let at = Math.ceil(now / priceStepMs) * priceStepMs; at < until; at += priceStepMs) {
    const price = priceAt(at);
    if (price === null) break;
    const holds = isWanted(price, wanted);
    if (holds && open === null) {
      open = { start: at, end: null };
      found.push(open);
    }
    if (!holds && open !== null) {
      open.end = at;
      open = null;
    }
  }
  return found;
}
