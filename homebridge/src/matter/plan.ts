import type { Information } from "../homekit/plan.ts";
import type { CommandRequest } from "../send-command.ts";

/**
 * Accessories of Matter as data: what the pure functions of this folder make of a farm, and what `ShownDevice` brings
 * to Homebridge.
 */
export interface DevicePlan {
  /**
   * What makes it itself for ever, and its type and clusters with it: `outlet:<uid>`, `heater:<uid>`, `meter:<uid>`,
   * `temperature:<uid>`, `group:<id>`.
   */
  readonly key: string;
  readonly type: DeviceType;
  /** 32 bytes at most. */
  readonly name: string;
  readonly information: Information;
  /** `host:port` of the rig, by which it is known again before it has been identified; null = no rig. */
  readonly host: string | null;
  /** false = it is off, or nobody knows how it is. */
  readonly reachable: boolean;
  readonly clusters: Clusters;
  readonly commands: DeviceCommands;
}

/** As Homebridge calls them. A meter is a rig that cannot be stopped. */
export type DeviceType = "OnOffOutlet" | "Thermostat" | "ElectricalSensor" | "TemperatureSensor";

/**
 * Attributes by the name of their cluster, in Matter's units. null = nobody knows, where the attribute takes that;
 * where it does not, an attribute that nobody knows is left out, and stays as it was.
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
  readonly localTemperature: number | null;
  readonly occupiedHeatingSetpoint?: number;
  readonly systemMode?: number;
  readonly controlSequenceOfOperation: number;
  readonly absMinHeatSetpointLimit: number;
  readonly absMaxHeatSetpointLimit: number;
  readonly minHeatSetpointLimit: number;
  readonly maxHeatSetpointLimit: number;
};

/** What is said to the rigs when a controller wants something of the device. */
export interface DeviceCommands {
  readonly on?: (on: boolean) => CommandRequest;
  /** °C that the room should have. */
  readonly target?: (celsius: number) => CommandRequest;
}
