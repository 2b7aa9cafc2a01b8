import type { Reference } from "../../../../contract/form-kind.ts";
import { efficiency, energy, hashrate, number, percent, power, temperature } from "../../../format.ts";
import { language, locale, t } from "../../../language.ts";
import { singleDays, weekdays } from "../../../parts/schema-form/days.ts";
import { durationParts, isObject, type Json, type Values } from "../../../parts/schema-form/schema.ts";

/** The name of the thing that a value refers to, such as a rule by its key. `parent`: the object that contains it. */
export type NameOf = (of: Reference, value: string, parent: Json) => string;

/** Values that are still missing. */
export const blank = "…";

/** The text of a key, if there is one. */
export function lookUp(texts: object, key: string): string | undefined {
  const found: unknown = Object.hasOwn(texts, key) ? Reflect.get(texts, key) : undefined;
  return typeof found === "string" ? found : undefined;
}

const statuses = {
  mining: "Mining",
  idle: "Idle",
  stopped: "Stopped",
  starting: "Starting",
  disconnected: "Disconnected",
  disabled: "Disabled",
  error: "Error",
} satisfies Record<Lowercase<keyof typeof t.status>, keyof typeof t.status>;

/** The word for an option of the choice of a key. */
export function optionText(key: string, value: string): string {
  if (key === "state") return lookUp(t.status, lookUp(statuses, value) ?? "") ?? lookUp(t.rules.words, value) ?? value;
  if (key === "reason") return lookUp(t.reason, value) ?? value;
  if (key === "days") return weekday(value);
  if (key === "action" && value === "locate") return t.rig.control.locate;
  if (key === "severity") return lookUp(t.severity, value) ?? value;
  return lookUp(t.rules.words, value) ?? value;
}

/** A text in another language than the page's keeps its own direction on a right-to-left page. */
const isolated = (text: string): string => (language === "fa" ? `\u2068${text}\u2069` : text);

/** A name or other text written by a user. */
export function plain(value: Json): string {
  if (Array.isArray(value)) return value.map(plain).join(" ");
  if (isObject(value)) return isolated(JSON.stringify(value));
  return value === undefined || value === null || value === "" ? blank : isolated(String(value));
}

/** One or a list, as a list. */
export const all = (value: Json): readonly Json[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** "a, b and c". */
export const and = (texts: readonly string[]): string => listed(texts, "conjunction");
/** "a, b or c". */
export const or = (texts: readonly string[]): string => listed(texts, "disjunction");
const listed = (texts: readonly string[], type: Intl.ListFormatType): string =>
  texts.length === 0 ? blank : new Intl.ListFormat(locale, { type }).format(texts);

const units: Readonly<Record<string, string>> = { s: "second", m: "minute", h: "hour", d: "day" };

/** Seconds, or a text like "5m", as "5 minutes". */
export function time(value: Json): string {
  const parts = durationParts(value);
  if (parts === null) return plain(value);
  const unit = units[parts.unit] ?? "second";
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(parts.amount);
}

/** A share like "80%". */
export const share = (value: Json): string =>
  typeof value === "string" && /^[\d.]+%$/.test(value) ? percent(Number(value.slice(0, -1)) / 100, 2) : plain(value);

/** A number of a reading or control with its unit, a share, or a word. */
export function amount(of: string, value: Json): string {
  if (typeof value === "boolean") return value ? t.rules.words.on : t.rules.words.off;
  if (typeof value !== "number") return share(value);
  if (/^(?:pool)?hashrate/i.test(of)) return hashrate(value);
  if (/temperature/i.test(of)) return temperature(value, 1);
  if (/^power/.test(of)) return power(value);
  if (/^(?:fan|fanPercent|throttle)$/.test(of)) return percent(value / 100);
  if (of === "energy") return energy(value);
  if (of === "efficiency") return efficiency(value);
  if (of === "uptime") return time(value);
  return [number(value, 6), lookUp({ fanRpm: "rpm", frequency: "MHz", voltage: "mV" }, of)].filter(Boolean).join(" ");
}

/** Days such as ["mon-fri", "sun"]: "Mon–Fri and Sun". Three or more in a row become a span. */
export function days(value: Json): string {
  const runs: string[][] = [];
  for (const day of singleDays(value)) {
    const run = runs.at(-1);
    if (run !== undefined && run.at(-1) === weekdays[weekdays.indexOf(day) - 1]) run.push(day);
    else runs.push([day]);
  }
  return and(
    runs.flatMap((run) => {
      const texts = run.map(weekday);
      return texts.length < 3 ? texts : [`${texts[0]}–${texts.at(-1)}`];
    }),
  );
}

/** Some options of the choice of a key: "Stopped or Error". */
export const options = (key: string, value: Json): string =>
  or(all(value).map((each) => optionText(key, String(each))));

function weekday(day: string): string {
  const index = weekdays.indexOf(day);
  // The first of January 2024 is a Monday.
  const date = new Date(Date.UTC(2024, 0, 1 + index));
  return index < 0 ? day : new Intl.DateTimeFormat(locale, { weekday: "short", timeZone: "UTC" }).format(date);
}

/** "between 22:00 and 06:00 on Mon–Fri". */
export function hours(weekly: Values): string {
  const { from, to } = { from: plain(weekly.from), to: plain(weekly.to) };
  const { hours: daily, hoursOn } = t.rules.sentence;
  return weekly.days === undefined ? daily({ from, to }) : hoursOn({ from, to, days: days(weekly.days) });
}
