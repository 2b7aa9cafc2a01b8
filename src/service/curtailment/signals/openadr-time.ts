/** A duration of ISO 8601, in its calendar parts. */
export interface IsoDuration {
  readonly months: number;
  readonly ms: number;
}

/** Years that stand for no end: "P9999Y". */
const endlessYears = 9_999;

/**
 * Parses a duration such as PT1H30M; null for anything else, and for a negative one. OpenADR has fractions of seconds only, but
 * servers take others and hand them on: openleadr-vtn 0.2.8 writes PT0.5H as P0Y0M0DT0.5H0M0S.
 */
export function parseDuration(text: unknown): IsoDuration | null {
  if (typeof text !== "string" || text.length > 60) return null;
  const parts =
    /^P(?=\d|T\d)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?=\d)(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(
      text,
    );
  if (parts === null) return null;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((part) => (part === undefined ? 0 : Number(part)));
  return {
    months: years * 12 + months,
    ms: Math.round((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000),
  };
}

/** The time after a duration, by the calendar of UTC; null: it never comes. */
export function after(start: number, { months, ms }: IsoDuration): number | null {
  if (months >= endlessYears * 12) return null;
  const date = new Date(start);
  date.setUTCMonth(date.getUTCMonth() + months);
  const time = date.getTime() + ms;
  return Number.isFinite(time) && time < 8.64e15 ? time : null;
}

/** Epoch ms of an RFC 3339 time, which has its zone; null for anything else. */
export function parseTime(text: unknown): number | null {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(text))
    return null;
  const time = Date.parse(text.replace(" ", "T"));
  return Number.isNaN(time) ? null : time;
}

/** Whether a start stands for now: "0001-01-01", with or without a time. */
export const isNow = (text: unknown): boolean => typeof text === "string" && text.startsWith("0001-01-01");
