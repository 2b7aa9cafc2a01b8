import type { ExpressionContext } from "../../../config/expressions.ts";
import type { Messages } from "../../../contract/messages.ts";
import type { Condition, ConditionOf, NumberReading } from "../../../contract/rule-conditions.ts";
import { valueIn } from "../../../link/quantity.ts";
import type { Store } from "../../../store/index.ts";
import { enabled } from "../../crud.ts";
import type { ExpressionNames } from "./compile.ts";
import type { Subject, Surroundings, Value } from "./conditions.ts";
import type { MedianBook, RateBook } from "./history-books.ts";
import type { Truth } from "./machine.ts";
import type { OutsideNumber } from "./readings.ts";
import { changeAfter, cronOf, dailyPattern, isInside, type Windows, weeklyWindows } from "./windows.ts";

/** Values that rigs do not report, for a miner; 0: no single miner. */
export interface RuleValues {
  /** Last output of a miner's mining program before it failed for good or was restarted; null if unknown. */
  lastOutput(minerId: number): string | null;
  /** Money per kWh at this time, epoch ms; null if unknown. */
  price(minerId: number, at: number): number | null;
  /** Money per day, or the pool's values; null if unknown. */
  outside(minerId: number, name: Exclude<OutsideNumber, "price">): number | null;
}

export interface RuleSurroundingsOptions {
  readonly values: RuleValues;
  readonly medians: Pick<MedianBook, "get">;
  readonly rates: Pick<RateBook, "rate">;
  readonly pools: Store["pools"];
  readonly messages: Messages;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  /** The time zone of conditions without one. */
  readonly zone: () => string | undefined;
  /** Called when the value of a topic changes. */
  readonly topicChanged: (topic: string) => void;
  names(subject: Subject, rule: { readonly key: string; readonly name: string }): ExpressionContext;
}

interface TopicValue {
  /** The text of the last message; null before the first. */
  payload: string | null;
  /** The values of conditions by path, so that it is parsed once and not for each miner. */
  readonly values: Map<string | undefined, Value>;
  /** Monotonic clock, ms. */
  at: number;
  stop: () => void;
}

interface WeeklyValue {
  windows: Windows;
  holds: Truth;
  /** When the hours next begin or end, epoch ms. */
  changesAt: number;
}

/** Longer messages are ignored. */
const longestPayload = 100_000;

/** The present event: of a miner, a web hook, or a time condition. */
export type Moment =
  | { readonly event: string; readonly minerId: number }
  | { readonly hook: string }
  | { readonly conditions: ReadonlySet<Condition> };

/** Inputs of conditions besides the state of a rig. */
export class RuleSurroundings implements Surroundings, ExpressionNames {
  readonly #options: RuleSurroundingsOptions;
  readonly #topics = new Map<string, TopicValue>();
  readonly #weekly = new Map<Condition, WeeklyValue>();
  /** The next time of these conditions, epoch ms. */
  readonly #times = new Map<Condition, number>();
  #moment: Moment | null = null;

  constructor(options: RuleSurroundingsOptions) {
    this.#options = options;
  }

