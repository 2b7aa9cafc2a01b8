import type { History, MinerDetail } from "../../../contract/resources.ts";
import { wholeSteps } from "../../parts/whole-steps.ts";

/** One point of a rig's history: its time (epoch ms), then values, null where unknown. */
export type Point = History["points"][number];

export const metrics = ["hashrate", "power", "temperature", "energy"] as const;
export type Metric = (typeof metrics)[number];

/** The curves of a rig: for each time a value or a gap. */
export interface Curves extends Readonly<Record<Metric, readonly (number | null)[]>> {
  readonly times: readonly number[];
}

/** The last reading as a point; null if it is outdated. */
export const livePoint = ({
  at,
  stale,
  hashrate,
  power,
  temperature,
  energy,
}: MinerDetail["readings"]): Point | null =>
  at === null || stale ? null : [Date.parse(at), hashrate, power, temperature, energy];

/**
 * Points as curves, with a gap where points are missing for much longer than usual; energy counts from the first point.
 */
export function curvesOf({ step, points }: History): Curves {
  const pauseMs = Math.max(2.5 * step * 1000, 3 * usualDistance(points));
  const times: number[] = [];
  const values: Record<Metric, (number | null)[]> = { hashrate: [], power: [], temperature: [], energy: [] };
  const add = (time: number, ...figures: (number | null)[]) => {
    times.push(time);
    for (const [index, metric] of metrics.entries()) values[metric].push(figures[index] ?? null);
  };
  const before = points.find(([, , , , energy]) => energy !== null)?.[4] ?? null;
  let last: number | undefined;
  // The newest readings are rounded differently than the history.
  let used = 0;
  for (const [time, hashrate, power, temperature, energy] of points) {
    if (last !== undefined && time - last > pauseMs) add(last + 1);
    if (energy !== null && before !== null) used = Math.max(used, energy - before);
    add(time, hashrate, power, temperature, energy === null || before === null ? null : used);
    last = time;
  }
  return { times, ...values };
}

/** The median of ms between two points. */
function usualDistance(points: readonly Point[]): number {
  const distances = points
    .slice(1)
    .map(([time], index) => time - (points[index]?.[0] ?? time))
    .sort((one, other) => one - other);
  return distances[Math.floor(distances.length / 2)] ?? 0;
}

/** The history with later points, which replace a last step that they belong to. */
export function withLive(history: History, live: readonly Point[]): History {
  const newest = live.at(-1)?.[0] ?? 0;
  const points = wholeSteps(history, newest);
  const last = points.at(-1)?.[0] ?? 0;
  const newer = live.filter(([time]) => time > last);
  return newer.length === 0 ? history : { ...history, points: [...points, ...newer] };
}

const hourMs = 3_600_000;

/** The periods of the page, each with its reload interval in ms. */
export const periods = {
  "1h": { ms: hourMs, refreshMs: 15_000 },
  "24h": { ms: 24 * hourMs, refreshMs: 60_000 },
  "7d": { ms: 7 * 24 * hourMs, refreshMs: 300_000 },
  "30d": { ms: 30 * 24 * hourMs, refreshMs: 900_000 },
} as const;
export type PeriodKey = keyof typeof periods;

/** A period that moves with the clock, or a custom one. */
export type Period =
  | { readonly key: PeriodKey; readonly from: null; readonly to: null }
  | { readonly key: "own"; readonly from: number; readonly to: number };

const isPeriod = (text: string): text is PeriodKey => Object.hasOwn(periods, text);

/** From the address: a key, or local times "2026-11-22T10:00"; a day if it is invalid. */
export function periodFrom(key: string, from: string, to: string): Period {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  if (key === "own" && start < end) return { key, from: start, to: end };
  return { key: isPeriod(key) ? key : "24h", from: null, to: null };
}

/** Its start and end, epoch ms. */
export function boundsOf(period: Period): { readonly from: number; readonly to: number } {
  if (period.key === "own") return { from: period.from, to: period.to };
  const to = Date.now();
  return { from: to - periods[period.key].ms, to };
}

/** In the format of <input type="datetime-local">. */
export function localInput(time: number): string {
  const date = new Date(time);
  return new Date(time - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
