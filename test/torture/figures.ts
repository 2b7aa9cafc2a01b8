import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import { median, quantile } from "../bench/statistics.ts";
import { megabytes, openFilesOf, residentOf, type Verdict } from "./measure.ts";
import type { ServiceProcess } from "./process.ts";
import { say } from "./say.ts";

/** What is seen of a service at one moment; null where it cannot be seen. */
export interface Figures {
  /** s since the watch began */
  readonly at: number;
  /** bytes */
  readonly resident: number | null;
  /** bytes that are left after the last full collection */
  readonly heap: number | null;
  readonly files: number | null;
  readonly timers: number | null;
  /** s on the processor since the process began */
  readonly busy: number | null;
  /** s that timers came late since the moment before, p99 and the latest */
  readonly late: number | null;
  readonly latest: number | null;
  /** bytes of the store and its write-ahead log */
  readonly store: number;
}

const Inside = z.object({ heap: z.number().nullable(), timers: z.number() });

/** `inside`: the file that inside.ts writes. */
export async function figuresOf(service: ServiceProcess, inside: string, store: string, at: number): Promise<Figures> {
  const { text } = await service.ask("GET", "/metrics");
  const metric = (name: string): number | null => {
    const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
    return value === undefined ? null : Number(value);
  };
  const { heap, timers } = insideOf(inside);
  return {
    at,
    resident: residentOf(service.pid),
    heap,
    files: openFilesOf(service.pid),
    timers,
    busy: metric("process_cpu_seconds_total"),
    late: metric("nodejs_eventloop_lag_p99_seconds"),
    latest: metric("nodejs_eventloop_lag_max_seconds"),
    store: [store, `${store}-wal`].reduce(
      (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
      0,
    ),
  };
}

function insideOf(file: string): { heap: number | null; timers: number | null } {
  try {
    return Inside.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // Not written yet, or just now.
    return { heap: null, timers: null };
  }
}

type Name = "resident" | "heap" | "files" | "timers";

interface Bound {
  readonly name: Name;
  readonly what: string;
  /** Of a third: its median; or the least but for a tenth, which is what is left when nothing happens. */
  readonly of: "median" | "least";
  /** What the last third may have more than the second: a share of it, and so much. */
  readonly share: number;
  readonly more: number;
  readonly text: (value: number) => string;
}

const bounds: readonly Bound[] = [
  { name: "resident", what: "memory", of: "median", share: 0.1, more: 20e6, text: megabytes },
  { name: "heap", what: "heap after collection", of: "median", share: 0.1, more: 10e6, text: megabytes },
  { name: "files", what: "open files", of: "least", share: 0.1, more: 50, text: String },
  { name: "timers", what: "timers", of: "least", share: 0.1, more: 50, text: String },
];

/** Checks the bounds; the first third is for warming up. What cannot be seen here is said. */
export function checkGrowth(figures: readonly Figures[], verdict: Verdict): void {
  const third = Math.floor(figures.length / 3);
  const thirds = [figures.slice(third, 2 * third), figures.slice(2 * third)];
  for (const { name, what, of, share, more, text } of bounds) {
    const [before, after] = thirds.map((part) => {
      const values = part.flatMap((each) => (each[name] === null ? [] : [each[name]]));
      return of === "median" ? median(values) : quantile(values, 0.1);
    });
    if (before === undefined || after === undefined || Number.isNaN(before + after)) {
      say(`left out: ${what} cannot be seen here, or not in so short a time`);
      continue;
    }
    const most = Math.round(before * (1 + share) + more);
    const perHour = of === "median" ? `; ${slope(figures.slice(third), name)}` : "";
    verdict.check(
      `${what}: ${of} ${text(before)} in the second third, ${text(after)} in the last, at most ${text(most)}${perHour}`,
      after <= most,
    );
  }
}

/** The line through the figures, for people: over minutes it says little. */
function slope(figures: readonly Figures[], name: Name): string {
  const points = figures.flatMap(({ at, [name]: value }) => (value === null ? [] : [{ at, value }]));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(({ at }) => at)), mean(points.map(({ value }) => value))];
  const over = points.reduce((sum, { at, value }) => sum + (at - x) * (value - y), 0);
  const under = points.reduce((sum, { at }) => sum + (at - x) ** 2, 0);
  return `${(((over / under) * 3_600) / 1e6).toFixed(0)} MB an hour by their line`;
}

/** One line of progress; `before` is the look before it. */
export const lineOf = ({ at, resident, heap, files, timers, busy, late, latest, store }: Figures, before: Figures) =>
  [
    `${busy === null || before.busy === null ? "?" : Math.round((100 * (busy - before.busy)) / (at - before.at))} % of a core`,
    `${resident === null ? "?" : megabytes(resident)} in memory`,
    `heap ${heap === null ? "?" : megabytes(heap)}`,
    `${files ?? "?"} files`,
    `${timers ?? "?"} timers`,
    `late p99 ${inMs(late)}, max ${inMs(latest)}`,
    `store ${megabytes(store)}`,
  ].join(", ");

export const inMs = (seconds: number | null): string => (seconds === null ? "?" : `${(seconds * 1_000).toFixed(0)} ms`);