  /** Sets the conditions of all rules; removed ones are no longer watched. */
  watch(conditions: readonly Condition[]): void {
    const kept = new Set(conditions);
    for (const map of [this.#weekly, this.#times]) for (const each of map.keys()) if (!kept.has(each)) map.delete(each);
    const topics = new Set(conditions.flatMap((each) => ("topic" in each ? [each.topic] : [])));
    for (const [topic, { stop }] of this.#topics)
      if (!topics.has(topic)) {
        stop();
        this.#topics.delete(topic);
      }
    for (const topic of topics) if (!this.#topics.has(topic)) this.#listen(topic);
    const now = this.#options.now();
    for (const each of conditions) {
      if ("weekly" in each && !this.#weekly.has(each)) {
        const windows = weeklyWindows(each.weekly, this.#options.zone());
        this.#weekly.set(each, { windows, holds: isInside(windows, now), changesAt: 0 });
      }
      if (("time" in each || "cron" in each) && !this.#times.has(each))
        this.#times.set(each, this.#nextTime(each, now));
    }
  }

  /** Hours and times are those of the new time zone; the next turn says which hours have begun or ended by that. */
  zoneChanged(): void {
    for (const [condition, value] of this.#weekly) {
      if (!("weekly" in condition)) continue;
      value.windows = weeklyWindows(condition.weekly, this.#options.zone());
      value.changesAt = 0;
    }
    const now = this.#options.now();
    for (const condition of this.#times.keys()) this.#times.set(condition, this.#nextTime(condition, now));
  }

  /**
   * The conditions whose hours have begun or ended, and those whose time has come. After a clock jump the hours are
   * unknown until they next begin or end, and skipped times do not count.
   */
  turn(jumped: boolean): { readonly changed: ReadonlySet<Condition>; readonly come: ReadonlySet<Condition> } {
    const now = this.#options.now();
    const changed = new Set<Condition>();
    const come = new Set<Condition>();
    for (const [condition, value] of this.#weekly) {
      if (!jumped && value.holds !== null && now < value.changesAt) continue;
      const holds = isInside(value.windows, now);
      if (jumped && holds !== value.holds) value.holds = null;
      else if (!jumped && value.holds !== null && holds !== value.holds) {
        value.holds = holds;
        changed.add(condition);
      } else if (!jumped && value.holds === null) this.#settle(value, now);
      value.changesAt = changeAfter(value.windows, now);
    }
    for (const [condition, at] of this.#times) {
      if (now < at && !jumped) continue;
      if (!jumped) come.add(condition);
      this.#times.set(condition, this.#nextTime(condition, now));
    }
    return { changed, come };
  }

  /** The next time of these conditions, epoch ms; null if there is none. */
  nextTimeOf(conditions: readonly Condition[]): number | null {
    const next = Math.min(...conditions.map((each) => this.#times.get(each) ?? Number.POSITIVE_INFINITY));
    return Number.isFinite(next) ? next : null;
  }

  /** Runs `work` during this event. */
  during<T>(moment: Moment, work: () => T): T {
    this.#moment = moment;
    try {
      return work();
    } finally {
      this.#moment = null;
    }
  }

  outside(minerId: number, name: OutsideNumber): number | null {
    return name === "price"
      ? this.#options.values.price(minerId, this.#options.now())
      : this.#options.values.outside(minerId, name);
  }

  median(minerId: number, name: NumberReading): number | null {
    return name === "hashrate" || name === "power" || name === "temperature"
      ? this.#options.medians.get(minerId, name)
      : null;
  }

  rate(minerId: number, kind: "rejected" | "hardwareErrors", overMs: number) {
    return this.#options.rates.rate(minerId, kind, overMs);
  }

  pools(names: readonly string[] | undefined) {
    const wanted = names === undefined ? null : new Set(names);
    return enabled(this.#options.pools)
      .filter(({ description }) => wanted === null || wanted.has(description))
      .map(({ url, workerName, walletAddress }) => ({
        url,
        worker: [walletAddress, workerName].filter((part) => part !== "").join("."),
      }));
  }

  topic({ topic, path, maxAge }: ConditionOf<"topic">): Value {
    const last = this.#topics.get(topic);
    if (last === undefined || last.payload === null) return null;
    if (maxAge !== undefined && this.#options.monotonicNow() - last.at > maxAge * 1000) return null;
    const known = last.values.get(path);
    if (known !== undefined) return known;
    const found = valueIn(last.payload, path);
    const value = typeof found === "string" || typeof found === "number" || typeof found === "boolean" ? found : null;
    last.values.set(path, value);
    return value;
  }

  weekly(condition: ConditionOf<"weekly">): Truth {
    return this.#weekly.get(condition)?.holds ?? null;
  }

  happens(condition: Condition, minerId: number): boolean {
    const moment = this.#moment;
    if (moment === null) return false;
    if ("conditions" in moment) return moment.conditions.has(condition);
    if ("hook" in moment) return "hook" in condition && condition.hook === moment.hook;
    return "event" in condition && condition.event === moment.event && minerId === moment.minerId;
  }

  names(subject: Subject, rule: { readonly key: string; readonly name: string }): ExpressionContext {
    return this.#options.names(subject, rule);
  }

  close(): void {
    for (const { stop } of this.#topics.values()) stop();
    this.#topics.clear();
  }

  /** Known again once the hours (or the gap between them) that the clock jumped into have ended. */
  #settle(value: WeeklyValue, now: number): void {
    const next = value.windows.next(now);
    const isAtBoundary = (at: number | null | undefined): boolean => at != null && now - at >= 0 && now - at < 60_000;
    const last = value.windows.last(now);
    if (isAtBoundary(last?.start) || isAtBoundary(last?.end)) value.holds = isInside(value.windows, now);
    else if (next === null) value.holds = false;
  }

  #nextTime(condition: Condition, now: number): number {
    const cron =
      "time" in condition
        ? cronOf(dailyPattern(condition.time, condition.days), condition.timeZone ?? this.#options.zone())
        : "cron" in condition
          ? cronOf(condition.cron, condition.timeZone ?? this.#options.zone())
          : null;
    return cron?.nextRun(new Date(now))?.getTime() ?? Number.POSITIVE_INFINITY;
  }

  #listen(topic: string): void {
    const value: TopicValue = { payload: null, values: new Map(), at: 0, stop: () => undefined };
    // A retained message may arrive at once.
    value.stop = this.#options.messages.listen(topic, ({ payload }) => {
      value.payload = payload.length > longestPayload ? null : payload;
      value.values.clear();
      value.at = this.#options.monotonicNow();
      this.#options.topicChanged(topic);
    });
    this.#topics.set(topic, value);
  }
}
