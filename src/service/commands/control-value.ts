import { inAnyCase } from "../../contract/nearest.ts";
import { invalid } from "../../contract/problems.ts";
import { quantityIn } from "../../contract/quantity.ts";
import type { Control, ControlValue } from "../../contract/readings.ts";
import { checkTrigger, switchWord } from "../../contract/triggers.ts";
import { detail } from "../../messages/detail.ts";

/**
 * Parses a value for the control: words in any case, numbers with or without a unit. Throws `input.invalid` with the
 * accepted values.
 */
export function controlValue(control: Control, text: string, path = "value"): ControlValue {
  const labels = optionLabels(control);
  switch (control.kind) {
    case "trigger":
      checkTrigger(control.key, text, path);
      return true;
    case "switch":
      return switchValue(control, text, path);
    case "choice": {
      const label = inAnyCase(text, labels);
      if (label !== undefined) return label;
      throw invalid(path, detail("control.oneOf", { control: control.key, values: labels.join(", ") }));
    }
    case "range":
      return inAnyCase(text, labels) ?? rangeValue(control, text, path);
  }
}

function switchValue({ key }: Control, text: string, path: string): boolean {
  const value = switchWord(text);
  if (value === null) throw invalid(path, detail("control.switch", { control: key }));
  return value;
}

function rangeValue(control: Control, text: string, path: string): number {
  const { key, min, max, step, unit } = control;
  const low = min ?? Number.NEGATIVE_INFINITY;
  const high = max ?? Number.POSITIVE_INFINITY;
  const ends = { min: String(min), max: unit === null ? String(max) : `${max} ${unit}` };
  const labels = optionLabels(control);
  const range =
    labels.length === 0
      ? detail("control.range.to", ends)
      : detail("control.range.or", { ...ends, values: labels.join(" or ") });
  const given = quantityIn(text, unit);
  if (typeof given !== "number") throw invalid(path, detail("control.unit", { control: key, range, why: given }));
  const stepsOf = (value: number): number => (step === null || step === 0 ? 0 : (value - (min ?? 0)) / step);
  // Degrees Fahrenheit are rarely whole degrees Celsius.
  const isRounded = unit === "°C" && /[f℉]\s*$/i.test(text) && step !== null && step !== 0;
  const number = isRounded ? (min ?? 0) + Math.round(stepsOf(given)) * step : given;
  if (!(number >= low && number <= high)) throw invalid(path, detail("control.range", { control: key, range }));
  const steps = stepsOf(number);
  if (Math.abs(steps - Math.round(steps)) > 1e-6)
    throw invalid(path, detail("control.steps", { control: key, range, step: step ?? 0 }));
  return number;
}

const optionLabels = ({ options }: Control): string[] =>
  (options ?? []).map((option) => (typeof option === "string" ? option : option.label));

/** Whether the rig reports the value that was set; true also for a control that reports none. */
export function reports(control: Control | undefined, value: ControlValue): boolean {
  if (control === undefined) return false;
  const { value: reported, step } = control;
  if (reported === null) return true;
  if (typeof value === "number" && typeof reported === "number") return Math.abs(value - reported) <= (step ?? 0);
  return reported === value;
}

/** Whether the rig accepted this value but runs at a lower maximum, which it only shows afterwards. */
export function isCapped(control: Control | undefined, value: ControlValue): boolean {
  if (control === undefined || control.max === null || typeof value !== "number" || value <= control.max) return false;
  return control.value === control.max;
}
