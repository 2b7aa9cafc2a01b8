import { invalid, RigbridgeError } from "../../contract/problems.ts";
import type { Range } from "../../contract/ranges.ts";
import type { Control, ControlKey, ControlValue } from "../../contract/readings.ts";
import { switchWord } from "../../contract/triggers.ts";
import { type Brief, briefOf, type RigState } from "../../fleet/state.ts";
import type { Reading } from "../../link/driver.ts";
import { detail } from "../../messages/detail.ts";
import type { PowerSteps } from "../commands/actions.ts";
import { reports } from "../commands/control-value.ts";
import { type Setting, type Step, setControl, switchMining, withSetting } from "../commands/steps.ts";
import type { PowerControl, PowerHolder } from "../miners/power-control.ts";
import { isSameSetting, LearnedRungs } from "./learned-rungs.ts";
import { isOver, MaximumChecks, type PowerMaxima } from "./maximum-checks.ts";
import { isMining, ladderOf, type PowerKnowledge, type PowerLadder, powerTarget, wattsOf } from "./power-ladder.ts";
import { learnedDraw, rangeOf } from "./power-memory.ts";
import { PowerMemoryBook, type PowerMemoryOptions } from "./power-memory-book.ts";
import { free, type Permission, type PowerRules, permissionFor, wears } from "./power-permission.ts";
import { type CurtailedBy, type PowerCommand, powerHold } from "./precedence.ts";

/** Inputs of a ladder; `reading` is null if the rig was not read. */
interface Ladderable {
  readonly controls: readonly Control[];
  readonly reading: Brief | null;
}

export interface PowerTargetOptions extends PowerMemoryOptions {
  /** `ofLoop`: rules of the miner's loop, which take precedence over the general ones. */
  readonly rulesOf: (minerId: number, ofLoop: Partial<PowerRules>) => PowerRules;
  /** W as declared by the owner; null if not declared. */
  readonly nameplateOf: (minerId: number) => number | null;
}

/** Maximum settings for one target: one of each kind. */
const settingsAtMost = 3;

/** Controls that get their earlier values back when a rig is started. */
const restoredControls: readonly ControlKey[] = ["mode", "power_limit", "throttle"];

/**
 * The power of each rig as one number: the possible values, the settings for each, and whether a change is allowed now.
 */
export class PowerTargets implements PowerControl, PowerSteps {
  readonly #options: PowerTargetOptions;
  readonly #memory: PowerMemoryBook;
  #curtailed: (minerId: number) => CurtailedBy | null = () => null;
  #loopRules: ReadonlyMap<number, Partial<PowerRules>> = new Map();
  readonly #learned = new LearnedRungs();
  readonly #maximum = new MaximumChecks((minerId, powered) => ladderOf(powered, this.#knowledge(minerId)));

  constructor(options: PowerTargetOptions) {
    this.#options = options;
    this.#memory = new PowerMemoryBook(options);
  }

  /** Sets the rules that loops have for their miners. */
  setLoopRules(rules: ReadonlyMap<number, Partial<PowerRules>>): void {
    this.#loopRules = rules;
  }

  /** Sets the limits of rooms, which apply to everyone. */
  useMaxima(maxima: PowerMaxima): void {
    this.#maximum.use(maxima);
  }

