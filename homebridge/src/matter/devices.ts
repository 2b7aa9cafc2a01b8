import { automationOnly, type Miner, type PropertyKey, properties, propertyKeys } from "rigbridge";
import { ownInformation, rigInformation } from "../accessory-texts.ts";
import type { Settings } from "../config/schema.ts";
import type { Farm } from "../farm-view.ts";
import { targets } from "../homekit/heater.ts";
import { hasSensor, sensorCelsius } from "../homekit/temperature-sensors.ts";
import { groupState, isCurrent, isHeaterOn, miningControl, numberOf, roomOf, switchState } from "../rig-state.ts";
import { heaterRequest, setRequest } from "../send-command.ts";
import { type FindSettings, type VisibleGroup, type VisibleRig, visibleFarm } from "../visible-farm.ts";
import type { Clusters, DeviceCommands, DevicePlan } from "./plan.ts";
import { centidegrees, matterText, milliwattHours, milliwatts, nameBytes } from "./values.ts";

/** What shows one property of a rig: devices with those of their attributes that show it. */
type PropertyPart = (rig: VisibleRig, key: PropertyKey) => readonly DevicePlan[];

/** Thermostat.SystemMode. */
export const modes = { off: 0, heat: 4 } as const;
/** Hundredths of °C. */
const lowest = targets.minValue * 100;
const highest = targets.maxValue * 100;

/** Of a thermostat that only heats. */
export const heatingOnly = {
  absMinHeatSetpointLimit: lowest,
  absMaxHeatSetpointLimit: highest,
  minHeatSetpointLimit: lowest,
  maxHeatSetpointLimit: highest,
  controlSequenceOfOperation: 2,
} as const;

const miningPart: PropertyPart = (rig) => {
  const { miner } = rig;
  const room = roomOf(rig);
  if (room !== null) {
    const systemMode = isHeaterOn(miner, room) ? modes.heat : modes.off;
    const thermostat = isCurrent(miner) ? { systemMode } : {};
    return rigPart(rig, { thermostat }, { on: (on) => heaterRequest(miner, room, on) });
  }
  if (miningControl(miner) === undefined) return [];
  return rigPart(rig, onOff(switchState([miner])), { on: (on) => setRequest([miner.id], "mining", on) });
};

/** Power and energy accept null, so every rig has them from the start: changed clusters would make it a new device. */
const powerPart: PropertyPart = (rig, key) => {
  const activePower = isCurrent(rig.miner) ? milliwatts(numberOf(rig.miner, key)) : null;
  return rigPart(rig, { electricalPowerMeasurement: { activePower } });
};

/** The energy counted so far stays valid while the rig is off. */
const energyPart: PropertyPart = (rig, key) => {
  const energy = milliwattHours(numberOf(rig.miner, key));
  return rigPart(rig, {
    electricalEnergyMeasurement: { cumulativeEnergyImported: energy === null ? null : { energy } },
  });
};

/** Measured elsewhere, so it is known even while the rig is off. */
const roomTemperaturePart: PropertyPart = (rig, key) =>
  roomOf(rig) === null
    ? []
    : rigPart(rig, { thermostat: { localTemperature: centidegrees(numberOf(rig.miner, key)) } });

/** The service regulates the rig to the room's target; a controller only sets the target. */
const roomTargetPart: PropertyPart = (rig, key) => {
  const { miner } = rig;
  if (roomOf(rig) === null) return [];
  const target = centidegrees(numberOf(miner, key));
  const isValid = target !== null && target >= lowest && target <= highest;
  const thermostat = { ...heatingOnly, ...(isValid ? { occupiedHeatingSetpoint: target } : {}) };
  return rigPart(rig, { thermostat }, { target: (celsius) => setRequest([miner.id], key, celsius) });
};

/** A separate device: controllers notice an added device, but not changed parts of an existing one. */
const temperaturePart: PropertyPart = (rig, key) => {
  if (!hasSensor(rig, key)) return [];
  const { miner, name } = rig;
  const celsius = sensorCelsius(rig, key);
  const title = properties[key].name.toLowerCase();
  return [
    {
      key: `${key}:${miner.uid}`,
      type: "TemperatureSensor",
      name: `${matterText(name, nameBytes - title.length - 1)} ${title}`,
      ...rigBasics(miner),
      reachable: isCurrent(miner) || celsius !== null,
      clusters: { temperatureMeasurement: { measuredValue: centidegrees(celsius) } },
      commands: {},
    },
  ];
};

