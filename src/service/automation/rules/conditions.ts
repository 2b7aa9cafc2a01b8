import {
  amountOf,
  type Condition,
  type ConditionOf,
  isShare,
  type NumberReading,
  type WordReading,
} from "../../../contract/rule-conditions.ts";
import type { RigState } from "../../../fleet/state.ts";
import { isUnread, statusOf } from "../../../fleet/state.ts";
import type { PoolReading } from "../../../link/driver.ts";
import { hostAndPortOf } from "../../../link/pool-url.ts";
import type { Truth } from "./machine.ts";
import { current, isRigNumber, type OutsideNumber, rigNumbers, rigWords } from "./readings.ts";

/** A miner as conditions see it; in a rule that concerns no miner, the id is 0 and there is no state. */
export interface Subject {
  readonly id: number;
  readonly state: RigState | null;
  readonly disabled: boolean;
}

export type Value = string | number | boolean | null;

/** Inputs of conditions besides the state of the rig. */
export interface Surroundings {
  /** A value that the rig does not report itself; null if unknown. */
  outside(minerId: number, name: OutsideNumber): number | null;
  /** The median of the last hour. */
  median(minerId: number, name: NumberReading): number | null;
  /** The rate per hour, and as a share (0 to 1) of all shares in this time. */
  rate(
    minerId: number,
    kind: "rejected" | "hardwareErrors",
    overMs: number,
  ): { perHour: number; share: number | null } | null;
  /** The pools with these names; without names, all pools configured here. */
  pools(names: readonly string[] | undefined): readonly { readonly url: string; readonly worker: string }[];
  /** The last value of a topic; null if there is none or it is too old. */
  topic(condition: ConditionOf<"topic">): Value;
  /** Null while unknown, as after a clock jump. */
  weekly(condition: ConditionOf<"weekly">): Truth;
  /** Whether the event of the condition happens at this moment. */
  happens(condition: Condition, minerId: number): boolean;
}

/** A compiled condition. */
export interface Test {
  /** `active`: the rule is firing, so hysteresis applies. */
  test(subject: Subject, active: boolean): Truth;
  /** The tested value, for the trace. */
  value(subject: Subject): Value;
  /** The value as text. */
  readonly text: string;
  /** The inputs in a rig's state; null: the condition also depends on other things. */
  readonly inputs: readonly Input[] | null;
}

/** Part of a rig's state. Conditions that depend on this part treat states with equal values alike. */
export type Input = (state: RigState, disabled: boolean) => unknown;

const numberInputs = Object.fromEntries(
  Object.entries(rigNumbers).map(([name, read]): [string, Input] => [
    name,
    (state) => (state.reading === null ? null : read(state.reading, state)),
  ]),
);
const status: Input = (state, disabled) => statusOf(state, disabled);
const reason: Input = ({ reason: halt }) => halt?.code;
const pools: Input = ({ reading }) => reading?.pools;
const devices: Input = ({ reading }) => reading?.devices;
const wordInputs: Readonly<Record<WordReading, Input>> = {
  mode: ({ reading }) => reading?.readings.mode,
  algorithm: ({ reading }) => reading?.readings.algorithm,
  mining: ({ reading }) => reading?.readings.mining,
  locate: ({ reading }) => reading?.readings.locate,
};

type NumberRead = (subject: Subject) => number | null;

/** Compiles a condition. */
export function compileCondition(condition: Condition, around: Surroundings): Test {
  if ("reading" in condition) return compileReading(condition, around);
  if ("rate" in condition) {
    const { rate, over } = condition;
    const asShare = isShare(condition.above ?? condition.below);
    const read: NumberRead = ({ id }) => {
      const found = around.rate(id, rate, over * 1000);
      return found === null ? null : asShare ? found.share : found.perHour;
    };
    return bounded(condition, `${rate} ${asShare ? "share" : "per hour"}`, read, () => 1, null);
  }
  if ("state" in condition) {
    const wanted = new Set(condition.state);
    return tested(
      `state ${condition.state.join(" or ")}`,
      [status],
      ({ state, disabled }) => knownStatus(state, disabled),
      (word) => wanted.has(word),
    );
  }
  if ("offline" in condition) {
    const wanted = condition.offline ? "disconnected" : "online";
    return tested(
      condition.offline ? "offline" : "online",
      [status],
      ({ state, disabled }) => {
        const known = knownStatus(state, disabled);
        return known === null || known === "disconnected" ? known : "online";
      },
      (word) => word === wanted,
    );
  }
  if ("reason" in condition) {
    const wanted: readonly string[] = condition.reason;
    return tested(
      `reason ${wanted.join(" or ")}`,
      [reason, status],
      ({ state, disabled }) => (knownStatus(state, disabled) === null ? null : (state?.reason?.code ?? "none")),
      (code) => wanted.includes(code),
    );
  }
  if ("pool" in condition) return compilePool(condition, around);
  if ("device" in condition) {
    const wanted: readonly string[] = condition.device;
    return tested(
      `device ${wanted.join(" or ")}`,
      [devices],
      ({ state }) => {
        const reading = state === null ? null : current(state);
        if (reading === null || reading.devices.length === 0) return null;
        return reading.devices.find(({ status: each }) => wanted.includes(each))?.status ?? "enabled";
      },
      (word) => wanted.includes(word),
    );
  }
  if ("topic" in condition) {
    const value = () => around.topic(condition);
    if (condition.equals !== undefined) {
      const { equals } = condition;
      return tested(
        `${condition.topic} equals ${String(equals)}`,
        null,
        value,
        (found) => String(found) === String(equals),
      );
    }
    const read = () => {
      const found = value();
      const number =
        typeof found === "number"
          ? found
          : typeof found === "string" && found.trim() !== ""
            ? Number(found)
            : Number.NaN;
      return Number.isFinite(number) ? number : null;
    };
    return bounded(condition, condition.topic, read, () => 1, null);
  }
  if ("weekly" in condition) {
    const { from, to, days } = condition.weekly;
    const text = `${days === undefined ? "" : `${days.join(",")} `}${from} to ${to}`;
    return { text, inputs: null, test: () => around.weekly(condition), value: () => around.weekly(condition) };
  }
  const text =
    "event" in condition
      ? condition.event
      : "hook" in condition
        ? `web hook ${condition.hook}`
        : "time" in condition
          ? `at ${condition.time}`
          : `cron ${condition.cron}`;
  const happens = ({ id }: Subject): boolean => around.happens(condition, id);
  return { text, inputs: null, test: happens, value: happens };
}

