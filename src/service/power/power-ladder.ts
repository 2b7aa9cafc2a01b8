import { invalid } from "../../contract/problems.ts";
import { quantityIn } from "../../contract/quantity.ts";
import { type Range, wholeSteps } from "../../contract/ranges.ts";
import type { Control, ControlKey, ControlValue } from "../../contract/readings.ts";
import { switchWord } from "../../contract/triggers.ts";
import type { Setting } from "../commands/steps.ts";

/** Measured power of a rig, W. */
export interface PowerKnowledge {
  /** At its present lasting settings, not throttled; null until measured. */
  readonly full: number | null;
  /** In each of its modes, if the rig does not report that itself. */
  readonly modes: Readonly<Record<string, number>>;
}

/** The settings for a power, and the resulting power of the rig. */
export interface Choice {
  readonly watts: number;
  /** Settings to change, in order; empty if the rig already has them. */
  readonly settings: readonly Setting[];
}

export interface Level {
  readonly watts: number;
  readonly label: string;
}

/**
 * All powers that a rig can be set to with its controls: a fast throttle before lasting limits before modes before a
 * stop. Source: `power_target` in the additions of the API.
 */
export interface PowerLadder {
  /** Whether it can be stopped, for 0 W. */
  readonly stops: boolean;
  /** W of its settings while it mines; the draw may differ a little. */
  readonly lowest: number;
  readonly highest: number;
  /** The same for display, in whole steps where they follow a measured draw, which fluctuates. */
  readonly span: Range;
  /** The possible powers between them; null if every power is possible. */
  readonly levels: readonly Level[] | null;
  /** W of its present settings; 0 if it is stopped, null if unknown. */
  readonly present: number | null;
  /** The highest setting within this power, at least `lowest`. */
  choose(watts: number): Choice;
}

/** Inputs of a ladder. */
export interface Powered {
  readonly controls: readonly Control[];
  readonly mining: boolean | null;
}

/** Whether mining is on, if the rig reports that, else whether it mines: a rig that has just started does not hash yet. */
export function isMining(controls: readonly Control[], mining: boolean | null): boolean | null {
  const isOn = controls.find(({ key }) => key === "mining")?.value;
  return typeof isOn === "boolean" ? isOn : mining;
}

/** Null if the power of the rig cannot be controlled. */
export function ladderOf({ controls, mining }: Powered, known: PowerKnowledge): PowerLadder | null {
  const control = (key: ControlKey): Control | undefined => controls.find((each) => each.key === key);
  const stops = control("mining") !== undefined;
  const lasting =
    presetWay(control("mode")) ?? limitWay(control("power_limit")) ?? modeWay(control("mode"), known.modes);
  const full = lower(lasting?.present ?? null, known.full);
  const throttle = throttleWay(control("throttle"), full);
  const way = both(throttle, lasting) ?? (stops ? onWay(full, mining) : null);
  if (way === null) return null;
  return { ...way, stops, present: mining === false ? 0 : way.present };
}

/**
 * The control that front ends show: a range, or a choice if there are only a few powers. `known`: its previous range,
 * which stays while the rig's draw is unknown.
 */
export function powerTarget(ladder: PowerLadder | null, { controls }: Powered, known: Range | null): Control[] {
  const used = controls.filter(({ key }) => parts.has(key));
  // A throttle makes it a range, though its percentages mean nothing until the draw is known.
  const isRange = ladder?.levels == null || controls.some(({ key }) => key === "throttle");
  const span = isRange ? (known ?? ladder?.span) : ladder.span;
  if (used.length === 0 || span === undefined) return [];
  const stops = controls.some(({ key }) => key === "mining");
  const off = stops ? [{ watts: 0, label: "off" }] : [];
  const present = ladder?.present ?? null;
  const control: Control = {
    key: "power_target",
    kind: isRange ? "range" : "choice",
    unit: "W",
    min: stops ? 0 : Math.ceil(span.min),
    max: Math.floor(span.max),
    step: isRange ? 1 : null,
    options: isRange ? null : [...off, ...(ladder.levels ?? [])],
    value: present === null ? null : Math.round(present),
    lasting: false,
    restartsMining: used.some(({ restartsMining }) => restartsMining),
    seconds: Math.max(...used.map(({ seconds }) => seconds), 0),
  };
  return [control];
}

const parts: ReadonlySet<ControlKey> = new Set(["mining", "throttle", "power_limit", "mode"]);

/** One way to set the power of a rig. */
type Way = Omit<PowerLadder, "stops">;

const snapped = (value: number, min: number, step: number): number => {
  const steps = Math.floor((value - min) / step + 1e-9);
  return Number((min + steps * step).toFixed(6));
};

const clamped = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value));

/** The setting of a control; none if it already has the value. */
const setting = ({ key, value }: Control, wanted: ControlValue): Setting[] =>
  value === wanted ? [] : [{ key, value: wanted }];

