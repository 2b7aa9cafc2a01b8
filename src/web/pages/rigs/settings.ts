import type { Control } from "../../../contract/readings.ts";

/** A control of some selected rigs, with the union of their ranges: each rig refuses values outside its own. */
export interface Setting {
  readonly key: string;
  readonly kind: Control["kind"];
  readonly unit: Control["unit"];
  readonly min: number | null;
  readonly max: number | null;
  readonly step: number | null;
  readonly options: readonly string[];
  readonly lasting: boolean;
  readonly restartsMining: boolean;
  /** The number of models with this control. */
  readonly models: number;
}

/** Controls that have their own buttons. */
const actions: ReadonlySet<string> = new Set(["mining", "reboot", "restart"]);

/** The settable controls of these rigs; the most common ones come first. */
export function settingsOf(models: readonly (readonly Control[])[]): Setting[] {
  const settings = new Map<string, Setting>();
  for (const control of models.flat()) {
    if (actions.has(control.key) || control.kind === "trigger") continue;
    const made = settingOf(control);
    const before = settings.get(control.key);
    settings.set(control.key, before === undefined ? made : widened(before, made));
  }
  return [...settings.values()].sort((one, other) => other.models - one.models);
}

const settingOf = ({ key, kind, unit, min, max, step, options, lasting, restartsMining }: Control): Setting => ({
  key,
  kind,
  unit,
  min,
  max,
  step,
  lasting,
  restartsMining,
  options: (options ?? []).map((option) => (typeof option === "string" ? option : String(option.watts))),
  models: 1,
});

const widened = (one: Setting, other: Setting): Setting => ({
  ...one,
  min: one.min === null || other.min === null ? null : Math.min(one.min, other.min),
  max: one.max === null || other.max === null ? null : Math.max(one.max, other.max),
  step: one.step === null || other.step === null ? null : Math.min(one.step, other.step),
  options: [...new Set([...one.options, ...other.options])],
  lasting: one.lasting && other.lasting,
  restartsMining: one.restartsMining || other.restartsMining,
  models: one.models + other.models,
});
