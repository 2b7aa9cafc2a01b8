import type { ResolvedRule } from "../../../config/rule-resolution.ts";
import { missesUntilDisconnected } from "../../../fleet/schedule.ts";
import type { RigState } from "../../../fleet/state.ts";
import type { CompiledConditions } from "./compile.ts";
import { median } from "./history-books.ts";
import { allowedBy, dayMs, delaysOf, type LiveRule } from "./live-rule.ts";
import { advance, type Delays, dueAt, type MachineState } from "./machine.ts";
import { type Past, type PastExpression, type Sample, stateAt } from "./past.ts";

/** A miner counts as offline after a gap of this many ms, and this many of its intervals, between samples. */
const awayMs = 120_000;
const awayIntervals = 4;

export interface PastFiring {
  readonly time: number;
  clearedAt: number | null;
  /** A limit would have held it back. */
  readonly limited: boolean;
}

interface TrialOptions {
  readonly rule: ResolvedRule;
  /** Without the rule's expression. */
  readonly compiled: CompiledConditions;
  readonly where: PastExpression | null;
  readonly past: Past;
  readonly minerId: number;
  readonly known: RigState;
  readonly delays: Delays;
}

/** One miner over its history. */
export class Trial {
  readonly firings: PastFiring[] = [];
  /** For the guard: when its conditions held, even if not long enough. */
  readonly episodes: Episode[] = [];
  /** Times of the firings that the limit allows. */
  readonly #acted: number[] = [];
  readonly #options: TrialOptions;
  readonly #machine: MachineState = { phase: "idle", since: 0, elapsed: 0, at: null };
  #state: RigState;
  #last: number | null = null;
  #awayMs = awayMs;

  constructor(options: TrialOptions) {
    this.#options = options;
    this.#state = { ...options.known, reading: null, missed: 0, trouble: null };
    options.past.forget();
  }

  /** Samples are one read apart, or an hour where only averages are left. */
  learnInterval(samples: readonly Sample[]): void {
    const gaps = samples.slice(1).map(({ time }, index) => time - (samples[index]?.time ?? time));
    const usual = median(gaps);
    if (usual !== null) this.#awayMs = Math.max(awayMs, awayIntervals * usual);
  }

  take(sample: Sample): void {
    this.waitUntil(sample.time);
    this.#last = sample.time;
    this.#options.past.add(sample);
    this.#state = stateAt(sample, this.#options.known);
    this.#step(sample.time);
  }

  /** Advances to this time without a sample: the miner goes offline, and timers fire. */
  waitUntil(time: number): void {
    const last = this.#last;
    if (last === null) return;
    const awayAt = last + this.#awayMs;
    this.#timers(Math.min(time, awayAt));
    if (awayAt >= time || this.#state.reading === null) return;
    this.#state = { ...this.#state, reading: null, missed: missesUntilDisconnected };
    this.#step(awayAt);
    this.#timers(time);
  }

  #timers(until: number): void {
    const due = dueAt(this.#machine, this.#options.delays);
    if (due < until) this.#step(due);
  }

  #step(time: number): void {
    const { past, compiled, where, minerId, delays } = this.#options;
    past.now = time;
    const { phase } = this.#machine;
    const isActive = phase === "firing" || phase === "clearing";
    const subject = { id: minerId, state: this.#state, disabled: false };
    const found = compiled.test(subject, isActive);
    const truth = where === null || found === false ? found : where.with(found, subject);
    const turn = advance(this.#machine, truth, { monotonic: time, wall: time }, delays);
    if (phase === "idle" && this.#machine.phase !== "idle") this.episodes.push({ began: time, ended: null });
    const episode = this.episodes.at(-1);
    if (phase !== "idle" && this.#machine.phase === "idle" && episode !== undefined) episode.ended = time;
    if (turn === "fire") this.firings.push({ time, clearedAt: null, limited: this.#isLimited(time) });
    const firing = this.firings.at(-1);
    if (turn === "clear" && firing !== undefined) firing.clearedAt = time;
  }

  #isLimited(time: number): boolean {
    const { repeat = 0, perDay = Number.POSITIVE_INFINITY } = this.#options.rule.limit ?? {};
    const isWithin = (ms: number, acted: number | undefined) => acted !== undefined && time - acted < ms;
    if (isWithin(repeat * 1000, this.#acted.at(-1)) || isWithin(dayMs, this.#acted.at(-perDay))) return true;
    this.#acted.push(time);
    return false;
  }
}

/** A time in which the conditions hold for a miner. */
export interface Episode {
  readonly began: number;
  ended: number | null;
}

/** The guard of a rule in the past: for how many miners its conditions held at a time. */
export function guardOver(live: LiveRule, episodes: readonly Episode[]) {
  const allowed = allowedBy(live);
  if (live.guard === null || allowed === Number.POSITIVE_INFINITY) return null;
  const longestMs = live.guard.withinMs + delaysOf(live).forMs;
  const sorted = episodes.toSorted((a, b) => a.began - b.began);
  const countAt = (time: number): number => {
    let count = 0;
    for (let index = firstFrom(sorted, time - longestMs); (sorted[index]?.began ?? time + 1) <= time; index += 1)
      if ((sorted[index]?.ended ?? time + 1) > time) count += 1;
    return count;
  };
  return { allowed, countAt };
}

/** Index of the first span that began at this time or later. */
function firstFrom(sorted: readonly Episode[], time: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.began ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
