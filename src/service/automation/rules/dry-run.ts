import { setImmediate as nextTurn } from "node:timers/promises";
import type { ExpressionContext } from "../../../config/expressions.ts";
import type { ResolvedRule } from "../../../config/rule-resolution.ts";
import { RigbridgeError } from "../../../contract/problems.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import {
  type Condition,
  type ConditionOf,
  conditionsIn,
  type MedianReading,
  type NumberReading,
} from "../../../contract/rule-conditions.ts";
import type { TryReply } from "../../../contract/rules.ts";
import { missesUntilDisconnected } from "../../../fleet/schedule.ts";
import { beforeFirstRead, type RigState, unknownRig } from "../../../fleet/state.ts";
import type { TakeSample } from "../../../store/index.ts";
import { type CompiledConditions, compileConditions, type ExpressionNames } from "./compile.ts";
import type { Surroundings } from "./conditions.ts";
import { median } from "./history-books.ts";
import { advance, type Delays, dueAt, type MachineState } from "./machine.ts";
import { isInside, type Windows, weeklyWindows } from "./windows.ts";

/** ms of work at a time; between two pieces others have their turn. */
const longestTurnMs = 20;
/** Dry runs at once. */
const mostAtOnce = 2;
const mostMiners = 1_000;
const mostFirings = 1_000;
const dayMs = 86_400_000;
/** The history is read in pieces of so many ms. */
const pieceMs = 6 * 3_600_000;
/** A miner without a sample for longer than this was away, ms, and for longer than so many of its intervals. */
const awayMs = 120_000;
const awayIntervals = 4;

const medianMs = 300_000;

/** What the history holds, and what is taken as it is now. */
const inHistory: ReadonlySet<string> = new Set(["hashrate", "power", "temperature", "hashrateExpected"]);

export interface DryRunOptions {
  each(minerId: number, from: number, to: number, take: TakeSample): void;
  stateOf(minerId: number): RigState | undefined;
  readonly zone: string | undefined;
  /** Days for which every sample is kept. */
  readonly rawDays: number;
}

/** Tries rules over the stored history. It asks no source, no channel and no rig. */
export class DryRuns {
  readonly #options: DryRunOptions;
  #running = 0;

  constructor(options: DryRunOptions) {
    this.#options = options;
  }

  /** Throws `too.many` if two are running. */
  async run(rule: ResolvedRule, minerIds: readonly number[], from: number, to: number): Promise<TryReply> {
    if (this.#running >= mostAtOnce)
      throw new RigbridgeError("too.many", `${mostAtOnce} rules are being tried already; try again in a moment`);
    this.#running += 1;
    try {
      return await this.#run(rule, minerIds.slice(0, mostMiners), from, to);
    } finally {
      this.#running -= 1;
    }
  }

  async #run(rule: ResolvedRule, minerIds: readonly number[], from: number, to: number): Promise<TryReply> {
    const past = new Past(this.#options.zone);
    const compiled = compileConditions(rule, past);
    const firings: TryReply["firings"] = [];
    const notes = notesOn(rule, to - from > this.#options.rawDays * dayMs);
    const reply = { from: iso(from), to: iso(to), miners: minerIds.length, firings, notes };
    if (compiled === null || compiled.momentary || compiled.ofFarm) {
      notes.push("only conditions on readings are tried; times, events and web hooks are not");
      return reply;
    }
    const breath = new Breath();
    for (const minerId of minerIds) {
      const trial = new Trial(
        rule,
        compiled,
        past,
        minerId,
        this.#options.stateOf(minerId) ?? beforeFirstRead(unknownRig),
      );
      for (let start = from; start < to; start += pieceMs) {
        const samples: Sample[] = [];
        this.#options.each(minerId, start, Math.min(to, start + pieceMs), (time, hashrate, power, temperature) => {
          if (time >= from && time < to) samples.push({ time, hashrate, power, temperature });
        });
        samples.sort((a, b) => a.time - b.time);
        trial.learnInterval(samples);
        for (const sample of samples) {
          trial.take(sample);
          if (breath.isDue) await breath.take();
        }
        if (breath.isDue) await breath.take();
      }
      trial.waitUntil(to);
      for (const { time, clearedAt, limited } of trial.firings)
        if (firings.length < mostFirings)
          firings.push({ minerId, time: iso(time), clearedAt: clearedAt === null ? null : iso(clearedAt), limited });
    }
    firings.sort((a, b) => a.time.localeCompare(b.time) || a.minerId - b.minerId);
    if (firings.length === mostFirings) notes.push(`only ${mostFirings} firings are listed`);
    return reply;
  }
}

