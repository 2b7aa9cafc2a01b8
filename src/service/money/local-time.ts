/** Local date and time in a zone, of epoch ms. */
export interface LocalTime {
  /** "2026-11-22". */
  readonly date: string;
  /** 0 = Sunday. */
  readonly weekday: number;
  /** Since midnight by wall clock: when clocks change, some values occur twice or not at all. */
  readonly minute: number;
}

/** Wall clock time at a moment, epoch ms. */
export type LocalClock = (time: number) => LocalTime;

const minuteMs = 60_000;

/** Cached results: reads of many rigs concern the same few minutes. */
const keptAnswers = 16;

/** Reads the clock of a zone. */
export function localTimeIn(timeZone: string | undefined): LocalClock {
  const format = new Intl.DateTimeFormat("en-US-u-hc-h23-nu-latn", {
    ...(timeZone === undefined ? {} : { timeZone }),
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    weekday: "short",
  });
  const answers = new Map<number, LocalTime>();
  return (time) => {
    const at = Math.floor(time / minuteMs);
    const known = answers.get(at);
    if (known !== undefined) return known;
    const parts: Record<string, string> = {};
    for (const { type, value } of format.formatToParts(at * minuteMs)) parts[type] = value;
    const local = {
      date: `${(parts.year ?? "").padStart(4, "0")}-${parts.month}-${parts.day}`,
      weekday: weekdays.indexOf((parts.weekday ?? "").toLowerCase()),
      minute: Number(parts.hour) * 60 + Number(parts.minute),
    };
    if (answers.size >= keptAnswers) answers.clear();
    answers.set(at, local);
    return local;
  };
}

/** In the order of `weekday`. */
export const weekdays: readonly string[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** The parts of a span on different local dates, oldest first; a date has 23, 24 or 25 hours. */
export function datesIn(
  local: LocalClock,
  from: number,
  to: number,
): { readonly date: string; readonly from: number; readonly to: number }[] {
  const parts = [];
  for (let start = from; start < to; ) {
    const { date } = local(start);
    let end = to;
    if (local(to - 1).date !== date) {
      // Finds the first minute of another date by bisection: every zone changes dates at a whole minute.
      let [low, high] = [Math.floor(start / minuteMs), Math.ceil(Math.min(to, start + 26 * 60 * minuteMs) / minuteMs)];
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (local(middle * minuteMs).date === date) low = middle;
        else high = middle;
      }
      end = Math.min(to, high * minuteMs);
    }
    parts.push({ date, from: start, to: end });
    start = end;
  }
  return parts;
}
