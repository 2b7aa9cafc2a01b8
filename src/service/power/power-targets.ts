import { fullShare, settledSeconds } from "../../contract/efficiency.ts";
import { invalid, RigbridgeError } from "../../contract/problems.ts";
import { quantityIn } from "../../contract/quantity.ts";
import { type Range, widened } from "../../contract/ranges.ts";
import type { Control, ControlKey, ControlValue } from "../../contract/readings.ts";
import { switchWord } from "../../contract/triggers.ts";
import { type Brief, briefOf, type RigState } from "../../fleet/state.ts";
import type { Reading } from "../../link/driver.ts";
import type { PowerMemories, PowerMemory, StoredMiner } from "../../store/index.ts";
import type { PowerSteps } from "../commands/actions.ts";
import { controlValue, reports } from "../commands/control-value.ts";
import { type RigWrite, type Step, setControl, switchMining } from "../commands/steps.ts";
import type { PowerControl, PowerHolder } from "../miners/miner-registry.ts";
import { isSameSetting, LearnedRungs } from "./learned-rungs.ts";
import {
  isMining,
  ladderOf,
  type PowerKnowledge,
  type PowerLadder,
  powerTarget,
  type Setting,
} from "./power-ladder.ts";
import { type PowerCommand, powerHold } from "./precedence.ts";

/** What a ladder is made from; `reading` is null if the rig was not read. */
interface Ladderable {
  readonly controls: readonly Control[];
  readonly reading: Brief | null;
}

/** Limits on how often the power of a rig changes; s. */
export interface PowerRules {
  /** Minimum time that it mines before a stop, and that it is stopped before a start. */
  readonly minOn: number;
  readonly minOff: number;
  /** Counts changes that last or restart mining; throttling does not wear the rig. */
  readonly changesPerHour: number;
}

/** A rig's own rules before those for all. */
export const powerRules = (all: PowerRules, own: StoredMiner["power"] = {}): PowerRules => ({
  minOn: own.minOn ?? all.minOn,
  minOff: own.minOff ?? all.minOff,
  changesPerHour: own.changesPerHour ?? all.changesPerHour,
});

/** Whether a power may be set now; if not, when it may (epoch ms), and why not now. */
export type Permission = { readonly now: true } | { readonly now: false; readonly from: number; readonly why: string };

/** The highest power of rigs by the maximum of the room that they are in. */
export interface PowerMaxima {
  /** Of a miner, with all that its room may take; null without a maximum. */
  ofRoom(minerId: number): { readonly room: string; readonly watts: number } | null;
  /** W that the maximum leaves to this miner beside the others of its room; null without a maximum. */
  leftFor(minerId: number): number | null;
  /** A miner is being set to so many watts: that counts for the others before a read shows it. */
  grant(minerId: number, watts: number): void;
  /** A read shows a miner set to so many watts. */
  observe(minerId: number, watts: number): void;
}

export interface PowerTargetOptions {
  readonly memoriesOf: (minerId: number) => PowerMemories;
  /** Epoch ms. */
  readonly now: () => number;
  /** `ofLoop`: rules of the miner's loop, which come before the general ones. */
  readonly rulesOf: (minerId: number, ofLoop: Partial<PowerRules>) => PowerRules;
  /** W as declared by the owner; null if not declared. */
  readonly nameplateOf: (minerId: number) => number | null;
}

const hour = 3_600_000;
/** A measured draw must differ from the stored one by more than this to be stored; W, and a share of it. */
const tolerance = { watts: 10, share: 0.03 };
/** Settings that one target takes at most: one of each kind. */
const settingsAtMost = 3;

/** Controls that get their earlier values back when a rig is started. */
const restoredControls: readonly ControlKey[] = ["mode", "power_limit", "throttle"];

/**
 * The power of each rig as one number: the possible values, the settings for each, and whether a change is allowed now.
 * Remembers the settings of a rig before a stop, and its measured draw.
 */
