import type { Control, Miner } from "rigbridge";
import { partName } from "../accessory-texts.ts";
import { isCurrent, isFullyRead, isMining } from "../rig-state.ts";
import { setRequest } from "../send-command.ts";
import type { VisibleRig } from "../visible-farm.ts";
import type { CharacteristicPlan, PropertyPart, ServicePlan } from "./plan.ts";
import { isOn, nearestWithin, valueWithin } from "./values.ts";

const auto = "auto";
/** HAP's values. */
const modes = { manual: 0, auto: 1 } as const;

/**
 * The rig's fans, if their speed can be set. Switching them on or off does nothing and springs back: Siri and scenes
 * switch everything of an accessory, and without its fans a rig would burn; changing how they are controlled may be
 * written permanently and restart mining. A speed of 0 returns them to automatic control.
 */
function fanWith(rig: VisibleRig, characteristics: (control: Control) => readonly CharacteristicPlan[]): ServicePlan[] {
  const { miner, name, choices } = rig;
  if (!choices.fan) return [];
  const control = miner.controls.find(({ key, kind }) => key === "fan" && kind === "range");
  const service = { type: "Fanv2", subtype: "fan", name: partName(name, "fan") } as const;
  if (control !== undefined) return [{ ...service, characteristics: characteristics(control) }];
  return isFullyRead(miner) ? [] : [{ ...service, characteristics: [], isDoubtful: true }];
}

/** Whether they turn. Fans without readings are assumed to turn while the rig mines: without power they stand still. */
export const fanRpmPart: PropertyPart = (rig) =>
  fanWith(rig, () => {
    const { miner } = rig;
    const speeds = miner.readings.fans.map(({ rpm, percent }) => rpm ?? percent).filter((speed) => speed !== null);
    const isTurning = speeds.length === 0 ? isMining(miner) : speeds.some((speed) => speed > 0);
    return [
      {
        type: "Active",
        value: isCurrent(miner) ? Number(isTurning) : null,
        requestFor: () => ({ miners: [miner.id], intents: [] }),
        springsBack: true,
      },
    ];
  });

/** Automatic or held at a speed; left out if the rig does not report which. */
export const fanPart: PropertyPart = (rig, key) =>
  fanWith(rig, (control) => {
    const { miner } = rig;
    const { value } = control;
    if (!hasAuto(control) || (isCurrent(miner) && isMining(miner) && value === null)) return [];
    const mode = typeof value === "number" ? modes.manual : modes.auto;
    return [
      {
        type: "TargetFanState",
        value: isCurrent(miner) ? mode : null,
        requestFor: (wanted) =>
          setRequest([miner.id], key, isOn(wanted) ? auto : acceptable(percentOf(miner, control), control)),
      },
    ];
  });

/** Left out if the speed is unknown. */
export const fanPercentPart: PropertyPart = (rig) =>
  fanWith(rig, (control) => {
    const { miner } = rig;
    const percent = percentOf(miner, control);
    if (isCurrent(miner) && isMining(miner) && percent === null) return [];
    return [
      {
        type: "RotationSpeed",
        value: isCurrent(miner) ? (percent ?? 0) : null,
        requestFor: (value) => {
          const speed = typeof value === "number" ? Math.max(0, value) : 0;
          return setRequest([miner.id], "fan", speed === 0 && hasAuto(control) ? auto : acceptable(speed, control));
        },
      },
    ];
  });

/** %, as set, otherwise of the fastest fan; null = unknown. */
function percentOf({ readings }: Miner, { value }: Control): number | null {
  if (typeof value === "number") return valueWithin(value, 0, 100);
  const percents = readings.fans.map(({ percent }) => percent).filter((percent) => percent !== null);
  return percents.length === 0 ? null : valueWithin(Math.max(...percents), 0, 100);
}

/** The nearest speed that the rig accepts; if the speed is unknown, the highest, which cools most. */
function acceptable(percent: number | null, { min, max, step }: Control): number {
  const [lowest, highest] = [min ?? 0, max ?? 100];
  const steps = step === null || step === 0 ? 1 : step;
  const inSteps = lowest + Math.round(((percent ?? highest) - lowest) / steps) * steps;
  return nearestWithin(inSteps, lowest, highest);
}

const hasAuto = ({ options }: Control): boolean => options?.includes(auto) ?? false;
