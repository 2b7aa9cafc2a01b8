import type { MedianReading } from "../../../contract/rule-conditions.ts";
import type { RigState } from "../../../fleet/state.ts";
import type { TakeSample } from "../../../store/index.ts";
import { current } from "./readings.ts";

const hourMs = 3_600_000;
/** A median is renewed after this time, and requires at least this many samples. */
const renewMs = 300_000;
const fewestSamples = 10;
/** ms of reading per turn. */
const longestTurnMs = 10;

export interface MedianOptions {
  each(minerId: number, from: number, to: number, take: TakeSample): Promise<void>;
  /** Epoch ms. */
  readonly now: () => number;
  readonly monotonicNow: () => number;
  /** Whether the median of this miner is frozen: a rule that compares with it has fired. */
  isFrozen(minerId: number): boolean;
}

interface Median {
  readonly at: number;
  readonly values: Readonly<Record<MedianReading, number | null>>;
}

/** The medians of the last hour, read from the history a few at a time. */
export class MedianBook {
  readonly #options: MedianOptions;
  readonly #known = new Map<number, Median>();
  readonly #wanted = new Set<number>();

  constructor(options: MedianOptions) {
    this.#options = options;
  }

  /** Null until it is read; a request queues the miner for one of the next turns. */
  get(minerId: number, name: MedianReading): number | null {
    const known = this.#known.get(minerId);
    const isOld = known === undefined || this.#options.monotonicNow() - known.at >= renewMs;
    if (isOld) this.#wanted.add(minerId);
    return known?.values[name] ?? null;
  }

  /** The miners with new medians. */
  async turn(): Promise<number[]> {
    const began = performance.now();
    const done: number[] = [];
    for (const minerId of this.#wanted) {
      if (performance.now() - began > longestTurnMs) break;
      this.#wanted.delete(minerId);
      if (this.#known.has(minerId) && this.#options.isFrozen(minerId)) continue;
      this.#known.set(minerId, { at: this.#options.monotonicNow(), values: await this.#read(minerId) });
      done.push(minerId);
    }
    return done;
  }

  forget(minerId: number): void {
    this.#known.delete(minerId);
    this.#wanted.delete(minerId);
  }

  async #read(minerId: number): Promise<Median["values"]> {
    const now = this.#options.now();
    const found: Record<MedianReading, number[]> = { hashrate: [], power: [], temperature: [] };
    await this.#options.each(minerId, now - hourMs, now, (_time, hashrate, power, temperature) => {
      if (!Number.isNaN(hashrate)) found.hashrate.push(hashrate);
      if (!Number.isNaN(power)) found.power.push(power);
      if (!Number.isNaN(temperature)) found.temperature.push(temperature);
    });
    return { hashrate: median(found.hashrate), power: median(found.power), temperature: median(found.temperature) };
  }
}

export function median(values: number[]): number | null {
  if (values.length < fewestSamples) return null;
  values.sort((a, b) => a - b);
  return values[values.length >> 1] ?? null;
}

interface Counts {
  /** ms of the monotonic clock. */
  readonly at: number;
  readonly accepted: number;
  readonly rejected: number | null;
  readonly hardwareErrors: number | null;
}

/** Maximum points per miner over the longest window. */
const pointsKept = 24;

/** Recent shares and errors, for rates. */
export class RateBook {
  readonly #points = new Map<number, Counts[]>();
  /** The longest window of all rules, ms; 0: no rule has a rate. */
  longestMs = 0;

  /** Adds the counts of a read if the last point is old enough. */
  note(minerId: number, state: RigState, at: number): void {
    const reading = this.longestMs === 0 ? null : current(state);
    if (reading === null) return;
    const { accepted, rejected, hardwareErrors } = reading.readings.shares;
    if (accepted === null) return;
    const counts = { at, accepted, rejected, hardwareErrors };
    const points = this.#points.get(minerId);
    const last = points?.at(-1);
    if (points === undefined || last === undefined || accepted < last.accepted || isLess(counts, last))
      this.#points.set(minerId, [counts]);
    else {
      // The last point moves until it is far enough from the one before.
      if (last.at - (points.at(-2)?.at ?? Number.NEGATIVE_INFINITY) < this.longestMs / pointsKept) points.pop();
      points.push(counts);
      while (points.length > 2 && at - (points[1]?.at ?? at) >= this.longestMs) points.shift();
    }
  }

  /** Rate since the oldest point of that window; null until half of the window has passed. */
  rate(
    minerId: number,
    kind: "rejected" | "hardwareErrors",
    overMs: number,
  ): { perHour: number; share: number | null } | null {
    const points = this.#points.get(minerId) ?? [];
    const last = points.at(-1);
    if (last === undefined) return null;
    const first = points.find(({ at }) => last.at - at <= overMs * 1.1) ?? last;
    const passed = last.at - first.at;
    const [before, after] = [first[kind], last[kind]];
    if (passed < overMs / 2 || before === null || after === null) return null;
    const more = after - before;
    const all = last.accepted - first.accepted + more;
    return { perHour: (more / passed) * hourMs, share: all === 0 ? null : more / all };
  }

  forget(minerId: number): void {
    this.#points.delete(minerId);
  }
}

/** A counter that falls has restarted. */
const isLess = (now: Counts, before: Counts): boolean =>
  (now.rejected ?? 0) < (before.rejected ?? 0) || (now.hardwareErrors ?? 0) < (before.hardwareErrors ?? 0);
