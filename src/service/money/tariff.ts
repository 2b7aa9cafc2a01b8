import type { ElectricitySettings, ZoneSettings } from "../../config/money.ts";
import { type LocalTime, localTimeIn, weekdays } from "./local-time.ts";

/** A price that is valid from one moment to another. */
export interface Segment {
  /** Money per kWh in the display currency; null if it is unknown. */
  readonly price: number | null;
  /** Epoch ms, after the requested moment. */
  readonly until: number;
}

/** The price of electricity at any moment. */
export interface Tariff {
  at(time: number): Segment;
  /** The source of its prices; null for prices in the configuration. */
  readonly curve: PriceCurve | null;
}

/** A price from a source, per kWh in the currency of the source; epoch ms. */
export interface PricePeriod {
  readonly start: number;
  readonly end: number;
  readonly value: number;
}

const hourMs = 3_600_000;
/** ms that past prices are kept. */
const pastMs = 48 * hourMs;
/** Prices of 15 minutes for more than two months. */
export const mostPeriods = 6_000;

/** The known prices of one source. */
export class PriceCurve {
  /** Host or topic; never with a secret. */
  readonly source: string;
  #periods: readonly PricePeriod[] = [];
  #currency: string | null = null;
  #at: number | null = null;
  /** Why the last attempt failed, or what was odd about it; null if nothing was. */
  problem: string | null = null;

  constructor(source: string) {
    this.source = source;
  }

  /** Sorted, without overlaps. */
  get periods(): readonly PricePeriod[] {
    return this.#periods;
  }

  get currency(): string | null {
    return this.#currency;
  }

  /** When they were read, epoch ms; null before the first. */
  get at(): number | null {
    return this.#at;
  }

  /** Adds prices: new ones replace old ones of the same time, and those older than two days are dropped. */
  take(periods: readonly PricePeriod[], currency: string, at: number): void {
    const before = currency === this.#currency ? this.#periods : [];
    this.#periods = merged(before, periods).filter(({ end }) => end > at - pastMs);
    this.#currency = currency;
    this.#at = at;
  }

  /** Null in a gap; `until`: when that may change. */
  period(time: number): { readonly value: number | null; readonly until: number } {
    let [low, high] = [0, this.#periods.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#periods[middle]?.end ?? 0) > time) high = middle;
      else low = middle + 1;
    }
    const found = this.#periods[low];
    if (found === undefined) return { value: null, until: Number.POSITIVE_INFINITY };
    return found.start <= time ? { value: found.value, until: found.end } : { value: null, until: found.start };
  }
}

/** Sorted, without overlaps: of two overlapping periods the newer counts, and of equally new ones the later. */
export function merged(older: readonly PricePeriod[], newer: readonly PricePeriod[]): PricePeriod[] {
  const clean: PricePeriod[] = [];
  const ordered = newer.filter(({ start, end }) => end > start).toSorted((a, b) => a.start - b.start || a.end - b.end);
  for (const [index, period] of ordered.entries()) {
    const next = ordered[index + 1];
    const end = next === undefined ? period.end : Math.min(period.end, next.start);
    if (end > period.start) clean.push({ ...period, end });
  }
  const kept = older.flatMap((period) => outside(period, clean));
  return [...kept, ...clean].sort((a, b) => a.start - b.start).slice(-mostPeriods);
}

/** The parts of a period that no other covers. `others` are sorted and do not overlap. */
function outside(period: PricePeriod, others: readonly PricePeriod[]): PricePeriod[] {
  const parts: PricePeriod[] = [];
  let { start } = period;
  for (const other of others) {
    if (other.end <= start) continue;
    if (other.start >= period.end) break;
    if (other.start > start) parts.push({ ...period, start, end: other.start });
    start = other.end;
  }
  if (start < period.end) parts.push({ ...period, start });
  return parts;
}

export interface TariffContext {
  /** The display time zone; undefined: the machine's. */
  readonly timeZone: string | undefined;
  /** Money of the display currency per unit of another; null if unknown. */
  readonly rateOf: (currency: string) => number | null;
  /** The curve of a source; the same for the same source. */
  readonly curveOf: (source: NonNullable<ElectricitySettings["source"]>) => PriceCurve;
}

/** Undefined if no price is set. Every price is (price + add) × factor. */
export function tariffOf(settings: ElectricitySettings, context: TariffContext): Tariff | undefined {
  const { price, zones, source, add, factor } = settings;
  // Without the last digits that the additions cause.
  const total = (value: number | null): number | null =>
    value === null ? null : Number(((value + add) * factor).toPrecision(12));
  if (source !== undefined) {
    const curve = context.curveOf(source);
    const at = (time: number): Segment => {
      const { value, until } = curve.period(time);
      const rate = curve.currency === null ? null : context.rateOf(curve.currency);
      return { price: value === null || rate === null ? null : total(value * rate), until };
    };
    return { at, curve };
  }
  if (zones !== undefined) {
    const local = localTimeIn(settings.timeZone ?? context.timeZone);
    const priceAt = zonePrices(zones);
    const borders = zones.flatMap(({ from, to }) => [minutesOf(from), minutesOf(to)]).sort((a, b) => a - b);
    const at = (time: number): Segment => {
      const now = local(time);
      const next = borders.find((minute) => minute > now.minute) ?? minutesOfDay;
      const border = (Math.floor(time / minuteMs) + next - now.minute) * minuteMs;
      // Clock changes fall on whole quarters of an hour.
      const quarter = (Math.floor(time / quarterMs) + 1) * quarterMs;
      return { price: total(priceAt(now) ?? price ?? null), until: Math.min(border, quarter) };
    };
    return { at, curve: null };
  }
  if (price === undefined) return undefined;
  const fixed = { price: total(price), until: Number.POSITIVE_INFINITY };
  return { at: () => fixed, curve: null };
}

const minuteMs = 60_000;
const quarterMs = 900_000;
const minutesOfDay = 1_440;

/** The price of the first zone that contains this moment; undefined if none does. */
function zonePrices(zones: readonly ZoneSettings[]): (local: LocalTime) => number | undefined {
  const ready = zones.map(({ days, from, to, price }) => ({
    days: days === undefined ? null : new Set(days.flatMap(daysIn)),
    from: minutesOf(from),
    to: minutesOf(to),
    price,
  }));
  return ({ weekday, minute }) =>
    ready.find(({ days, from, to }) => {
      const beginsOn = (day: number): boolean => days === null || days.has(day);
      if (from < to) return minute >= from && minute < to && beginsOn(weekday);
      // It continues past midnight, and belongs to the day on which it began.
      return (minute >= from && beginsOn(weekday)) || (minute < to && beginsOn((weekday + 6) % 7));
    })?.price;
}

/** "fri-mon" is Friday to Monday. */
function daysIn(text: string): number[] {
  const [first = "", last = first] = text.split("-");
  const [from, to] = [weekdays.indexOf(first), weekdays.indexOf(last)];
  return Array.from({ length: ((to - from + 7) % 7) + 1 }, (_, index) => (from + index) % 7);
}

function minutesOf(text: string): number {
  const [hours = "", minutes = ""] = text.split(":");
  return Number(hours) * 60 + Number(minutes);
}

/** The mean price of a span, weighted by time; null if part of it is unknown. */
export function meanPrice(tariff: Tariff, from: number, to: number): number | null {
  if (to <= from) return tariff.at(from).price;
  let sum = 0;
  for (let time = from; time < to; ) {
    const { price, until } = tariff.at(time);
    if (price === null) return null;
    const end = Math.min(to, until);
    sum += price * (end - time);
    time = end;
  }
  return sum / (to - from);
}
