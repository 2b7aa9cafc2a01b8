import type { Control, Miner } from "rigbridge";
import type { CommandRequest } from "../send-command.ts";
import { isKnown, isMining, isWhole } from "./main-switch.ts";
import { type CharacteristicPlan, doubtful, type ServicePlan } from "./plan.ts";
import type { VisibleRig } from "./rig-parts.ts";
import { partName } from "./texts.ts";
import { figureWithin, isOn, nearestWithin } from "./values.ts";

const auto = "auto";
/** HAP's values. */
const follows = { manual: 0, auto: 1 } as const;

/**
 * The rig's fans, where their speed can be set. To switch them on or off does nothing, and it springs back: Siri and
 * scenes switch everything of an accessory, and a rig without its fans would burn, while to keep them at a speed, or
 * no longer, may be written for good and restart the mining. A speed of 0 gives them back to the rig.
 */
export function fanPart({ miner, name, choices }: VisibleRig): readonly ServicePlan[] {
  const control = miner.controls.find(({ key, kind }) => key === "fan" && kind === "range");
  if (!choices.fan) return [];
  const called = partName(name, "fan");
  if (control === undefined) return isWhole(miner) ? [] : [doubtful("Fanv2", "fan", called)];
  const known = isKnown(miner);
  return [
    {
      type: "Fanv2",
      subtype: "fan",
      name: called,
      characteristics: [
        {
          type: "Active",
          value: known ? Number(isTurning(miner)) : null,
          sendCommand: () => ({ miners: [miner.id], intents: [] }),
          springsBack: true,
        },
        ...mode(miner, control, known),
        ...speed(miner, control, known),
      ],
    },
  ];
}

/** Left out where the rig does not say whether it was told a speed. */
function mode(miner: Miner, control: Control, known: boolean): CharacteristicPlan[] {
  if (!takesAuto(control) || (known && isMining(miner) && control.value === null)) return [];
  return [
    {
      type: "TargetFanState",
      value: known ? (typeof control.value === "number" ? follows.manual : follows.auto) : null,
      sendCommand: (value) => told(miner, isOn(value) ? auto : String(held(speedOf(miner, control), control))),
    },
  ];
}

/** Left out where nobody knows how fast they turn. */
function speed(miner: Miner, control: Control, known: boolean): CharacteristicPlan[] {
  const percent = speedOf(miner, control);
  if (known && isMining(miner) && percent === null) return [];
  return [
    {
      type: "RotationSpeed",
      value: known ? (percent ?? 0) : null,
      sendCommand: (value) => {
        const isOff = typeof value !== "number" || value <= 0;
        return told(miner, isOff && takesAuto(control) ? auto : String(held(isOff ? 0 : value, control)));
      },
    },
  ];
}

/** %, as it is set, else as the fastest of them turns. */
function speedOf({ readings }: Miner, { value }: Control): number | null {
  if (typeof value === "number") return figureWithin(value, 0, 100);
  const percents = readings.fans.map(({ percent }) => percent).filter((percent) => percent !== null);
  return percents.length === 0 ? null : figureWithin(Math.max(...percents), 0, 100);
}

/** What the rig takes that is nearest; where nobody knows how fast they turn, the most that cools. */
function held(percent: number | null, { min, max, step }: Control): number {
  const [lowest, highest] = [min ?? 0, max ?? 100];
  const steps = step === null || step === 0 ? 1 : step;
  const inSteps = lowest + Math.round(((percent ?? highest) - lowest) / steps) * steps;
  return nearestWithin(inSteps, lowest, highest);
}

/** Fans that say nothing are taken to turn while the rig mines: without power they stand. */
function isTurning(miner: Miner): boolean {
  const said = miner.readings.fans.map(({ rpm, percent }) => rpm ?? percent).filter((speed) => speed !== null);
  return said.length === 0 ? isMining(miner) : said.some((speed) => speed > 0);
}

const takesAuto = ({ options }: Control): boolean => options?.includes(auto) ?? false;

const told = ({ id }: Miner, value: string): CommandRequest => ({
  miners: [id],
  intents: [{ kind: "set", property: "fan", value }],
});
