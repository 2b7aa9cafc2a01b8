import type { Control } from "../contract/readings.ts";
import { sharedControl } from "../link/kept.ts";
import { same } from "../link/same.ts";
import type { Remembered, RigState } from "./state.ts";

/** The stored part of a rig's state after a read, without the values of its controls. */
export function shapeOf(state: RigState): Partial<Remembered> {
  const { driver, identity, software, controls, layout, startedAt, reason, records } = state;
  const silent = controls.map((control) => sharedControl({ ...control, value: null }));
  return { driver, identity, software, controls: silent, layout, startedAt, reason, records };
}

/** Whether the stored part of a rig's state is unchanged; values change with every read and are not stored. */
export const sameShape = (a: Remembered, b: Remembered): boolean =>
  a.driver === b.driver &&
  a.software === b.software &&
  a.startedAt === b.startedAt &&
  a.reason?.code === b.reason?.code &&
  a.records === b.records &&
  same(a.identity, b.identity) &&
  same(a.layout, b.layout) &&
  (a.controls === b.controls ||
    (a.controls.length === b.controls.length &&
      a.controls.every((control, index) => sameControl(control, b.controls[index]))));

const sameControl = (a: Control, b: Control | undefined): boolean =>
  a === b ||
  (a.key === b?.key &&
    a.kind === b.kind &&
    a.min === b.min &&
    a.max === b.max &&
    a.step === b.step &&
    same(a.options, b.options));
