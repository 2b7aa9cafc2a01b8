import type { MatterAccessory } from "homebridge";
import { type JsonObject, recordOf } from "../config/json.ts";
import { heatingOnly } from "./devices.ts";
import type { Clusters, DevicePlan, DeviceType } from "./plan.ts";

/** What is kept with a device from one run to the next. */
export interface Context {
  readonly key: string;
  readonly type: DeviceType;
  readonly host: string | null;
}

/** The plan of a device as Homebridge remembers it, without what is true only now; null where it is none of ours. */
export function rememberedPlan(accessory: MatterAccessory): DevicePlan | null {
  const { displayName, manufacturer, model, serialNumber, firmwareRevision, clusters } = accessory;
  const { key, type, host } = recordOf(accessory.context);
  if (typeof key !== "string" || !isDeviceType(type)) return null;
  return withoutNow({
    key,
    type,
    name: displayName,
    information: { manufacturer, model, serial: serialNumber, firmware: firmwareRevision ?? "0" },
    host: typeof host === "string" ? host : null,
    reachable: false,
    clusters: picked(clusters ?? {}),
    commands: {},
  });
}

/** A device of which nobody knows how it is: what was counted stays, and so does what Matter must have. */
export function withoutNow(plan: DevicePlan): DevicePlan {
  return { ...plan, reachable: false, clusters: unknown(plan.clusters), commands: {} };
}

function unknown(clusters: Clusters): Clusters {
  const { electricalPowerMeasurement, temperatureMeasurement, thermostat } = clusters;
  return {
    ...clusters,
    ...(electricalPowerMeasurement === undefined ? {} : { electricalPowerMeasurement: { activePower: null } }),
    ...(temperatureMeasurement === undefined ? {} : { temperatureMeasurement: { measuredValue: null } }),
    ...(thermostat === undefined ? {} : { thermostat: { ...thermostat, localTemperature: null } }),
  };
}

/** Those that a plan has, of what Homebridge wrote down: it adds some of its own. */
function picked(written: object): Clusters {
  const { onOff, electricalPowerMeasurement, electricalEnergyMeasurement, thermostat, temperatureMeasurement } =
    recordOf(written);
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
  localTemperature: null,
  ...(typeof occupiedHeatingSetpoint === "number" ? { occupiedHeatingSetpoint } : {}),
  ...(typeof systemMode === "number" ? { systemMode } : {}),
});

const types: readonly DeviceType[] = ["OnOffOutlet", "Thermostat", "ElectricalSensor", "TemperatureSensor"];

const isDeviceType = (value: unknown): value is DeviceType => types.some((type) => type === value);
