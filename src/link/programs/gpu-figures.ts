import type { HostGpu } from "../../contract/agent.ts";
import type { DeviceReading, Reading } from "../driver.ts";

/** The reading, completed by the host's readings of the same GPUs where the program reports none. */
export function withHostGpus(reading: Reading, gpus: readonly HostGpu[]): Reading {
  if (gpus.length === 0 || reading.devices.length === 0) return reading;
  const byBus = new Map(gpus.map((gpu) => [gpu.pciBusId, gpu]));
  const devices = reading.devices.map((device) => {
    const gpu = device.bus === null ? undefined : byBus.get(device.bus);
    return gpu === undefined ? device : joined(device, gpu);
  });
  const { readings } = reading;
  const power = readings.power ?? sumOf(devices);
  const temperatures = devices.flatMap(({ temperature }) => temperature ?? []);
  return {
    ...reading,
    devices,
    readings: {
      ...readings,
      power,
      powerSource: readings.powerSource ?? (power === null ? null : "reported"),
      temperature: readings.temperature ?? (temperatures.length === 0 ? null : Math.max(...temperatures)),
    },
  };
}

/** A device while its program does not report it. */
export const unreadDevice = (device: DeviceReading): DeviceReading => ({
  ...device,
  status: "enabled",
  hashrate: null,
  hashrateAverage: null,
  accepted: null,
  rejected: null,
  hardwareErrors: null,
  workUtility: null,
  temperature: null,
  memoryTemperature: null,
  fanRpm: null,
  fanPercent: null,
  power: null,
  clock: null,
  memoryClock: null,
  voltage: null,
  activity: null,
  powertune: null,
  intensity: null,
});

/** The model of a device: the host knows the name of a card, some programs only its number. */
export const modelOf = ({ bus, name }: Pick<DeviceReading, "bus" | "name">, gpus: readonly HostGpu[]): string =>
  (bus === null ? undefined : gpus.find(({ pciBusId }) => pciBusId === bus)?.name) ?? name;

/** null if one of them is unknown: the sum would be too low. */
function sumOf(devices: readonly DeviceReading[]): number | null {
  let sum = 0;
  for (const { kind, power } of devices) {
    if (kind !== "gpu") continue;
    if (power === null) return null;
    sum += power;
  }
  return devices.some(({ kind }) => kind === "gpu") ? sum : null;
}

const joined = (device: DeviceReading, gpu: HostGpu): DeviceReading => ({
  ...device,
  status: gpu.lost ? "dead" : device.status,
  temperature: device.temperature ?? gpu.temperature,
  fanRpm: device.fanRpm ?? gpu.fanRpm,
  fanPercent: device.fanPercent ?? gpu.fanPercent,
  clock: device.clock ?? gpu.clock,
  memoryClock: device.memoryClock ?? gpu.memoryClock,
  voltage: device.voltage ?? gpu.voltage,
  activity: device.activity ?? gpu.activity,
  powertune: device.powertune ?? gpu.powertune,
  power: device.power ?? gpu.power,
  memoryTemperature: device.memoryTemperature ?? gpu.memoryTemperature,
});