export class PowerTargets implements PowerControl, PowerSteps {
  readonly #options: PowerTargetOptions;
  #loopRules: ReadonlyMap<number, Partial<PowerRules>> = new Map();
  readonly #learned = new LearnedRungs();
  #maxima: PowerMaxima | null = null;

  constructor(options: PowerTargetOptions) {
    this.#options = options;
  }

  /** Takes the rules that loops have for their miners. */
  setLoopRules(rules: ReadonlyMap<number, Partial<PowerRules>>): void {
    this.#loopRules = rules;
  }

  /** Takes the maxima of rooms, which hold for everybody. */
  useMaxima(maxima: PowerMaxima): void {
    this.#maxima = maxima;
  }

  /** null while it is unknown how the rig's power could be controlled. */
  ladder(minerId: number, { controls, reading }: Ladderable): PowerLadder | null {
    return ladderOf({ controls, mining: reading === null ? null : miningOf(reading) }, this.#knowledge(minerId));
  }

  /** The control `power_target`, none if the power of the rig cannot be controlled. */
  control(minerId: number, state: Pick<RigState, "controls" | "reading">): Control[] {
    const ladder = this.ladder(minerId, state);
    const control = powerTarget(ladder, { controls: state.controls, mining: null }, this.#range(minerId, ladder));
    const most = this.#maxima?.ofRoom(minerId)?.watts ?? null;
    return most === null ? control : control.map((each) => limited(each, most));
  }

  /** W that the maximum of its room leaves to a miner; null without a maximum. */
  leftFor(minerId: number): number | null {
    return this.#maxima?.leftFor(minerId) ?? null;
  }

  /** The last command about a rig's power; null if it is older than what is remembered. */
  lastCommand(minerId: number): PowerCommand | null {
    const { command } = this.#memory(minerId);
    return command && { ...command, open: false };
  }

  rememberCommand(minerId: number, { at, by, who, stops }: PowerCommand): void {
    const memory = { ...this.#memory(minerId), command: { at, by, who, stops } };
    this.#options.memoriesOf(minerId).save(minerId, memory);
  }

  /** Who holds a rig's power against loops. */
  holder(minerId: number, state: RigState): PowerHolder | null {
    const last = this.lastCommand(minerId);
    const reading = last === null ? null : briefOf(state);
    if (last === null || reading === null) return null;
    const wish = { rank: "loop", stops: false } as const;
    const hold = powerHold(last, wish, miningOf(reading) !== false, this.#options.now());
    return hold === null || hold.by === "rig" ? null : { what: last.who, until: hold.until };
  }

  /** Takes a new reading of a rig. */
  observe(minerId: number, reading: Brief): void {
    const memory = this.#memory(minerId);
    const updated = { ...memory, ...this.#turned(memory, miningOf(reading)), ...learned(memory, reading) };
    const { full, modes } = updated;
    const ladder = ladderOf(
      { controls: reading.controls, mining: miningOf(reading) },
      { full: full ?? this.#options.nameplateOf(minerId), modes },
    );
    this.#maxima?.observe(minerId, presentWatts(ladder, reading));
    const range = rangeOf(ladder, memory.range);
    const rungs = this.#learned.after(minerId, reading, ladder?.present ?? null, memory.rungs, this.#options.now());
    const learnt = { ...updated, range, rungs };
    if (!isSame(memory, learnt)) this.#options.memoriesOf(minerId).save(minerId, learnt);
  }

  /**
   * The settings whose hash rate and draw are known, with a stop where the rig can be stopped, and the present one;
   * undefined if its power cannot be controlled.
   */
  rungs(minerId: number, state: Pick<RigState, "controls" | "reading">): KnownRungs | undefined {
    const ladder = this.ladder(minerId, state);
    const { reading } = state;
    if (ladder === null || reading === null) return undefined;
    const { algorithm } = reading.readings;
    const known = this.#memory(minerId).rungs.filter(
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
   * Limits a rig to so many watts, or sets it to one of its few powers by label; stops it for 0 and for less than its
   * lowest power.
   */
  steps(minerId: number, wanted: number | string, path = "value"): Step[] {
    const prepare: Step = (reading) => {
      const ladder = this.#ladderFor(minerId, reading);
      const watts = wattsOf(wanted, ladder, path);
      const stops = watts < Math.floor(ladder.lowest);
      const highest = Math.max(Math.ceil(ladder.highest), this.#range(minerId, ladder)?.max ?? 0);
      if (watts > highest) throw invalid(path, `"power_target" takes up to ${Math.floor(highest)} W`);
      const permission = this.permission(minerId, reading, watts);
      if (!permission.now) throw new RigbridgeError("not.possible", permission.why);
      const mining = miningOf(reading);
      const granted = ladder.choose(watts).watts;
      if (!stops) return mining === false ? this.#granting(minerId, granted, this.#switch(minerId, true)(reading)) : "";
      if (ladder.stops) return mining === false ? "The rig is stopped already" : this.#switch(minerId, false)(reading);
      throw new RigbridgeError("not.possible", `This rig cannot be stopped, and takes ${ladder.lowest} W at least`);
    };
    const adjust: Step = (reading) => {
      const ladder = this.#ladderFor(minerId, reading);
      const watts = wattsOf(wanted, ladder, path);
      if (watts < Math.floor(ladder.lowest)) return "";
      const choice = ladder.choose(watts);
      const [setting] = choice.settings;
      if (setting === undefined) return "";
      const write = this.#set(minerId, setting.key, setControl(setting.key, String(setting.value)))(reading);
      return this.#granting(minerId, choice.watts, write);
    };
    return [prepare, ...Array<Step>(settingsAtMost).fill(adjust)];
  }

  /** Stops a rig, and remembers what it worked at. */
  stop(minerId: number): Step[] {
    return [this.#switch(minerId, false, switchMining(false))];
  }

  /** Starts a rig, and sets again what it worked at before it was stopped and does not show now. */
  start(minerId: number): Step[] {
    return [
      this.#startable(minerId, this.#switch(minerId, true, switchMining(true))),
      ...restoredControls.map((key) => this.#restore(minerId, key)),
      ...this.#within(minerId),
    ];
  }

  /** Sets one control; whether it takes the value is checked against the rig's reading. */
  setting(minerId: number, key: string, text: string, path?: string): Step[] {
    if (key === "power_target") return this.steps(minerId, text, path);
    const step = setControl(key, text, path);
    if (key === "mining" && switchWord(text) !== false)
      return [this.#startable(minerId, this.#switch(minerId, true, step)), ...this.#within(minerId)];
    if (key === "mining") return [this.#switch(minerId, false, step)];
    return [this.#checked(minerId, key, text, this.#set(minerId, key, step))];
  }

  /** Whether `minOn`, `minOff` and `changesPerHour` allow setting the rig to this power now. */
  permission(minerId: number, reading: Brief, watts: number): Permission {
    const { now } = this.#options;
    const { minOn, minOff, changesPerHour } = this.#rulesOf(minerId);
    const { startedAt, stoppedAt, changes } = this.#memory(minerId);
    const mining = miningOf(reading);
    const ladder = ladderOf({ controls: reading.controls, mining }, this.#knowledge(minerId));
    const stops = ladder !== null && watts < Math.floor(ladder.lowest);
    const stopped = mining === false;
    const most = this.leftFor(minerId);
    if (most !== null && ladder !== null) {
      if (!stops && ladder.choose(watts).watts > most + rounding)
        return { now: false, from: Number.POSITIVE_INFINITY, why: this.#overMaximum(minerId, most) };
      // A maximum holds at once, as a fuse does.
      if ((ladder.present ?? 0) > most + rounding) return free;
    }
    const waitUntil = (since: number | null, seconds: number, what: string): Permission => {
      const from = (since ?? Number.NEGATIVE_INFINITY) + seconds * 1000;
      return now() >= from
        ? { now: true }
        : { now: false, from, why: `${what}; wait ${durationText(from - now())} more` };
    };
    if (stops && !stopped)
      return waitUntil(startedAt, minOn, `The rig has not mined for ${durationText(minOn * 1000)} yet`);
    if (stops) return { now: true };
    const started = stopped
      ? waitUntil(stoppedAt, minOff, `The rig has not been stopped for ${durationText(minOff * 1000)} yet`)
      : free;
    if (!started.now) return started;
    const settings = ladder?.choose(watts).settings ?? [];
    if (!stopped && !settings.some(({ key }) => wears(reading.controls, key))) return free;
    const within = changes.filter((at) => at > now() - hour);
    const oldest = within.at(-changesPerHour);
    return oldest === undefined
      ? free
      : waitUntil(oldest, 3600, `The rig's power was changed ${within.length} times within an hour`);
  }

  /** Whether this power takes a change that lasts or restarts mining; such changes are counted. */
  wears(minerId: number, reading: Brief, watts: number): boolean {
    const settings = this.ladder(minerId, { controls: reading.controls, reading })?.choose(watts).settings;
    return settings?.some(({ key }) => wears(reading.controls, key)) ?? false;
  }

  /** When those of the last hour were made, epoch ms, and how many there may be. */
  changes(minerId: number): { readonly made: readonly number[]; readonly atMost: number } {
    const { now } = this.#options;
    const made = this.#memory(minerId).changes.filter((at) => at > now() - hour);
    return { made, atMost: this.#rulesOf(minerId).changesPerHour };
  }

  /** The declared draw serves until a draw was measured. */
  #knowledge(minerId: number): PowerKnowledge {
    const { full, modes } = this.#memory(minerId);
    return { full: full ?? this.#options.nameplateOf(minerId), modes };
  }

  /** The range that front ends show; null for a choice. */
  #range(minerId: number, ladder: PowerLadder | null): Range | null {
    return rangeOf(ladder, this.#memory(minerId).range);
  }

  #rulesOf(minerId: number): PowerRules {
    return this.#options.rulesOf(minerId, this.#loopRules.get(minerId) ?? {});
  }

  #memory(minerId: number): PowerMemory {
    return this.#options.memoriesOf(minerId).get(minerId) ?? blank;
  }

  #ladderFor(minerId: number, reading: Reading): PowerLadder {
    const ladder = ladderOf({ controls: reading.controls, mining: miningOf(reading) }, this.#knowledge(minerId));
    if (ladder === null)
      throw new RigbridgeError(
        "control.absent",
        'This rig has no control "power_target": it has no control that changes its power, or its draw is not known yet. Declare powerNameplate for rigs that do not report their power',
      );
    return ladder;
  }

  #switch(minerId: number, on: boolean, step: Step = setControl("mining", String(on))): Step {
    return (reading) => {
      const write = step(reading);
      if (typeof write === "string") return write;
      const worked = on ? {} : { before: settingsOf(reading.controls) };
      const remembering = this.#remembering(minerId, write, () => ({ ...worked, ...this.#turnedNow(on) }));
      return on ? remembering : this.#granting(minerId, 0, remembering);
    };
  }

  #set(minerId: number, key: string, step: Step): Step {
    return (reading) => {
      const write = step(reading);
      if (typeof write === "string" || !isPower(key) || !wears(reading.controls, key)) return write;
      // Its draw at other settings is not known yet.
      return this.#remembering(minerId, write, () => ({ full: null, changes: this.#changed(minerId) }));
    };
  }

  #restore(minerId: number, key: ControlKey): Step {
    return (reading) => {
      const value = this.#memory(minerId).before[key];
      const control = reading.controls.find((each) => each.key === key);
      if (value === undefined || control === undefined || reports(control, value)) return "";
      if (this.#exceeds(minerId, reading, { key, value })) return "";
      try {
        return setControl(key, String(value))(reading);
      } catch (error) {
        // The rig no longer takes the earlier value.
        if (error instanceof RigbridgeError && error.code === "input.invalid") return "";
        throw error;
      }
    };
  }

  /** Refuses to start a rig whose lowest power is more than the maximum of its room leaves. */
  #startable(minerId: number, step: Step): Step {
    return (reading) => {
      const most = this.leftFor(minerId);
      const lowest = this.ladder(minerId, { controls: reading.controls, reading })?.lowest ?? 0;
      if (most !== null && miningOf(reading) === false && lowest > most + rounding)
        throw new RigbridgeError("not.possible", this.#overMaximum(minerId, most));
      return step(reading);
    };
  }

  /** Refuses a setting with which the rig would take more than the maximum of its room leaves. */
  #checked(minerId: number, key: string, text: string, step: Step): Step {
    return (reading) => {
      const control = reading.controls.find((each) => each.key === key);
      if (control !== undefined && isPower(key)) {
        const value = controlValue(control, text);
        if (this.#exceeds(minerId, reading, { key: control.key, value }))
          throw new RigbridgeError("not.possible", this.#overMaximum(minerId, this.leftFor(minerId) ?? 0));
      }
      return step(reading);
    };
  }

  /** Brings a rig that has started within the maximum of its room. */
  #within(minerId: number): Step[] {
    const step: Step = (reading) => {
      const most = this.leftFor(minerId);
      const ladder = this.ladder(minerId, { controls: reading.controls, reading });
      if (most === null || ladder === null || (ladder.present ?? 0) <= most + rounding) return "";
      const [setting] = ladder.choose(most).settings;
      if (setting === undefined) return "";
      return this.#set(minerId, setting.key, setControl(setting.key, String(setting.value)))(reading);
    };
    return Array<Step>(settingsAtMost).fill(step);
  }

  /** Whether a rig with this setting would take more than the maximum of its room leaves, and more than now. */
  #exceeds(minerId: number, { controls }: Reading, { key, value }: Setting): boolean {
    const most = this.leftFor(minerId);
    if (most === null) return false;
    const wattsWith = (some: readonly Control[]) =>
      ladderOf({ controls: some, mining: true }, this.#knowledge(minerId))?.present ?? 0;
    const watts = wattsWith(controls.map((each) => (each.key === key ? { ...each, value } : each)));
    return watts > most + rounding && watts > wattsWith(controls);
  }

  #overMaximum(minerId: number, left: number): string {
    const { room = "Its room", watts = 0 } = this.#maxima?.ofRoom(minerId) ?? {};
    const others = left < watts ? `, of which ${Math.max(0, Math.floor(left))} W are left` : "";
    return `${room} may take ${watts} W at most${others}; only an administrator can raise that`;
  }

  #granting(minerId: number, watts: number, write: RigWrite | string): RigWrite | string {
    if (typeof write === "string") return write;
    return {
      ...write,
      write: (rig, signal) => {
        this.#maxima?.grant(minerId, watts);
        return write.write(rig, signal);
      },
    };
  }

  /** Stores a change before the write is sent: a change that may have been made counts too. */
  #remembering<T extends RigWrite>(minerId: number, rigWrite: T, note: () => Partial<PowerMemory>): T {
    const write: RigWrite["write"] = (rig, signal) => {
      this.#options.memoriesOf(minerId).save(minerId, { ...this.#memory(minerId), ...note() });
      return rigWrite.write(rig, signal);
    };
    return { ...rigWrite, write };
  }

  #changed(minerId: number): number[] {
    const now = this.#options.now();
    return [...this.#memory(minerId).changes.filter((at) => at > now - hour), now];
  }

  #turnedNow(on: boolean): Partial<PowerMemory> {
    const now = this.#options.now();
    return on ? { mining: true, startedAt: now } : { mining: false, stoppedAt: now };
  }

  /** Manual starts and stops count for the minimum times as well. */
  #turned({ mining: before }: PowerMemory, mining: boolean | null): Partial<PowerMemory> {
    if (mining === null || mining === before) return {};
    return before === null ? { mining } : this.#turnedNow(mining);
  }
}

const miningOf = ({ controls, readings }: Brief): boolean | null => isMining(controls, readings.mining);

/** Settings that a rig is known at. W; hash rate in H/s. */
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

const free: Permission = { now: true };

/** W; sums of settings are not whole numbers. */
const rounding = 0.5;

/** A control of power without what is above a maximum. */
function limited(control: Control, most: number): Control {
  const { max, options } = control;
  if (options === null)
    return { ...control, max: max === null ? null : Math.min(max, Math.max(control.min ?? 0, most)) };
  const isWithin = (option: (typeof options)[number]) => typeof option === "string" || option.watts <= most + rounding;
  return { ...control, max: max === null ? null : Math.min(max, most), options: options.filter(isWithin) };
}

const blank: PowerMemory = {
  full: null,
  modes: {},
  before: {},
  mining: null,
  startedAt: null,
  stoppedAt: null,
  changes: [],
  command: null,
  range: null,
  rungs: [],
};

const isPower = (key: string): boolean => restoredControls.some((each) => each === key);

/** The known range, widened where the ladder goes beyond it. */
const rangeOf = (ladder: PowerLadder | null, known: Range | null): Range | null =>
  ladder === null || ladder.levels !== null ? known : widened(known, ladder.span);

/** Of a number, or of the label of one of the few powers that the rig has. Throws `input.invalid`. */
function wattsOf(wanted: number | string, { levels }: PowerLadder, path: string): number {
  if (typeof wanted === "number") return wanted;
  const level = levels?.find(({ label }) => label.toLowerCase() === wanted.toLowerCase());
  if (level !== undefined) return level.watts;
  if (switchWord(wanted) === false) return 0;
  const watts = quantityIn(wanted, "W");
  const labels = levels === null ? "" : ` or one of ${levels.map(({ label }) => label).join(", ")}`;
  const takes = `"power_target" takes watts${labels}; 0 stops the rig`;
  if (typeof watts === "string") throw invalid(path, `${takes}; the value ${watts}`);
  if (!(watts >= 0 && watts < 1_000_000)) throw invalid(path, takes);
  return watts;
}

const wears = (controls: readonly Control[], key: string): boolean => {
  const control = controls.find((each) => each.key === key);
  return control?.lasting === true || control?.restartsMining === true;
};

function settingsOf(controls: readonly Control[]): Record<string, ControlValue> {
  const settings: Record<string, ControlValue> = {};
  for (const { key, value } of controls) if (restoredControls.includes(key) && value !== null) settings[key] = value;
  return settings;
}

/** The draw of a rig that has settled and is not throttled, at its settings. */
function learned({ full, modes }: PowerMemory, { readings, controls }: Brief): Partial<PowerMemory> {
  const { power, mining, hashrate, hashrateExpected, uptime } = readings;
  const works = hashrate !== null && hashrate > 0 && hashrate >= fullShare * (hashrateExpected ?? 0);
  if (power === null || power <= 0 || mining === false || !works || uptime === null || uptime < settledSeconds)
    return {};
  const reported = (key: ControlKey) => controls.find((each) => each.key === key)?.value ?? null;
  const throttle = reported("throttle");
  if (typeof throttle === "number" && throttle < 100) return {};
  const mode = reported("mode");
  const moved = (known: number | null | undefined) =>
    known == null || Math.abs(known - power) > Math.max(tolerance.watts, tolerance.share * known);
  return {
    ...(moved(full) ? { full: Math.round(power) } : {}),
    ...(typeof mode === "string" && moved(modes[mode]) ? { modes: { ...modes, [mode]: Math.round(power) } } : {}),
  };
}

const isSame = (a: PowerMemory, b: PowerMemory): boolean =>
  a.full === b.full &&
  a.modes === b.modes &&
  a.range?.min === b.range?.min &&
  a.range?.max === b.range?.max &&
  a.mining === b.mining &&
  a.rungs === b.rungs &&
  a.startedAt === b.startedAt &&
  a.stoppedAt === b.stoppedAt;

/** A duration for messages, rounded up. */
function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