  /** Null while it is unknown how the rig's power can be controlled. */
  ladder(minerId: number, { controls, reading }: Ladderable): PowerLadder | null {
    return ladderOf({ controls, mining: reading === null ? null : miningOf(reading) }, this.#knowledge(minerId));
  }

  /** The control `power_target`; empty if the rig's power cannot be controlled. */
  control(minerId: number, state: Pick<RigState, "controls" | "reading">): Control[] {
    const ladder = this.ladder(minerId, state);
    const control = powerTarget(ladder, { controls: state.controls, mining: null }, this.#range(minerId, ladder));
    return control.map((each) => this.#maximum.limited(minerId, each));
  }

  /** Sets which curtailment holds the power of a rig down. */
  useCurtailments(curtailed: (minerId: number) => CurtailedBy | null): void {
    this.#curtailed = curtailed;
  }

  /** W left to a miner under the limit of its room; null without a limit. */
  leftFor(minerId: number): number | null {
    return this.#maximum.leftFor(minerId);
  }

  /** The last command about a rig's power; null if it is older than the memory. */
  lastCommand(minerId: number): PowerCommand | null {
    return this.#memory.lastCommand(minerId);
  }

  rememberCommand(minerId: number, command: PowerCommand): void {
    this.#memory.noteCommand(minerId, command);
  }

  /** What overrides loops on a rig's power. */
  holder(minerId: number, state: RigState): PowerHolder | null {
    const curtailed = this.#curtailed(minerId);
    if (curtailed !== null) return { what: `curtailment ${curtailed.id} (${curtailed.reason})`, until: null };
    const last = this.lastCommand(minerId);
    const reading = last === null ? null : briefOf(state);
    if (last === null || reading === null) return null;
    const wish = { rank: "loop", stops: false } as const;
    const hold = powerHold(last, wish, miningOf(reading) !== false, this.#options.now());
    return hold === null || hold.by === "rig" ? null : { what: last.who, until: hold.until };
  }

  /** Processes a new reading of a rig. */
  observe(minerId: number, reading: Brief): void {
    const memory = this.#memory.of(minerId);
    const updated = { ...memory, ...this.#memory.turned(memory, miningOf(reading)), ...learnedDraw(memory, reading) };
    const { full, modes } = updated;
    const ladder = ladderOf(
      { controls: reading.controls, mining: miningOf(reading) },
      { full: full ?? this.#options.nameplateOf(minerId), modes },
    );
    this.#maximum.observe(minerId, presentWatts(ladder, reading));
    const range = rangeOf(ladder, memory.range);
    const rungs = this.#learned.after(minerId, reading, ladder?.present ?? null, memory.rungs, this.#options.now());
    this.#memory.noteRead(minerId, { ...updated, range, rungs });
  }

  /**
   * The settings with known hash rate and draw, including a stop where the rig can be stopped, and the present one;
   * undefined if its power cannot be controlled.
   */
  rungs(minerId: number, state: Pick<RigState, "controls" | "reading">): KnownRungs | undefined {
    const ladder = this.ladder(minerId, state);
    const { reading } = state;
    if (ladder === null || reading === null) return undefined;
    const { algorithm } = reading.readings;
    const known = this.#memory.of(minerId).rungs.filter(
      // A stopped rig may not report its algorithm; all rungs are for its last one.
      (rung) => (algorithm === null || rung.algorithm === algorithm) && isOnLadder(rung.watts, ladder),
    );
    const { present } = ladder;
    const now = present === null ? undefined : known.find(({ watts }) => isSameSetting(watts, present));
    return {
      rungs: [...(ladder.stops ? [{ watts: 0, draw: 0, hashrate: 0 }] : []), ...known],
      present: now?.watts ?? present,
    };
  }

  /**
   * Limits a rig to this power, or sets it to one of its few powers by label; stops it for 0 and below its lowest
   * power.
   */
  steps(minerId: number, wanted: number | string, path = "value"): Step[] {
    const prepare: Step = (reading) => {
      const ladder = this.#ladderFor(minerId, reading);
      const watts = wattsOf(wanted, ladder, path);
      const stops = watts < Math.floor(ladder.lowest);
      const highest = Math.max(Math.ceil(ladder.highest), this.#range(minerId, ladder)?.max ?? 0);
      if (watts > highest) throw invalid(path, detail("control.upTo", { watts: Math.floor(highest) }));
      const permission = this.permission(minerId, reading, watts);
      if (!permission.now) throw new RigbridgeError("not.possible", permission.why);
      const mining = miningOf(reading);
      const granted = ladder.choose(watts).watts;
      if (!stops)
        return mining === false ? this.#maximum.granting(minerId, granted, this.#switch(minerId, true)(reading)) : "";
      if (ladder.stops) return mining === false ? "The rig is stopped already" : this.#switch(minerId, false)(reading);
      throw new RigbridgeError("not.possible", detail("command.noStop", { watts: ladder.lowest }));
    };
    const adjust: Step = (reading) => {
      const ladder = this.#ladderFor(minerId, reading);
      const watts = wattsOf(wanted, ladder, path);
      if (watts < Math.floor(ladder.lowest)) return "";
      const choice = ladder.choose(watts);
      const [setting] = choice.settings;
      if (setting === undefined) return "";
      const write = this.#set(minerId, setting.key, setControl(setting.key, String(setting.value)))(reading);
      return this.#maximum.granting(minerId, choice.watts, write);
    };
    return [prepare, ...Array<Step>(settingsAtMost).fill(adjust)];
  }

  /** Stops a rig and remembers its settings. */
  stop(minerId: number): Step[] {
    return [this.#switch(minerId, false, switchMining(false))];
  }

  /** Starts a rig and restores the settings from before the stop that it no longer has. */
  start(minerId: number): Step[] {
    return [
      this.#maximum.startable(minerId, this.#switch(minerId, true, switchMining(true))),
      ...restoredControls.map((key) => this.#restore(minerId, key)),
      ...this.#within(minerId),
    ];
  }

  /** Sets one control; the value is checked against the rig's reading. */
  setting(minerId: number, key: string, text: string, path?: string): Step[] {
    if (key === "power_target") return this.steps(minerId, text, path);
    const step = setControl(key, text, path);
    if (key === "mining" && switchWord(text) !== false)
      return [this.#maximum.startable(minerId, this.#switch(minerId, true, step)), ...this.#within(minerId)];
    if (key === "mining") return [this.#switch(minerId, false, step)];
    const set = this.#set(minerId, key, step);
    return [isPower(key) ? this.#maximum.checked(minerId, key, text, set) : set];
  }

  /** W that a rig takes after these settings: what it takes now if they do not change that; null if it is not known. */
  powerAfter(minerId: number, reading: Reading, settings: readonly Setting[]): number | null {
    const { power } = reading.readings;
    const after = settings.reduce(withSetting, reading);
    const [was, is] = [reading, after].map((each) => ({ controls: each.controls, mining: miningOf(each) }));
    if (was === undefined || is === undefined || !settings.some(({ key }) => isPower(key) || key === "mining"))
      return power;
    if (is.mining === false) return was.mining === false ? power : 0;
    const known = this.#knowledge(minerId);
    const [before, then] = [was, is].map((each) => ladderOf(each, known)?.present ?? null);
    if (then === null || then === undefined) return null;
    if (before === then) return power;
    // A rig may take less than it is allowed to.
    return power !== null && before !== null && then < (before ?? 0) ? Math.min(power, then) : then;
  }

  /** Whether `minOn`, `minOff` and `changesPerHour` allow setting the rig to this power now. */
  permission(minerId: number, reading: Brief, watts: number): Permission {
    const mining = miningOf(reading);
    const ladder = ladderOf({ controls: reading.controls, mining }, this.#knowledge(minerId));
    const most = this.leftFor(minerId);
    if (most !== null && ladder !== null) {
      const stops = watts < Math.floor(ladder.lowest);
      const why = stops ? null : this.#maximum.refusal(minerId, ladder.choose(watts).watts);
      if (why !== null) return { now: false, from: Number.POSITIVE_INFINITY, why };
      // A limit applies at once, like a fuse.
      if (isOver(ladder.present ?? 0, most)) return free;
    }
    if (this.#curtailed(minerId)?.urgent === true && ladder?.present != null && watts < ladder.present) return free;
    return permissionFor({
      watts,
      ladder,
      mining,
      controls: reading.controls,
      rules: this.#rulesOf(minerId),
      memory: this.#memory.of(minerId),
      now: this.#options.now(),
    });
  }

  /** Whether this power needs a change that lasts or restarts mining; such changes are counted. */
  wears(minerId: number, reading: Brief, watts: number): boolean {
    const settings = this.ladder(minerId, { controls: reading.controls, reading })?.choose(watts).settings;
    return settings?.some(({ key }) => wears(reading.controls, key)) ?? false;
  }

  /** The changes of the last hour, epoch ms, and how many are allowed. */
  changes(minerId: number): { readonly made: readonly number[]; readonly atMost: number } {
    return { made: this.#memory.changes(minerId), atMost: this.#rulesOf(minerId).changesPerHour };
  }

  /** W at its present lasting settings, not throttled, as measured or declared; null: neither. */
  fullPower(minerId: number): number | null {
    return this.#knowledge(minerId).full;
  }

  /** The declared draw is used until one is measured. */
  #knowledge(minerId: number): PowerKnowledge {
    const { full, modes } = this.#memory.of(minerId);
    return { full: full ?? this.#options.nameplateOf(minerId), modes };
  }

  /** The range that front ends show; null for a choice. */
  #range(minerId: number, ladder: PowerLadder | null): Range | null {
    return rangeOf(ladder, this.#memory.of(minerId).range);
  }

  #rulesOf(minerId: number): PowerRules {
    return this.#options.rulesOf(minerId, this.#loopRules.get(minerId) ?? {});
  }

  #ladderFor(minerId: number, reading: Reading): PowerLadder {
    const ladder = ladderOf({ controls: reading.controls, mining: miningOf(reading) }, this.#knowledge(minerId));
    if (ladder === null) throw new RigbridgeError("control.absent", detail("control.noPower"));
    return ladder;
  }

  #switch(minerId: number, on: boolean, step: Step = setControl("mining", String(on))): Step {
    return (reading) => {
      const write = step(reading);
      if (typeof write === "string") return write;
      const worked = on ? {} : { before: settingsOf(reading.controls) };
      const noting = this.#memory.noting(minerId, write, () => ({ ...worked, ...this.#memory.turnedNow(on) }));
      return on ? noting : this.#maximum.granting(minerId, 0, noting);
    };
  }

  #set(minerId: number, key: string, step: Step): Step {
    return (reading) => {
      const write = step(reading);
      const isKept = typeof write === "string" || !isPower(key) || !wears(reading.controls, key);
      return isKept ? write : this.#memory.notingChange(minerId, write);
    };
  }

  #restore(minerId: number, key: ControlKey): Step {
    return (reading) => {
      const value = this.#memory.of(minerId).before[key];
      const control = reading.controls.find((each) => each.key === key);
      if (value === undefined || control === undefined || reports(control, value)) return "";
      if (this.#maximum.exceeds(minerId, reading, { key, value })) return "";
      try {
        return setControl(key, String(value))(reading);
      } catch (error) {
        // The rig no longer accepts the earlier value.
        if (error instanceof RigbridgeError && error.code === "input.invalid") return "";
        throw error;
      }
    };
  }

  /** Lowers a started rig to the limit of its room. */
  #within(minerId: number): Step[] {
    const set = ({ key, value }: Setting): Step => this.#set(minerId, key, setControl(key, String(value)));
    return Array<Step>(settingsAtMost).fill(this.#maximum.within(minerId, set));
  }
}

const miningOf = ({ controls, readings }: Brief): boolean | null => isMining(controls, readings.mining);

/** Settings with known figures. W; hash rate in H/s. */
export interface KnownRungs {
  readonly rungs: readonly { readonly watts: number; readonly draw: number; readonly hashrate: number }[];
  readonly present: number | null;
}

/** Whether the rig still has this setting. */
const isOnLadder = (watts: number, { levels, lowest, highest }: PowerLadder): boolean =>
  levels === null
    ? watts >= Math.floor(lowest) && watts <= Math.ceil(highest)
    : levels.some((level) => isSameSetting(level.watts, watts));

/** W of its settings, or its draw where they are unknown. */
export const presentWatts = (ladder: PowerLadder | null, { readings }: Brief): number =>
  ladder?.present ?? readings.power ?? 0;

const isPower = (key: string): boolean => restoredControls.some((each) => each === key);

function settingsOf(controls: readonly Control[]): Record<string, ControlValue> {
  const settings: Record<string, ControlValue> = {};
  for (const { key, value } of controls) if (restoredControls.includes(key) && value !== null) settings[key] = value;
  return settings;
}
