import { compileExpression, type Expression, type ExpressionContext } from "../../../config/expressions.ts";
import type { ResolvedRule } from "../../../config/rule-resolution.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import type { Condition, ConditionOf, MedianReading, NumberReading } from "../../../contract/rule-conditions.ts";
import type { RigState } from "../../../fleet/state.ts";
import { presentReadings } from "../../miners/present-miner.ts";
import type { ExpressionNames } from "./compile.ts";
import type { Subject, Surroundings } from "./conditions.ts";
import { stoppedFactor } from "./expression-meter.ts";
import { median } from "./history-books.ts";
import type { Truth } from "./machine.ts";
import { isInside, type Windows, weeklyWindows } from "./windows.ts";

const medianMs = 300_000;

/** NaN is unknown. */
export interface Sample {
  readonly time: number;
  readonly hashrate: number;
  readonly power: number;
  readonly temperature: number;
}

/** The past during a trial: averages by hour of the week, and medians of the history. */
export class Past implements Surroundings, ExpressionNames {
  now = 0;
  readonly #zone: string | undefined;
  readonly #windows = new Map<Condition, Windows>();
  readonly #hour: Sample[] = [];
  #medians: { readonly at: number; readonly values: Record<MedianReading, number | null> } | null = null;

  constructor(zone: string | undefined) {
    this.#zone = zone;
  }

  /** Starts over with another miner. */
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
  /** Expressions are evaluated separately. */
  names = (): ExpressionContext => ({ miner: {}, reading: {}, rule: {} });
}

/** Steps of all evaluations of a trial: 1,000 miners, read every 30 s for two days, take 120 million. */
const mostWork = 200_000_000;

/** The expression of a rule, with past readings and current names. */
export class PastExpression {
  readonly counts = { true: 0, false: 0, unknown: 0 };
  /** Number of stops by reason. */
  readonly stops = new Map<string, number>();
  #left = mostWork;
  readonly #expression: Expression;
  readonly #names: ExpressionNames["names"];
  readonly #rule: ResolvedRule;

  constructor(text: string, names: ExpressionNames["names"], rule: ResolvedRule) {
    this.#expression = compileExpression(text);
    this.#names = names;
    this.#rule = rule;
  }

  /** Combines it with the other conditions, which hold or are unknown. */
  with(found: Truth, subject: Subject): Truth {
    const { state } = subject;
    const reading = state === null ? {} : presentReadings(state, null, null);
    const truth = this.#test({ ...this.#names(subject, this.#rule), reading });
    this.counts[truth === null ? "unknown" : truth ? "true" : "false"] += 1;
    if (truth === false) return false;
    return found === null ? null : truth;
  }

  #test(context: ExpressionContext): Truth {
    if (this.#left <= 0) return this.#stopped("the trial takes more than 200,000,000 steps");
    const { truth, work, stopped } = this.#expression.test(context);
    this.#left -= stopped === null ? work : stoppedFactor * work;
    return stopped === null ? truth : this.#stopped(stopped);
  }

  #stopped(why: string): null {
    this.stops.set(why, (this.stops.get(why) ?? 0) + 1);
    return null;
  }
}

/** The state of a rig at a sample; expected values are the present ones. */
export function stateAt({ time, hashrate, power, temperature }: Sample, known: RigState): RigState {
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
      identity: known.identity ?? nobody,
      readings,
      pools: [],
      devices: [],
      controls: [],
      poolActions: [],
      software: null,
      logInterval: null,
      workUtility: null,
    },
  };
}

const figure = (value: number): number | null => (Number.isNaN(value) ? null : value);
