import { properties } from "rigbridge";
import type { Listed } from "../config/choices.ts";
import type { Settings } from "../config/schema.ts";
import type { Farm } from "../farm-view.ts";
import { shownFarm } from "../visible-farm.ts";
import { farmAlarm } from "./alarm.ts";
import { groupPlan } from "./groups.ts";
import { isKnown, miningControl } from "./main-switch.ts";
import { rulePlan } from "./momentary.ts";
import type { AccessoryPlan } from "./plan.ts";
import { servicesOf, type VisibleRig } from "./rig-parts.ts";
import { untold } from "./temperature-sensors.ts";
import { informationText, versionIn } from "./texts.ts";

export interface HomePlan {
  readonly accessories: readonly AccessoryPlan[];
  /** Shown only where Homebridge remembers them: nobody knows now whether they are there. */
  readonly doubtful: readonly AccessoryPlan[];
  /** What is not shown, or not as it is wanted, and why; for people. */
  readonly notes: readonly string[];
}

const mostAccessories = 149;

/** Which accessories there are of a farm, with all that they show and how they are told. */
export function whatAccessories(farm: Farm, settings: Settings, listed: Listed): HomePlan {
  const { miners, wanted, tooMany, rigs, groups } = shownFarm(farm, settings, listed);
  const rules = farm.rules.filter(({ name }) => settings.rules.includes(name));
  const all = [
    ...(settings.alarm && wanted.length > 0 ? [farmAlarm(wanted)] : []),
    ...rules.map((rule) => rulePlan(rule, miners)),
    ...groups.flatMap((group) => groupPlan(group, settings)),
    ...rigs.map(rigPlan).filter(({ services }) => services.length > 0),
  ];
  const sure = all.filter(isSure);
  const doubtful = all.filter((plan) => !isSure(plan));
  const missing = settings.rules.filter((name) => !rules.some((rule) => rule.name === name));
  return {
    accessories: sure.slice(0, mostAccessories - doubtful.length),
    doubtful,
    notes: [
      ...missing.map((name) => `There is no manual rule "${name}" to show`),
      ...(tooMany ? [tooManyRigs(wanted.length)] : wanted.flatMap(notesOf)),
      ...(all.length > mostAccessories ? [tooManyAccessories(all.length)] : []),
    ],
  };
}

/** It has something that HomeKit knows. */
const isSure = ({ services }: AccessoryPlan): boolean =>
  services.some(({ type, isDoubtful }) => typeof type === "string" && !isDoubtful);

const tooManyRigs = (count: number): string =>
  `HomeKit has room for 149 accessories on a bridge, and there are ${count} rigs, so only their groups are shown. ` +
  "For each rig: run this plugin several times, each on a child bridge and for some of the rigs, or some groups of a service elsewhere";

const tooManyAccessories = (count: number): string =>
  `HomeKit has room for 149 accessories on a bridge, and these would be ${count}; the last ones are not shown`;

function rigPlan(rig: VisibleRig): AccessoryPlan {
  const { miner, name } = rig;
  const { identity } = miner;
  return {
    key: `rig:${miner.uid}`,
    name,
    information: {
      manufacturer: informationText(identity?.make ?? "", "Rigbridge"),
      model: informationText(identity?.model ?? miner.hardware, "Mining rig"),
      serial: informationText(identity?.serial ?? miner.uid ?? "", "unknown"),
      firmware: versionIn(identity?.firmware ?? ""),
    },
    host: miner.hostDescription,
    services: servicesOf(rig),
  };
}

function notesOf(rig: VisibleRig): string[] {
  const { miner, choices } = rig;
  const { notes } = miner.readings;
  if (miner.uid === null) return notes.slice(0, 1).map((note) => `${miner.name} is not recognised: ${note}`);
  return [
    ...(choices.as === "heater" && miner.heating === null
      ? [`${miner.name} is no heater: it heats no room of the service`]
      : []),
    ...(isKnown(miner) && miningControl(miner) === undefined
      ? [[`${miner.name} is not switched: it cannot be stopped`, ...notes].join("; ")]
      : []),
    ...untold(rig).map((sensor) => `${miner.name} does not tell its ${properties[sensor].name.toLowerCase()}`),
  ];
}
