import { invalid } from "../../contract/problems.ts";
import type { Control, ControlValue } from "../../contract/readings.ts";
import { checkTrigger, onWords } from "../../contract/triggers.ts";

/** Parses a value for the control. Throws `input.invalid` with the values that it takes. */
export function controlValue(control: Control, text: string, path = "value"): ControlValue {
  switch (control.kind) {
    case "trigger":
      checkTrigger(control.key, text, path);
      return true;
    case "switch":
      return switchValue(control, text, path);
    case "choice":
      if (optionLabels(control).includes(text)) return text;
      throw invalid(path, `"${control.key}" takes one of ${optionLabels(control).join(", ")}`);
    case "range":
      return optionLabels(control).includes(text) ? text : rangeValue(control, text, path);
  }
}

const off = ["false", "off", "0"];

function switchValue({ key }: Control, text: string, path: string): boolean {
  const word = text.toLowerCase();
  if (onWords.includes(word)) return true;
  if (off.includes(word)) return false;
  throw invalid(path, `"${key}" takes true or false`);
}

function rangeValue(control: Control, text: string, path: string): number {
  const { key, min, max, step, unit } = control;
  const number = /^-?\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  const low = min ?? Number.NEGATIVE_INFINITY;
  const high = max ?? Number.POSITIVE_INFINITY;
  const bounds = `${[`${min} to ${max}${unit === null ? "" : ` ${unit}`}`, ...optionLabels(control)].join(" or ")}`;
  if (!(number >= low && number <= high)) throw invalid(path, `"${key}" takes ${bounds}`);
  const steps = step === null || step === 0 ? 0 : (number - (min ?? 0)) / step;
  if (Math.abs(steps - Math.round(steps)) > 1e-6) throw invalid(path, `"${key}" takes ${bounds} in steps of ${step}`);
  return number;
}

const optionLabels = ({ options }: Control): string[] =>
  (options ?? []).map((option) => (typeof option === "string" ? option : option.label));

/** Whether the rig now reports the value that was set; true also for a control that reports none. */
export function reports(control: Control | undefined, value: ControlValue): boolean {
  if (control === undefined) return false;
  const { value: reported, step } = control;
  if (reported === null) return true;
  if (typeof value === "number" && typeof reported === "number") return Math.abs(value - reported) <= (step ?? 0);
  return reported === value;
}
