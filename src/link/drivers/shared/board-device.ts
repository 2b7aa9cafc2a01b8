import type { Board } from "../../../contract/readings.ts";
import type { DeviceReading } from "../../driver.ts";

export const unknownDevice = {
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
} as const satisfies Partial<DeviceReading>;

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
