import type { Information } from "../accessory-texts.ts";
import type { CommandRequest } from "../send-command.ts";

/** A Matter device as data: pure functions make it from the farm, and `DeviceBinding` applies it. */
export interface DevicePlan {
  /**
   * Its identity for ever, with its type and clusters: `outlet:<uid>`, `heater:<uid>`, `meter:<uid>`,
   * `temperature:<uid>`, `group:<id>` or `rigs`.
   */
  readonly key: string;
  readonly type: DeviceType;
  /** At most 32 bytes. */
  readonly name: string;
  readonly information: Information;
  /** `host:port` of the rig, which identifies it until its uid is known; null = not a rig. */
  readonly host: string | null;
  /** false = it is off, or its state is unknown. */
  readonly reachable: boolean;
  readonly clusters: Clusters;
  readonly commands: DeviceCommands;
}

/** As Homebridge calls them. An `ElectricalSensor` is a rig that cannot be stopped. */
export type DeviceType = "OnOffOutlet" | "Thermostat" | "ElectricalSensor" | "TemperatureSensor";

/**
 * Attributes by the name of their cluster, in Matter's units. null = unknown; an unknown attribute that does not accept
 * null is left out and keeps its value.
 */
export type Clusters = {
  readonly onOff?: { readonly onOff?: boolean };
  /** mW. */
  readonly electricalPowerMeasurement?: { readonly activePower: number | null };
  /** mWh. */
  readonly electricalEnergyMeasurement?: { readonly cumulativeEnergyImported: { readonly energy: number } | null };
  readonly thermostat?: Thermostat;
  /** Hundredths of °C. */
  readonly temperatureMeasurement?: { readonly measuredValue: number | null };
};

/** Temperatures in hundredths of °C. */
type Thermostat = {
  readonly localTemperature?: number | null;
  readonly occupiedHeatingSetpoint?: number;
  readonly systemMode?: number;
  readonly controlSequenceOfOperation?: number;
  readonly absMinHeatSetpointLimit?: number;
  readonly absMaxHeatSetpointLimit?: number;
  readonly minHeatSetpointLimit?: number;
  readonly maxHeatSetpointLimit?: number;
};

/** The commands for a controller's actions on the device. */
export interface DeviceCommands {
  readonly on?: (on: boolean) => CommandRequest;
  /** The room's target in °C. */
  readonly target?: (celsius: number) => CommandRequest;
}
