import { invalid, RigbridgeError } from "../contract/problems.ts";
import type { Control, ControlKey, ControlValue } from "../contract/readings.ts";
import { detail } from "../messages/detail.ts";
import type { PoolAction } from "./driver.ts";

/** A control with the function that sets it. A driver lists only controls that it has read, so each of them works. */
export interface OfferedControl {
  readonly control: Control;
  /** Takes a value that fits the control. Resolves with the device's own words. */
  readonly set: (value: ControlValue, signal: AbortSignal) => Promise<string>;
}

/** Checks the value and sets the control. Throws `control.absent`, `input.invalid`, or the device's refusal. */
export async function setControl(
  offered: readonly OfferedControl[],
  key: ControlKey,
  value: ControlValue,
  signal: AbortSignal,
): Promise<string> {
  const found = offered.find(({ control }) => control.key === key);
  if (found === undefined) throw new RigbridgeError("control.absent", detail("control.notNow", { control: key }));
  checkValue(found.control, value);
  return found.set(value, signal);
}

export const absentPoolAction = (action: PoolAction): RigbridgeError =>
  new RigbridgeError("control.absent", detail("control.pools", { action }));

function checkValue({ key, kind, min, max, options }: Control, value: ControlValue): void {
  const words = (options ?? []).map((option) => (typeof option === "string" ? option : option.label));
  if (kind === "trigger" || (typeof value === "string" && words.includes(value))) return;
  if (kind === "switch" && typeof value !== "boolean") throw invalid("value", `"${key}" takes true or false`);
  if (kind === "choice") throw invalid("value", `"${key}" takes one of ${words.join(", ")}`);
  if (kind !== "range") return;
  const inRange = typeof value === "number" && value >= (min ?? value) && value <= (max ?? value);
  if (!inRange) throw invalid("value", `"${key}" takes ${[`${min} to ${max}`, ...words].join(" or ")}`);
}

const plain = { unit: null, min: null, max: null, step: null, options: null, value: null } as const;

type Effect = Pick<Control, "lasting" | "restartsMining" | "seconds">;

/** An action without a state. */
export const trigger = (key: ControlKey, effect: Effect): Control => ({ key, kind: "trigger", ...plain, ...effect });

export const toggle = (key: ControlKey, value: boolean | null, effect: Effect): Control => ({
  key,
  kind: "switch",
  ...plain,
  ...effect,
  value,
});

/** A number between two bounds; `options` are words that it also takes. */
export const range = (
  key: ControlKey,
  scale: Pick<Control, "unit" | "min" | "max" | "step" | "value"> & { readonly options?: string[] },
  effect: Effect,
): Control => ({ key, kind: "range", ...plain, ...effect, ...scale, options: scale.options ?? null });

/** One of several words. */
export const choice = (
  key: ControlKey,
  options: NonNullable<Control["options"]>,
  value: string | null,
  effect: Effect,
): Control => ({ key, kind: "choice", ...plain, ...effect, options, value });
