import { RigbridgeError } from "../../contract/problems.ts";
import type { Control, ControlKey, ControlValue } from "../../contract/readings.ts";
import type { Rig } from "../../link/driver.ts";
import { detail } from "../../messages/detail.ts";

/** Whether setting a control only lowers the power of a rig, as far as its reading shows: a stop, or a lower setting. */
export function lowers(controls: readonly Control[], key: ControlKey, value: ControlValue): boolean {
  if (key === "mining") return value === false;
  const control = controls.find((each) => each.key === key);
  if (control === undefined || !["power_limit", "throttle", "mode"].includes(key)) return false;
  const [now, then] = [amountOf(control, control.value), amountOf(control, value)];
  return now !== null && then !== null && then < now;
}

/** W or percent; null if it is not known. */
function amountOf({ options }: Control, value: ControlValue | null): number | null {
  if (typeof value === "number") return value;
  for (const option of options ?? []) if (typeof option === "object" && option.label === value) return option.watts;
  return null;
}

/** A rig that takes nothing but settings which lower its power. */
export const loweringOnly = (rig: Rig, controls: readonly Control[]): Rig => ({
  read: (signal) => rig.read(signal),
  set: (key, value, signal) =>
    lowers(controls, key, value)
      ? rig.set(key, value, signal)
      : Promise.reject(new RigbridgeError("service.no.active", detail("command.noLease"))),
  pools: {},
  close: () => rig.close(),
});