/** Lets others have their turn. */
class Breath {
  #began = performance.now();

  get isDue(): boolean {
    return performance.now() - this.#began >= longestTurnMs;
  }

  async take(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}

/** NaN is unknown. */
interface Sample {
  readonly time: number;
  readonly hashrate: number;
  readonly power: number;
  readonly temperature: number;
}

interface PastFiring {
  readonly time: number;
  clearedAt: number | null;
  /** A limit would have held it back. */
  readonly limited: boolean;
}

/** One miner through its history. */
class Trial {
  readonly firings: PastFiring[] = [];
  readonly #rule: ResolvedRule;
  readonly #compiled: CompiledConditions;
  readonly #past: Past;
  readonly #minerId: number;
  readonly #known: RigState;
  readonly #delays: Delays;
  readonly #machine: MachineState = { phase: "idle", since: 0, elapsed: 0, at: null };
  #state: RigState;
  #last: number | null = null;
  #awayMs = awayMs;

  constructor(rule: ResolvedRule, compiled: CompiledConditions, past: Past, minerId: number, known: RigState) {
    this.#rule = rule;
    this.#compiled = compiled;
    this.#past = past;
    this.#minerId = minerId;
    this.#known = known;
    this.#state = { ...known, reading: null, missed: 0, trouble: null };
    this.#delays = { forMs: (rule.when?.for ?? 0) * 1000, clearForMs: (rule.when?.clearFor ?? 0) * 1000 };
    past.forget();
  }

  /** Samples come at the interval of its reads, or once an hour where only means are left. */
  learnInterval(samples: readonly Sample[]): void {
    const gaps = samples.slice(1).map(({ time }, index) => time - (samples[index]?.time ?? time));
    const usual = median(gaps);
    if (usual !== null) this.#awayMs = Math.max(awayMs, awayIntervals * usual);
  }

  take(sample: Sample): void {
    this.waitUntil(sample.time);
    this.#last = sample.time;
    this.#past.add(sample);
    this.#state = stateAt(sample, this.#known);
    this.#step(sample.time);
  }

  /** What happens up to this time without a sample: it is away, and timers come. */
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
    const due = dueAt(this.#machine, this.#delays);
    if (due < until) this.#step(due);
  }

