import { type Heating, type Miner, properties } from "rigbridge";
import type { Listed } from "../config/choices.ts";
import type { Settings } from "../config/schema.ts";
import type { Farm } from "../farm-view.ts";
import { groupState } from "../homekit/groups.ts";
import { handedBack, isActive, targets, targetTold } from "../homekit/heater.ts";
import { isKnown, isMining, miningControl, switchRequest } from "../homekit/main-switch.ts";
import type { Information } from "../homekit/plan.ts";
import type { VisibleRig } from "../homekit/rig-parts.ts";
import { temperaturesOf, type VisibleTemperature } from "../homekit/temperature-sensors.ts";
import { informationText, versionIn } from "../homekit/texts.ts";
import { shownFarm, type VisibleGroup } from "../visible-farm.ts";
import type { Clusters, DevicePlan } from "./plan.ts";
import { matterText, nameBytes } from "./texts.ts";
import { centidegrees, milliwattHours, milliwatts } from "./units.ts";

/** Which Matter devices there are of a farm: the same rigs and groups as in HomeKit, under the same names. */
export function whatDevices(farm: Farm, settings: Settings, listed: Listed): readonly DevicePlan[] {
  const { rigs, groups } = shownFarm(farm, settings, listed);
  return [
    ...groups.flatMap(groupDevice),
    ...rigs.flatMap((rig) => [...rigDevice(rig), ...temperaturesOf(rig).map((each) => temperatureDevice(rig, each))]),
  ];
}

/** A heater, where it heats a room; else an outlet, where it can be stopped; else a meter; none until one knows which. */
function rigDevice({ miner, name, choices }: VisibleRig): DevicePlan[] {
  const common = {
    name: matterText(name),
    information: informationOf(miner),
    host: miner.hostDescription,
    reachable: isKnown(miner),
  };
  if (choices.as === "heater" && miner.heating !== null)
    return [
      {
        ...common,
        key: `heater:${miner.uid}`,
        type: "Thermostat",
        clusters: { ...thermostat(miner, miner.heating), ...electrical(miner) },
        commands: heaterCommands(miner, miner.heating),
      },
    ];
  if (miningControl(miner) !== undefined)
    return [
      {
        ...common,
        key: `outlet:${miner.uid}`,
        type: "OnOffOutlet",
        clusters: { ...onOff(isKnown(miner), isMining(miner)), ...electrical(miner) },
        commands: { on: (on) => switchRequest([miner.id], on) },
      },
    ];
  if (!isKnown(miner)) return [];
  return [
    { ...common, key: `meter:${miner.uid}`, type: "ElectricalSensor", clusters: electrical(miner), commands: {} },
  ];
}

/** A device of its own: controllers take in that there is one more, but not that one is made of other parts than before. */
function temperatureDevice({ miner, name }: VisibleRig, { sensor, celsius }: VisibleTemperature): DevicePlan {
  const what = properties[sensor].name.toLowerCase();
  return {
    key: `${sensor}:${miner.uid}`,
    type: "TemperatureSensor",
    name: `${matterText(name, nameBytes - what.length - 1)} ${what}`,
    information: informationOf(miner),
    host: miner.hostDescription,
    reachable: isKnown(miner) || celsius !== null,
    clusters: { temperatureMeasurement: { measuredValue: centidegrees(celsius) } },
    commands: {},
  };
}

/** Without power: whoever adds up the devices of a home would count its rigs twice. */
function groupDevice({ key, name, members }: VisibleGroup): DevicePlan[] {
  const state = groupState(members);
  if (state === null) return [];
  return [
    {
      key,
      type: "OnOffOutlet",
      name: matterText(name),
      information: { manufacturer: "Rigbridge", model: "Group of rigs", serial: key, firmware: "0" },
      host: null,
      reachable: state.isKnown,
      clusters: onOff(state.isKnown, state.isOn),
      commands: { on: (on) => switchRequest(state.ids, on) },
    },
  ];
}

/** Matter has no unknown between on and off. */
const onOff = (known: boolean, on: boolean): Clusters => ({ onOff: known ? { onOff: on } : {} });

/**
 * Both take null for unknown, so they are there from the start: a device that changes its clusters later is another one
 * to a controller. What was counted stays true while the rig is off.
 */
function electrical(miner: Miner): Clusters {
  const { power, energy } = miner.readings;
  const counted = milliwattHours(energy);
  return {
    electricalPowerMeasurement: { activePower: isKnown(miner) ? milliwatts(power) : null },
    electricalEnergyMeasurement: { cumulativeEnergyImported: counted === null ? null : { energy: counted } },
  };
}

/** Thermostat.SystemMode. */
export const modes = { off: 0, heat: 4 } as const;
/** Hundredths of °C. */
const lowest = targets.minValue * 100;
const highest = targets.maxValue * 100;

/** What a thermostat is that only heats. */
export const heatingOnly = {
  absMinHeatSetpointLimit: lowest,
  absMaxHeatSetpointLimit: highest,
  minHeatSetpointLimit: lowest,
  maxHeatSetpointLimit: highest,
  controlSequenceOfOperation: 2,
} as const;

/** The service holds the rig to its room's target; a controller only says what that is. */
function thermostat(miner: Miner, heating: Heating): Clusters {
  const target = centidegrees(heating.target);
  const mode = isActive(miner, heating) ? modes.heat : modes.off;
  return {
    thermostat: {
      ...heatingOnly,
      // The room's is measured elsewhere, whether or not the rig is on.
      localTemperature: centidegrees(heating.room),
      ...(target !== null && target >= lowest && target <= highest ? { occupiedHeatingSetpoint: target } : {}),
      ...(isKnown(miner) ? { systemMode: mode } : {}),
    },
  };
}

const heaterCommands = (miner: Miner, heating: Heating): DevicePlan["commands"] => ({
  on: (on) => (on ? handedBack(miner, heating) : switchRequest([miner.id], false)),
  target: (celsius) => targetTold(miner.id, celsius),
});

function informationOf({ identity, hardware, uid }: Miner): Information {
  return {
    manufacturer: matterText(informationText(identity?.make ?? "", "Rigbridge")),
    model: matterText(informationText(identity?.model ?? hardware, "Mining rig")),
    serial: matterText(informationText(identity?.serial ?? uid ?? "", "unknown")),
    firmware: versionIn(identity?.firmware ?? ""),
  };
}
