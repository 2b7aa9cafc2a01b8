import type { Control } from "rigbridge";
import { partName } from "../accessory-texts.ts";
import { isCurrent, isFullyRead, isMining } from "../rig-state.ts";
import { setRequest } from "../send-command.ts";
import type { PropertyPart, ServicePlan } from "./plan.ts";
import { valueWithin } from "./values.ts";

/**
 * The rig's power as a slider in percent of its highest, if there is something between off and on. It is a fan to HomeKit:
 * "turn off the lights" must not stop a rig. Switching it on or off does nothing and springs back, as with the rig's own
 * fans; 0 % stops a rig that can be stopped. A room regulates the power of its heater itself.
 */
export const powerTargetPart: PropertyPart = ({ miner, name, choices }, key) => {
  if (!choices.power || miner.heating !== null) return [];
  const service = { type: "Fanv2", subtype: "power", name: partName(name, "power") } as const;
  const doubtful: ServicePlan = { ...service, characteristics: [], isDoubtful: true };
  const control = miner.controls.find((each) => each.key === key);
  if (control === undefined) return isFullyRead(miner) ? [] : [doubtful];
  const highest = highestOf(control);
  if (highest === null || !hasRungs(control)) return isCurrent(miner) ? [] : [doubtful];
  const percent = typeof control.value === "number" ? Math.round((control.value / highest) * 100) : null;
  return [
    {
      ...service,
      characteristics: [
        {
          type: "Active",
          value: isCurrent(miner) ? Number(isMining(miner)) : null,
          requestFor: () => ({ miners: [miner.id], intents: [] }),
          springsBack: true,
        },
        {
          type: "RotationSpeed",
          value: isCurrent(miner) ? valueWithin(percent, 0, 100) : null,
          requestFor: (value) => setRequest([miner.id], key, wattsFor(Number(value), control, highest)),
        },
      ],
    },
  ];
};

/** W. */
const rungsOf = ({ options }: Control): number[] =>
  (options ?? []).flatMap((option) => (typeof option === "string" ? [] : [option.watts]));

const highestOf = (control: Control): number | null => {
  const highest = control.max ?? Math.max(...rungsOf(control), 0);
  return highest > 0 ? highest : null;
};

/** More than off and on. */
const hasRungs = (control: Control): boolean =>
  control.kind === "range" ? (control.min ?? 0) < (control.max ?? 0) : new Set(rungsOf(control)).size > 2;

/** The nearest power that the rig can be set to. */
function wattsFor(percent: number, control: Control, highest: number): number {
  const wanted = (highest * Math.max(0, percent)) / 100;
  if (control.kind === "range") return Math.max(control.min ?? 0, Math.floor(wanted));
  const distance = (watts: number): number => Math.abs(watts - wanted);
  return rungsOf(control).reduce((best, watts) => (distance(watts) < distance(best) ? watts : best));
}
