import type { Board } from "../../../contract/readings.ts";
import type { DeviceReading } from "../../driver.ts";

/** What is not known is null. */
const device: DeviceReading = {
  kind: "asic",
  name: "",
  status: "enabled",
  hashrate: null,
  hashrateAverage: null,
  temperature: null,
  fanRpm: null,
  fanPercent: null,
  clock: null,
  memoryClock: null,
  voltage: null,
  activity: null,
  powertune: null,
  intensity: null,
  accepted: null,
  rejected: null,
  hardwareErrors: null,
  workUtility: null,
  power: null,
  memoryTemperature: null,
  bus: null,
};

/**
 * Each driver gives kind and name. They have their place here all the same: V8 copies it in one piece, and properties that
 * come later would take memory of their own.
 */
export const unknownDevice: Omit<DeviceReading, "kind" | "name"> = device;

/** A board as a device, with what else is known of it. */
export const boardDevice = (board: Board, known: Partial<DeviceReading> = {}): DeviceReading => ({
  ...unknownDevice,
  kind: "asic",
  name: `Board ${board.slot}`,
  hashrate: board.hashrate,
  temperature: board.temperature,
  clock: board.frequency,
  voltage: board.voltage,
  ...known,
});