function limitWay(control: Control | undefined): Way | null {
  if (control?.kind !== "range" || control.min === null || control.max === null) return null;
  const { min, max, step, value } = control;
  return {
    lowest: min,
    highest: max,
    span: { min, max },
    levels: null,
    present: typeof value === "number" ? value : null,
    choose: (target) => {
      const watts = snapped(clamped(target, min, max), min, step ?? 1);
      return { watts, settings: setting(control, watts) };
    },
  };
}

/** If the rig reports the power of each mode, its power limit only chooses one of them. */
const presetWay = (control: Control | undefined): Way | null =>
  control?.options?.some((option) => typeof option !== "string") ? modeWay(control, {}) : null;

function modeWay(control: Control | undefined, modes: PowerKnowledge["modes"]): Way | null {
  if (control?.kind !== "choice") return null;
  const levels = (control.options ?? [])
    .flatMap((option): Level[] => {
      if (typeof option !== "string") return [option];
      const watts = modes[option];
      return watts === undefined ? [] : [{ watts, label: option }];
    })
    .filter(({ watts }) => watts > 0)
    .sort((a, b) => a.watts - b.watts);
  return levelWay(levels, control.value, (label) => setting(control, label));
}

/** The rig can only be switched on and off. */
const onWay = (full: number | null, mining: boolean | null): Way | null =>
  full === null ? null : levelWay([{ watts: full, label: "on" }], mining ? "on" : null, () => []);

function levelWay(levels: readonly Level[], now: ControlValue | null, set: (label: string) => Setting[]): Way | null {
  const [first] = levels;
  const last = levels.at(-1);
  if (first === undefined || last === undefined) return null;
  return {
    lowest: first.watts,
    highest: last.watts,
    span: { min: first.watts, max: last.watts },
    levels,
    present: levels.find(({ label }) => label === now)?.watts ?? null,
    choose: (target) => {
      const { watts, label } = levels.findLast((level) => level.watts <= target) ?? first;
      return { watts, settings: set(label) };
    },
  };
}

/** In percent of the power without throttling, which is unknown until measured. */
function throttleWay(control: Control | undefined, full: number | null): Way | null {
  if (control?.kind !== "range" || full === null || full <= 0) return null;
  const { min, max, step, value } = control;
  const least = min ?? 0;
  const most = Math.min(100, max ?? 100);
  const [lowest, highest] = [(full * least) / 100, (full * most) / 100];
  return {
    lowest,
    highest,
    span: wholeSteps({ min: lowest, max: highest }),
    levels: null,
    present: typeof value === "number" ? (full * value) / 100 : null,
    choose: (target) => {
      const percent = snapped(clamped((target / full) * 100, least, most), least, step ?? 1);
      return { watts: (full * percent) / 100, settings: setting(control, percent) };
    },
  };
}

/** The throttle within its range, the lasting way beyond it; the throttle is opened before that changes. */
function both(throttle: Way | null, lasting: Way | null): Way | null {
  if (throttle === null || lasting === null) return throttle ?? lasting;
  return {
    lowest: Math.min(throttle.lowest, lasting.lowest),
    highest: Math.max(throttle.highest, lasting.highest),
    span: { min: Math.min(throttle.span.min, lasting.span.min), max: Math.max(throttle.span.max, lasting.span.max) },
    levels: null,
    present: lower(throttle.present, lasting.present),
    choose: (target) => {
      const within = target >= throttle.lowest && target <= throttle.highest;
      if (within || (target > throttle.highest && lasting.highest <= throttle.highest)) return throttle.choose(target);
      const { watts, settings } = lasting.choose(target);
      const opened = throttle.choose(Number.POSITIVE_INFINITY).settings;
      // The steps of the lasting way may be too coarse where the throttle has a closer value.
      const coarse = watts > target ? throttle.lowest < watts : target > throttle.highest && watts < throttle.highest;
      if (coarse) return throttle.choose(target);
      return { watts, settings: [...opened, ...settings] };
    },
  };
}

const lower = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

/** From a number, or the label of one of the few powers of the rig. Throws `input.invalid`. */
export function wattsOf(wanted: number | string, { levels }: PowerLadder, path: string): number {
  if (typeof wanted === "number") return wanted;
  const level = levels?.find(({ label }) => label.toLowerCase() === wanted.toLowerCase());
  if (level !== undefined) return level.watts;
  if (switchWord(wanted) === false) return 0;
  const watts = quantityIn(wanted, "W");
  const labels = levels === null ? "" : ` or one of ${levels.map(({ label }) => label).join(", ")}`;
  const takes = `"power_target" takes watts${labels}; 0 stops the rig`;
  if (typeof watts !== "number") throw invalid(path, `${takes}; the value ${watts.text}`);
  if (!(watts >= 0 && watts < 1_000_000)) throw invalid(path, takes);
  return watts;
}