/** How each property of a rig, and the control that writes it, appears in Matter. Parts of one device are joined. */
export const parts = {
  status: null,
  reason: null,
  mining: miningPart,
  hashrate: null,
  ...automationOnly,
  hashrate_expected: null,
  dual_hashrate: null,
  power: powerPart,
  energy: energyPart,
  efficiency: null,
  power_target: null,
  fan: null,
  temperature: temperaturePart,
  temperature_in: temperaturePart,
  temperature_out: temperaturePart,
  shares_accepted: null,
  shares_rejected: null,
  hardware_errors: null,
  room_temperature: (rig, key) => [...roomTemperaturePart(rig, key), ...temperaturePart(rig, key)],
  room_target: roomTargetPart,
  problem: null,
  restart: null,
  reboot: null,
  board_hashrate: null,
  board_temperature: null,
  fan_rpm: null,
  fan_percent: null,
} satisfies Record<PropertyKey, PropertyPart | null>;

/** All Matter devices of a farm: the same rigs and groups as in HomeKit, with the same names. */
export function planDevices(farm: Farm, settings: Settings, find: FindSettings): readonly DevicePlan[] {
  const { rigs, groups } = visibleFarm(farm, settings, find);
  return [...groups.flatMap(groupDevice), ...rigs.flatMap(rigDevices)];
}

function rigDevices(rig: VisibleRig): readonly DevicePlan[] {
  const devices = new Map<string, DevicePlan>();
  for (const part of propertyKeys.flatMap((key) => parts[key]?.(rig, key) ?? [])) {
    const { clusters = {}, commands = {} } = devices.get(part.key) ?? {};
    const thermostat = { ...clusters.thermostat, ...part.clusters.thermostat };
    devices.set(part.key, {
      ...part,
      clusters: { ...clusters, ...part.clusters, ...(part.type === "Thermostat" ? { thermostat } : {}) },
      commands: { ...commands, ...part.commands },
    });
  }
  return [...devices.values()];
}

/**
 * Part of the rig's main device: a heater if it heats a room, otherwise an outlet if it can be stopped, otherwise a
 * meter; none until that is known.
 */
function rigPart(rig: VisibleRig, clusters: Clusters, commands: DeviceCommands = {}): DevicePlan[] {
  const { miner, name } = rig;
  const common = { name: matterText(name), ...rigBasics(miner), reachable: isCurrent(miner), clusters, commands };
  if (roomOf(rig) !== null) return [{ ...common, key: `heater:${miner.uid}`, type: "Thermostat" }];
  if (miningControl(miner) !== undefined) return [{ ...common, key: `outlet:${miner.uid}`, type: "OnOffOutlet" }];
  return isCurrent(miner) ? [{ ...common, key: `meter:${miner.uid}`, type: "ElectricalSensor" }] : [];
}

function rigBasics(miner: Miner): Pick<DevicePlan, "information" | "host"> {
  const { manufacturer, model, serial, firmware } = rigInformation(miner);
  const information = {
    manufacturer: matterText(manufacturer),
    model: matterText(model),
    serial: matterText(serial),
    firmware,
  };
  return { information, host: miner.hostDescription };
}

/** Without power: adding up the devices of a home would count its rigs twice. */
function groupDevice({ key, name, members }: VisibleGroup): DevicePlan[] {
  const state = groupState(members);
  if (state === null) return [];
  return [
    {
      key,
      type: "OnOffOutlet",
      name: matterText(name),
      information: ownInformation("Group of rigs", key),
      host: null,
      reachable: state.isCurrent,
      clusters: onOff(state),
      commands: { on: (on) => setRequest(state.ids, "mining", on) },
    },
  ];
}

/** Matter has no unknown state between on and off. */
const onOff = (state: { readonly isCurrent: boolean; readonly isOn: boolean }): Clusters => ({
  onOff: state.isCurrent ? { onOff: state.isOn } : {},
});
