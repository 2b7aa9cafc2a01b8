import type { Board } from "../../../contract/readings.ts";
import type { DeviceReading } from "../../driver.ts";

/** Unknown values are null. */
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
 * Each driver sets kind and name. They are included here nonetheless: V8 copies the object in one piece, and later
 * properties would take extra memory.
 */
export const unknownDevice: Omit<DeviceReading, "kind" | "name"> = device;

/** A board as a device, with further known values. */
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