/** Lower case; null if unknown: not read yet, or the last read failed. */
function knownStatus(state: RigState | null, disabled: boolean): string | null {
  if (state === null) return null;
  if (disabled) return "disabled";
  if (isUnread(state) || (state.reading !== null && state.missed > 0)) return null;
  return statusOf(state, false).toLowerCase();
}

function compileReading(condition: ConditionOf<"reading">, around: Surroundings): Test {
  const { reading: name, of } = condition;
  if (name === "mode" || name === "algorithm" || name === "mining" || name === "locate") {
    const read = rigWords[name];
    return tested(
      `${name} equals ${String(condition.equals)}`,
      [wordInputs[name]],
      ({ state }) => {
        const reading = state === null ? null : current(state);
        return reading === null || state === null ? null : read(reading, state);
      },
      (word) => String(word) === String(condition.equals),
    );
  }
  const read = numberRead(name, around);
  const inputs = [name, ...(of === undefined || of === "median1h" ? [] : [of])].map((each) => numberInputs[each]);
  const known = of === "median1h" || inputs.includes(undefined) ? null : inputs.flatMap((input) => input ?? []);
  if (condition.equals !== undefined) {
    const { equals } = condition;
    return tested(`${name} equals ${String(equals)}`, known, read, (number) => number === Number(equals));
  }
  const whole: NumberRead =
    of === undefined ? () => 1 : of === "median1h" ? ({ id }) => around.median(id, name) : numberRead(of, around);
  return bounded(condition, name, read, whole, known, of);
}

function numberRead(name: NumberReading, around: Surroundings): NumberRead {
  if (!isRigNumber(name)) return ({ id }) => around.outside(id, name);
  const read = rigNumbers[name];
  return ({ state }) => {
    if (state === null) return null;
    const reading = current(state);
    return reading === null ? null : read(reading, state);
  };
}

function compilePool({ pool, wanted }: ConditionOf<"pool">, around: Surroundings): Test {
  const read = ({ state }: Subject): string | null => {
    const reading = state === null ? null : current(state);
    const own = reading?.pools.filter(({ devFee }) => !devFee) ?? [];
    if (own.length === 0) return null;
    if (pool === "dead") return own.some(({ status: each }) => each === "enabled") ? "alive" : "dead";
    const active = own.find((each) => each.active);
    const wantedPools = around.pools(wanted);
    if (active === undefined || wantedPools.length === 0) return null;
    return wantedPools.some((each) => isSamePool(each, active)) ? "wanted" : "wrong";
  };
  const text = pool === "dead" ? "pool dead" : `pool none of ${wanted?.join(", ") ?? "those known here"}`;
  return tested(text, pool === "dead" ? [pools] : null, read, (word) => word === pool);
}

/** Rigs add their own name to the worker: `account.rig7`. */
function isSamePool(wanted: { readonly url: string; readonly worker: string }, { url, worker }: PoolReading): boolean {
  if (hostAndPortOf(wanted.url) !== hostAndPortOf(url)) return false;
  return wanted.worker === "" || worker === wanted.worker || worker.startsWith(`${wanted.worker}.`);
}

/** Null where the value is unknown. */
const tested = <T extends Exclude<Value, null>>(
  text: string,
  inputs: readonly Input[] | null,
  value: (subject: Subject) => T | null,
  holds: (value: T) => boolean,
): Test => ({
  text,
  inputs,
  value,
  test: (subject) => {
    const found = value(subject);
    return found === null ? null : holds(found);
  },
});

interface Bounds {
  readonly above?: number | string | undefined;
  readonly below?: number | string | undefined;
  readonly clear?: number | string | undefined;
}

/** Compares a number with a bound; a bound written as a share is a share of `whole`. */
function bounded(
  { above, below, clear }: Bounds,
  name: string,
  read: NumberRead,
  whole: NumberRead,
  inputs: readonly Input[] | null,
  of?: string,
): Test {
  const bound = above ?? below ?? 0;
  const isAbove = above !== undefined;
  const [enter, leave] = [amountOf(bound), amountOf(clear ?? bound)];
  return {
    text: `${name} ${isAbove ? "above" : "below"} ${bound}${of === undefined ? "" : ` of ${of}`}`,
    inputs,
    value: read,
    test: (subject, active) => {
      const value = read(subject);
      if (value === null) return null;
      const all = whole(subject);
      if (all === null || all < 0) return null;
      const limit = (active ? leave : enter) * all;
      return isAbove ? value > limit : value < limit;
    },
  };
}
