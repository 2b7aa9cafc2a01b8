import { hashUnit } from "../contract/hash-unit.ts";
import { inForm } from "../messages/texts.ts";
import { language, locale, t } from "./language.ts";

/**
 * Numbers and times for display. Unknown is an en dash, never 0. Numbers follow the page's language, units the field's
 * conventions.
 */
export const unknown = "–";

const formats = new Map<string, Intl.NumberFormat>();

/** Formats are created once: creating one takes longer than hundreds of uses. */
function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.NumberFormat(locale, options);
  formats.set(key, format);
  return format;
}

/** With at most this many decimals. */
export const number = (value: number | null | undefined, decimals = 0): string =>
  value === null || value === undefined ? unknown : numberFormat({ maximumFractionDigits: decimals }).format(value);

/** Three significant digits: 3.21, 32.1, 321, 3 210. */
const short = (value: number): string => {
  const size = Math.abs(value);
  const decimals = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2;
  return numberFormat({ minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(value);
};

const prefixes = ["", "k", "M", "G", "T", "P", "E", "Z"];

/**
 * With SI prefix and unit: `scaled(3.21e12, "H/s")` is "3.21 TH/s". `largest`, here and below: the largest value on an
 * axis, whose unit all others use.
 */
export function scaled(value: number | null | undefined, unit: string, largest?: number): string {
  if (value === null || value === undefined) return unknown;
  const size = Math.abs(largest ?? value);
  const step = size === 0 ? 0 : Math.floor(Math.log10(size) / 3);
  const index = Math.max(0, Math.min(prefixes.length - 1, step));
  const scaledDown = value / 1000 ** index;
  return `${largest === undefined ? short(scaledDown) : number(scaledDown, 2)} ${prefixes[index] ?? ""}${unit}`;
}

/** H/s, or Sol/s and G/s for algorithms measured in those. */
export const hashrate = (value: number | null | undefined, algorithm?: string | null, largest?: number): string =>
  scaled(value, hashUnit(algorithm), largest);

/** W, or kW from 10 kW. */
export const power = (watts: number | null | undefined, largest?: number): string =>
  watts === null || watts === undefined
    ? unknown
    : Math.abs(largest ?? watts) < 10_000
      ? `${number(watts, largest === undefined ? 0 : 2)} W`
      : scaled(watts, "W", largest);

/** Wh as kWh; below one, as Wh. */
export function energy(wattHours: number | null | undefined, largest?: number): string {
  if (wattHours === null || wattHours === undefined) return unknown;
  const size = largest ?? wattHours;
  if (size >= 10_000_000) return scaled(wattHours, "Wh", largest);
  if (size > 0 && size < 1000) return `${number(wattHours)} Wh`;
  return `${number(wattHours / 1000, largest !== undefined ? 2 : size < 100_000 ? 1 : 0)} kWh`;
}

/** J/H, in the customary unit of the algorithm: J/TH for SHA-256, J/kH for RandomX. */
export function efficiency(joulesPerHash: number | null | undefined): string {
  if (joulesPerHash === null || joulesPerHash === undefined) return unknown;
  const [unit, hashes] = joulesPerHash < 1e-9 ? ["TH", 1e12] : joulesPerHash < 1e-5 ? ["MH", 1e6] : ["kH", 1e3];
  return `${short(joulesPerHash * hashes)} J/${unit}`;
}

/** From right to left, the unit's sign would stand behind its letter without a mark. */
export const temperature = (celsius: number | null | undefined, decimals = 0): string =>
  celsius === null || celsius === undefined
    ? unknown
    : `${number(celsius, decimals)} ${language === "fa" ? "\u200e" : ""}°C`;

export const percent = (share: number | null | undefined, decimals = 0): string =>
  share === null || share === undefined
    ? unknown
    : numberFormat({ style: "percent", maximumFractionDigits: decimals }).format(share);

/** An amount in a currency (ISO 4217); small amounts with more digits. */
export function money(amount: number | null | undefined, currency: string | null | undefined): string {
  if (amount === null || amount === undefined) return unknown;
  const size = Math.abs(amount);
  const decimals = size === 0 || size >= 0.1 ? 2 : size >= 0.001 ? 4 : 6;
  if (currency === null || currency === undefined || !/^[A-Z]{3}$/.test(currency)) return number(amount, decimals);
  return numberFormat({
    style: "currency",
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: decimals,
  }).format(amount);
}

const minute = 60;
const hour = 3600;
const day = 86_400;

/** Seconds as the two largest of days, hours, minutes, seconds: "2 d 4 h". */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return unknown;
  const whole = Math.max(0, Math.round(seconds));
  const parts: [number, string][] = [
    [Math.floor(whole / day), t.unit.day],
    [Math.floor((whole % day) / hour), t.unit.hour],
    [Math.floor((whole % hour) / minute), t.unit.minute],
    [whole % minute, t.unit.second],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return `${number(0)} ${t.unit.second}`;
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${number(amount)} ${unit}`)
    .join(" ");
}

/** How long ago, in the page's language: "5 minutes ago". */
export function ago(time: string | number, now: number): string {
  const seconds = Math.max(0, Math.round((now - new Date(time).getTime()) / 1000));
  agoFormat ??= new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  if (seconds < minute) return agoFormat.format(-seconds, "second");
  if (seconds < hour) return agoFormat.format(-Math.floor(seconds / minute), "minute");
  return seconds < day
    ? agoFormat.format(-Math.floor(seconds / hour), "hour")
    : agoFormat.format(-Math.floor(seconds / day), "day");
}
let agoFormat: Intl.RelativeTimeFormat | undefined;

const timeFormat = (options: Intl.DateTimeFormatOptions) => {
  let format: Intl.DateTimeFormat | undefined;
  return (time: string | number | null | undefined): string => {
    if (time === null || time === undefined) return unknown;
    format ??= new Intl.DateTimeFormat(locale, options);
    return format.format(new Date(time));
  };
};

export const dateTime = timeFormat({ dateStyle: "medium", timeStyle: "short" });
export const clockTime = timeFormat({ timeStyle: "short" });
export const date = timeFormat({ dateStyle: "medium" });
export const shortDateTime = timeFormat({ dateStyle: "short", timeStyle: "short" });
export const hourMinute = timeFormat({ hour: "2-digit", minute: "2-digit" });
export const dayMonth = timeFormat({ day: "numeric", month: "short" });
export const weekdayTime = timeFormat({ weekday: "short", hour: "2-digit", minute: "2-digit" });

/** A sentence with a number, by the plural rules of the language; `#` stands for the number. */
export function counted(
  value: number,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string },
): string {
  plurals ??= new Intl.PluralRules(locale);
  return inForm(value, number(value), forms, plurals);
}
let plurals: Intl.PluralRules | undefined;

/** Names with padded numbers: a collator that compares numbers itself takes five times as long. */
const padded = new Map<string, string>();
const mostPadded = 50_000;

function paddedName(name: string): string {
  const before = padded.get(name);
  if (before !== undefined) return before;
  if (padded.size >= mostPadded) padded.clear();
  const made = name.replace(/\d+/g, (digits) => digits.padStart(12, "0"));
  padded.set(name, made);
  return made;
}

let names: Intl.Collator | undefined;

/** Sort order of names: "Rig 2" before "Rig 10". */
export function byName(one: string, other: string): number {
  names ??= new Intl.Collator(locale, { sensitivity: "base" });
  return names.compare(paddedName(one), paddedName(other));
}
