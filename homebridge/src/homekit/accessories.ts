import { automationOnly, type Miner, type PropertyKey, properties, propertyKeys } from "rigbridge";
import { rigInformation } from "../accessory-texts.ts";
import type { Settings } from "../config/schema.ts";
import type { Farm } from "../farm-view.ts";
import { isCurrent, miningControl } from "../rig-state.ts";
import { setRequest } from "../send-command.ts";
import { type FindSettings, type VisibleRig, visibleFarm } from "../visible-farm.ts";
import { alarmPart, farmAlarm } from "./alarm.ts";
import { energyPart, powerPart } from "./eve.ts";
import { fanPart, fanPercentPart, fanRpmPart } from "./fan.ts";
import { roomTargetPart, roomTemperaturePart } from "./heater.ts";
import { groupPlan, hashratePart, miningPart, outletEnergyPart, outletPowerPart } from "./main-switch.ts";
import { rulePlan, triggerPart } from "./momentary.ts";
import type { AccessoryPlan, PropertyPart, ServicePlan } from "./plan.ts";
import { powerTargetPart } from "./power.ts";
import { missingSensors, problemPart, temperaturePart } from "./temperature-sensors.ts";

/** How each property of a rig, and the control that writes it, appears in HomeKit. Parts of one service are joined. */
export const parts = {
  status: alarmPart,
  reason: null,
  mining: miningPart,
  hashrate: hashratePart,
  ...automationOnly,
  hashrate_expected: null,
  dual_hashrate: null,
  power: (rig, key) => [...powerPart(rig, key), ...outletPowerPart(rig, key)],
  energy: (rig, key) => [...energyPart(rig, key), ...outletEnergyPart(rig, key)],
  efficiency: null,
  power_target: powerTargetPart,
  fan: fanPart,
  temperature: temperaturePart,
  temperature_in: temperaturePart,
  temperature_out: temperaturePart,
  shares_accepted: null,
  shares_rejected: null,
  hardware_errors: null,
  room_temperature: (rig, key) => [...roomTemperaturePart(rig, key), ...temperaturePart(rig, key)],
  room_target: roomTargetPart,
  problem: problemPart,
  restart: triggerPart,
  reboot: triggerPart,
  board_hashrate: null,
  board_temperature: null,
  fan_rpm: fanRpmPart,
  fan_percent: fanPercentPart,
} satisfies Record<PropertyKey, PropertyPart | null>;

export interface HomePlan {
  readonly accessories: readonly AccessoryPlan[];
  /** Kept only if Homebridge remembers them: unknown at present whether they exist. */
  readonly doubtful: readonly AccessoryPlan[];
  /** For display: missing accessories or differences from the settings, and why. */
  readonly notes: readonly string[];
}

const mostAccessories = 149;

/** All accessories of a farm, with their values and commands. */
export function planAccessories(farm: Farm, settings: Settings, find: FindSettings): HomePlan {
  const { miners, wanted, tooMany, rigs, groups } = visibleFarm(farm, settings, find);
  const rules = farm.rules.filter(({ name }) => settings.rules.includes(name));
  const all = [
    ...(settings.alarm && wanted.length > 0 ? [farmAlarm(wanted)] : []),
    ...rules.map((rule) => rulePlan(rule, miners, farm.rulesRunOnEach)),
    ...groups.flatMap((group) => groupPlan(group, settings)),
    ...rigs.map(rigPlan).filter(({ services }) => services.some(isStandard)),
  ];
  const sure = all.filter(isSure);
  const doubtful = all.filter((plan) => !isSure(plan));
  const missing = settings.rules.filter((name) => !rules.some((rule) => rule.name === name));
  return {
    accessories: sure.slice(0, mostAccessories - doubtful.length),
    doubtful,
    notes: [
      ...missing.map((name) => `The service has no manual rule "${name}"`),
      ...(tooMany ? [tooManyRigs(wanted.length)] : wanted.flatMap(notesOf)),
      ...(all.length > mostAccessories ? [tooManyAccessories(all.length)] : []),
    ],
  };
}

/** Has a service that HomeKit itself knows. */
const isSure = ({ services }: AccessoryPlan): boolean =>
  services.some((service) => isStandard(service) && !service.isDoubtful);

const isStandard = ({ type }: ServicePlan): boolean => typeof type === "string";

const tooManyRigs = (count: number): string =>
  `A HomeKit bridge has room for 149 accessories and there are ${count} rigs, so only groups are shown. ` +
  "To show each rig, set up this plugin several times, each on its own child bridge with some of the rigs or groups";

const tooManyAccessories = (count: number): string =>
  `A HomeKit bridge has room for 149 accessories and there would be ${count}, so the last ones are not shown`;

function rigPlan(rig: VisibleRig): AccessoryPlan {
  const { miner, name, settings } = rig;
  const services = servicesOf(rig);
  // Eve shows the history of outlets; a service that counts no energy has none.
  const hasHistory = settings.eve && miner.readings.energy !== null && services.some(({ type }) => type === "Outlet");
  return {
    key: `rig:${miner.uid}`,
    name,
    information: rigInformation(miner),
    host: miner.hostDescription,
    ...identifyOf(miner),
    ...(hasHistory ? { historyOf: miner.id } : {}),
    services,
  };
}

/** The rig's light blinks, or its display lights up; a light that was on already stays on. */
function identifyOf({ id, controls }: Miner): Pick<AccessoryPlan, "identify"> {
  const control = controls.find(({ key }) => key === "locate");
  if (control === undefined) return {};
  const isTimed = control.kind === "switch" && control.value !== true;
  const set = (on: boolean) => setRequest([id], "locate", on);
  return { identify: { begin: set(true), end: isTimed ? set(false) : null } };
}

function servicesOf(rig: VisibleRig): readonly ServicePlan[] {
  const services = new Map<string, ServicePlan>();
  for (const part of propertyKeys.flatMap((key) => parts[key]?.(rig, key) ?? [])) {
    const id = `${typeof part.type === "string" ? part.type : part.type.uuid} ${part.subtype}`;
    const { characteristics = [] } = services.get(id) ?? {};
    services.set(id, { ...part, characteristics: [...characteristics, ...part.characteristics] });
  }
  return [...services.values()];
}

function notesOf(rig: VisibleRig): string[] {
  const { miner, choices } = rig;
  const { notes } = miner.readings;
  if (miner.uid === null) return notes.slice(0, 1).map((note) => `${miner.name} is not recognised: ${note}`);
  return [
    ...(choices.as === "heater" && miner.heating === null
      ? [`${miner.name} is not shown as a heater: it heats no room of the service`]
      : []),
    ...(isCurrent(miner) && miningControl(miner) === undefined
      ? [[`${miner.name} has no switch: it cannot be stopped`, ...notes].join("; ")]
      : []),
    ...missingSensors(rig).map((key) => `${miner.name} does not report its ${properties[key].name.toLowerCase()}`),
  ];
}
