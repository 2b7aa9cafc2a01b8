import type { MatterAccessory } from "homebridge";
import { type JsonObject, recordOf } from "../config/json.ts";
import { heatingOnly } from "./devices.ts";
import type { Clusters, DevicePlan, DeviceType } from "./plan.ts";

/** What Homebridge keeps with a device between runs. */
export interface Context {
  readonly key: string;
  readonly type: DeviceType;
  readonly host: string | null;
}

/** The plan of a device that Homebridge remembers, without readings; null if the plugin did not make it. */
export function rememberedPlan(accessory: MatterAccessory): DevicePlan | null {
  const { displayName, manufacturer, model, serialNumber, firmwareRevision, clusters } = accessory;
  const { key, type, host } = recordOf(accessory.context);
  if (typeof key !== "string" || !isDeviceType(type)) return null;
  return withoutReadings({
    key,
    type,
    name: displayName,
    information: { manufacturer, model, serial: serialNumber, firmware: firmwareRevision ?? "0" },
    host: typeof host === "string" ? host : null,
    reachable: false,
    clusters: clustersIn(clusters ?? {}),
    commands: {},
  });
}

/** A device in an unknown state. Counted energy stays, and so do the attributes that Matter requires. */
export function withoutReadings(plan: DevicePlan): DevicePlan {
  const { electricalPowerMeasurement, temperatureMeasurement, thermostat } = plan.clusters;
  const clusters: Clusters = {
    ...plan.clusters,
    ...(electricalPowerMeasurement === undefined ? {} : { electricalPowerMeasurement: { activePower: null } }),
    ...(temperatureMeasurement === undefined ? {} : { temperatureMeasurement: { measuredValue: null } }),
    ...(thermostat === undefined ? {} : { thermostat: { ...thermostat, localTemperature: null } }),
  };
  return { ...plan, reachable: false, clusters, commands: {} };
}

/** The clusters of a plan, among those that Homebridge stored: it adds some of its own. */
function clustersIn(stored: object): Clusters {
  const { onOff, electricalPowerMeasurement, electricalEnergyMeasurement, thermostat, temperatureMeasurement } =
    recordOf(stored);
  const { onOff: on } = recordOf(onOff);
  const { energy } = recordOf(recordOf(electricalEnergyMeasurement).cumulativeEnergyImported);
  return {
    ...(onOff !== undefined && { onOff: typeof on === "boolean" ? { onOff: on } : {} }),
    ...(thermostat !== undefined && { thermostat: thermostatIn(recordOf(thermostat)) }),
    ...(electricalPowerMeasurement !== undefined && { electricalPowerMeasurement: { activePower: null } }),
    ...(electricalEnergyMeasurement !== undefined && {
      electricalEnergyMeasurement: { cumulativeEnergyImported: typeof energy === "number" ? { energy } : null },
    }),
    ...(temperatureMeasurement !== undefined && { temperatureMeasurement: { measuredValue: null } }),
  };
}

const thermostatIn = ({ occupiedHeatingSetpoint, systemMode }: JsonObject): Clusters["thermostat"] & object => ({
  ...heatingOnly,
  ...(typeof occupiedHeatingSetpoint === "number" ? { occupiedHeatingSetpoint } : {}),
  ...(typeof systemMode === "number" ? { systemMode } : {}),
});

const types: readonly DeviceType[] = ["OnOffOutlet", "Thermostat", "ElectricalSensor", "TemperatureSensor"];

const isDeviceType = (value: unknown): value is DeviceType => types.some((type) => type === value);
