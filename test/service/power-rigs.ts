import { type Control, type ControlValue, unknownReadings } from "../../src/contract/readings.ts";
import { range, toggle } from "../../src/link/controls.ts";
import type { Reading, Rig } from "../../src/link/driver.ts";
import { type Follower, mayRise } from "../../src/service/power/follow-law.ts";
import type { Demand } from "../../src/service/power/loop-rig.ts";
import { targetValue } from "../../src/service/power/loop-rig.ts";
import type { PowerRules } from "../../src/service/power/power-permission.ts";
import { PowerTargets } from "../../src/service/power/power-targets.ts";
import type { PowerMemories, PowerMemory } from "../../src/store/index.ts";
import { limits } from "../until.ts";

/** How a rig without sockets can be held to a power. W, %. */
export interface Making {
  readonly full: number;
  readonly limit?: { readonly min: number; readonly step: number };
  readonly throttle?: { readonly min: number };
  readonly modes?: readonly number[];
}

const lasting = { lasting: true, restartsMining: false, seconds: 10 };
const atOnce = { lasting: false, restartsMining: false, seconds: 1 };
/** s. */
const warmUp = 60;

/** A rig as the laws see it, with the real ladder, rules and steps over it; it draws what its settings say, and warms up. */
export class PureRig {
  readonly id: number;
  mining = false;
  startedAt = Number.NEGATIVE_INFINITY;
  /** Times of starts, stops and changes that last, epoch ms. */
  readonly starts: number[] = [];
  readonly stops: number[] = [];
  readonly changes: number[] = [];
  readonly #making: Making;
  readonly #settings = new Map<string, ControlValue>();
  readonly #targets: PowerTargets;
  readonly #now: () => number;

  constructor(id: number, making: Making, rules: PowerRules, now: () => number) {
    this.id = id;
    this.#making = making;
    this.#now = now;
    this.#settings.set("power_limit", making.full);
    this.#settings.set("throttle", 100);
    this.#settings.set("mode", String(making.full));
    const memories = memoriesOf(making.full);
    this.#targets = new PowerTargets({
      memoriesOf: () => memories,
      now,
      rulesOf: () => rules,
      nameplateOf: () => null,
    });
  }

  /** W of its settings while it mines. */
  get setting(): number {
    const { full, limit, throttle, modes } = this.#making;
    const most =
      limit === undefined ? (modes === undefined ? full : this.#number("mode")) : this.#number("power_limit");
    return throttle === undefined ? most : Math.min(most, (full * this.#number("throttle")) / 100);
  }

  /** W. */
  get draw(): number {
    return this.mining ? this.setting * Math.min(1, (this.#now() - this.startedAt) / 1000 / warmUp) : 0;
  }

  follower(): Follower {
    const reading = this.#reading();
    const { id } = this;
    const ladder = this.#targets.ladder(id, { controls: reading.controls, reading });
    if (ladder === null) throw new Error("it has no ladder");
    return {
      id,
      ladder,
      mining: this.mining,
      draw: this.draw,
      free: true,
      permits: (watts) => this.#targets.permission(id, reading, watts).now,
      wears: (watts) => this.#targets.wears(id, reading, watts),
      mayRise: mayRise(this.#targets.changes(id), this.#now()),
    };
  }

  /** By the steps of `power_target`, as the service takes them; throws what they throw. */
  async take({ watts }: Demand): Promise<void> {
    this.#targets.observe(this.id, this.#reading());
    for (const step of this.#targets.steps(this.id, targetValue(this.follower().ladder, watts))) {
      const telling = step(this.#reading());
      if (typeof telling !== "string") await telling.write(this.#rig(), AbortSignal.timeout(limits.waitMs));
      this.#targets.observe(this.id, this.#reading());
    }
  }

  #number(key: string): number {
    return Number(this.#settings.get(key));
  }

  #rig(): Rig {
    return {
      read: async () => this.#reading(),
      set: async (key, value) => this.#set(key, value),
      pools: {},
      close: () => undefined,
    };
  }

  #set(key: string, value: ControlValue): string {
    const now = this.#now();
    if (key === "mining") {
      (value === true ? this.starts : this.stops).push(now);
      this.mining = value === true;
      this.startedAt = now;
    } else {
      if (key !== "throttle") this.changes.push(now);
      this.#settings.set(key, value);
    }
    return "taken";
  }

  #controls(): Control[] {
    const { full, limit, throttle, modes } = this.#making;
    const watts = { unit: "W", max: full, value: this.#number("power_limit") } as const;
    const percent = { unit: "%", max: 100, step: 1, value: this.#number("throttle") } as const;
    const options = (modes ?? []).map((each) => ({ watts: each, label: String(each) }));
    return [
      toggle("mining", this.mining, atOnce),
      ...(limit === undefined ? [] : [range("power_limit", { ...watts, ...limit }, lasting)]),
      ...(throttle === undefined ? [] : [range("throttle", { ...percent, ...throttle }, atOnce)]),
      ...(modes === undefined ? [] : [modeOf(options, String(this.#settings.get("mode")))]),
    ];
  }

  #reading(): Reading {
    const { mining, draw } = this;
    return {
      identity: { make: null, model: null, firmware: null, mac: null, hostname: null, serial: null },
      readings: { ...unknownReadings(), mining, power: draw },
      pools: [],
      devices: [],
      controls: this.#controls(),
      poolActions: [],
      software: null,
      logInterval: null,
      workUtility: null,
    };
  }
}

const modeOf = (options: NonNullable<Control["options"]>, value: string): Control => ({
  ...toggle("mode", null, { ...lasting, restartsMining: true }),
  kind: "choice",
  options,
  value,
});

function memoriesOf(full: number): PowerMemories {
  const times = { startedAt: null, stoppedAt: null, changes: [] };
  const blank = { modes: {}, before: {}, mining: false, ...times, range: null, rungs: [], command: null };
  let memory: PowerMemory = { full, ...blank };
  return {
    get: () => memory,
    save: (_, next) => {
      // What it draws in full is known here once and for all.
      memory = { ...next, full };
    },
    forget: async () => undefined,
    flush: async () => undefined,
  };
}

/** How often a rig was switched against its rules; empty when it never was. */
export function breaches({ starts, stops, changes }: PureRig, { minOn, minOff, changesPerHour }: PowerRules): string[] {
  const tooEarly = (at: number, before: readonly number[], seconds: number) =>
    before.some((since) => since <= at && at - since < seconds * 1000);
  return [
    ...stops.filter((at) => tooEarly(at, starts, minOn)).map((at) => `stopped too early at ${at}`),
    ...starts.filter((at) => tooEarly(at, stops, minOff)).map((at) => `started too early at ${at}`),
    ...changes
      .filter((at) => changes.filter((other) => other > at - 3_600_000 && other <= at).length > changesPerHour)
      .map((at) => `changed too often at ${at}`),
  ];
}