  #step(time: number): void {
    this.#past.now = time;
    const { phase } = this.#machine;
    const isActive = phase === "firing" || phase === "clearing";
    const truth = this.#compiled.test({ id: this.#minerId, state: this.#state, disabled: false }, isActive);
    const turn = advance(this.#machine, truth, { monotonic: time, wall: time }, this.#delays);
    if (turn === "fire") this.firings.push({ time, clearedAt: null, limited: this.#isLimited(time) });
    const firing = this.firings.at(-1);
    if (turn === "clear" && firing !== undefined) firing.clearedAt = time;
  }

  #isLimited(time: number): boolean {
    const { repeat = 0, perDay = Number.POSITIVE_INFINITY } = this.#rule.limit ?? {};
    const acted = this.firings.filter(({ limited }) => !limited);
    const last = acted.at(-1);
    if (last !== undefined && time - last.time < repeat * 1000) return true;
    return acted.filter((each) => time - each.time < dayMs).length >= perDay;
  }
}

/** The state of a rig as a sample tells it; what it expects of itself is what it expects now. */
function stateAt({ time, hashrate, power, temperature }: Sample, known: RigState): RigState {
  const readings = {
    ...unknownReadings(),
    hashrate: figure(hashrate),
    power: figure(power),
    temperature: figure(temperature),
    hashrateExpected: known.reading?.readings.hashrateExpected ?? null,
  };
  const nobody = { make: null, model: null, firmware: null, mac: null, hostname: null, serial: null };
  return {
    ...known,
    at: time,
    missed: 0,
    trouble: null,
    restarting: false,
    hashingSince: null,
    reason: null,
    reading: {
      ...{ identity: known.identity ?? nobody, readings, pools: [], devices: [], controls: [], poolActions: [] },
      ...{ software: null, logInterval: null, workUtility: null },
    },
  };
}

const figure = (value: number): number | null => (Number.isNaN(value) ? null : value);
const iso = (time: number): string => new Date(time).toISOString();

/** What is known of the past: the hours of the week, and medians of the history itself. */
class Past implements Surroundings, ExpressionNames {
  now = 0;
  readonly #zone: string | undefined;
  readonly #windows = new Map<Condition, Windows>();
  readonly #hour: Sample[] = [];
  #medians: { readonly at: number; readonly values: Record<MedianReading, number | null> } | null = null;

  constructor(zone: string | undefined) {
    this.#zone = zone;
  }

  /** Another miner is tried. */
  forget(): void {
    this.#hour.length = 0;
    this.#medians = null;
  }

  add(sample: Sample): void {
    this.#hour.push(sample);
    while ((this.#hour[0]?.time ?? sample.time) < sample.time - 3_600_000) this.#hour.shift();
  }

  weekly(condition: ConditionOf<"weekly">): boolean {
    const windows = this.#windows.get(condition) ?? weeklyWindows(condition.weekly, this.#zone);
    this.#windows.set(condition, windows);
    return isInside(windows, this.now);
  }

  median(_minerId: number, name: NumberReading): number | null {
    if (name !== "hashrate" && name !== "power" && name !== "temperature") return null;
    if (this.#medians === null || this.now - this.#medians.at >= medianMs) {
      const of = (reading: MedianReading): number | null =>
        median(this.#hour.map((sample) => sample[reading]).filter((value) => !Number.isNaN(value)));
      const values = { hashrate: of("hashrate"), power: of("power"), temperature: of("temperature") };
      this.#medians = { at: this.now, values };
    }
    return this.#medians.values[name];
  }

  outside = (): null => null;
  rate = (): null => null;
  pools = (): [] => [];
  topic = (): null => null;
  happens = (): boolean => false;
  /** Expressions are unknown: the history has no boards, fans and names of then. */
  names = (): ExpressionContext => ({ miner: {}, reading: {}, rule: {} });
}

/** What the history does not tell about this rule. */
function notesOn({ when, guard, inhibitedBy, again }: ResolvedRule, isLong: boolean): string[] {
  const conditions = when === undefined ? [] : conditionsIn(when);
  const missing = conditions.flatMap((condition) => {
    if ("reading" in condition) return inHistory.has(condition.reading) ? [] : [condition.reading];
    return "state" in condition || "offline" in condition || "weekly" in condition
      ? []
      : Object.keys(condition).slice(0, 1);
  });
  return [
    ...(missing.length > 0
      ? [`the history does not hold ${[...new Set(missing)].join(", ")}: conditions on it are unknown`]
      : []),
    ...(again === undefined ? [] : ["only the first action of each firing is listed, not those that `again` adds"]),
    ...(when?.where === undefined ? [] : ["the expression of `where` is unknown in the past"]),
    ...(isLong ? ["beyond the days of history.raw there are only hourly means"] : []),
    ...(guard !== undefined || inhibitedBy !== undefined ? ["guard, inhibition and maintenance are not tried"] : []),
  ];
}
