import type { Device } from "../../contract/resources.ts";
import type { DeviceReading, Reading } from "../../link/driver.ts";
import type { Format, HashUnit } from "../../units/format.ts";

const deviceStatus = { enabled: "Enabled", disabled: "Disabled", sick: "Sick", dead: "Dead" } as const;

/** The devices of a miner by kind. */
export function presentDevices(
  devices: readonly DeviceReading[],
  unit: HashUnit,
  reading: Reading | null,
  format: Format,
): Record<DeviceReading["kind"], Device[]> {
  const lists: Record<DeviceReading["kind"], Device[]> = { asic: [], pga: [], gpu: [], cpu: [] };
  for (const device of devices) lists[device.kind].push(presentDevice(device, unit, reading, format));
  return lists;
}

function presentDevice(device: DeviceReading, unit: HashUnit, reading: Reading | null, format: Format): Device {
  return {
    name: device.name,
    statusInfo: { statusDisplay: deviceStatus[device.status], statusLine3: device.name },
    deviceInfo: {
      deviceType: device.kind.toUpperCase(),
      gpuActivity: whole(device.activity),
      intensity: device.intensity ?? (device.kind === "gpu" ? "0" : null),
      name: device.name,
      gpuClock: whole(mega(device.clock)),
      gpuMemoryClock: whole(mega(device.memoryClock)),
      gpuVoltage: device.voltage === null ? "0" : String(device.voltage),
      gpuPowertune: whole(device.powertune),
      fanSpeed: whole(device.fanRpm),
      fanPercent: whole(device.fanPercent),
      temperature: whole(device.temperature),
      power: device.power,
      memoryTemperature: device.memoryTemperature,
      pciBusId: device.bus,
    },
    progressInfo: {
      line1: format.count(whole(device.accepted)),
      line2: format.count(whole(device.rejected)),
      line3: format.count(whole(device.hardwareErrors)),
    },
    speedInfo: {
      logInterval: whole(reading?.logInterval ?? null),
      hashrate: format.hashrate(device.hashrate, unit),
      avgHashrate: format.hashrate(device.hashrateAverage, unit),
      workUtility: format.decimal(device.workUtility ?? 0),
      hashrateValue: whole(device.hashrate),
      avgHashrateValue: whole(device.hashrateAverage),
    },
  };
}

const mega = (hertz: number | null): number | null => (hertz === null ? null : hertz / 1e6);

/** 0 if it is unknown or too large for an integer. */
export const whole = (value: number | null): number =>
  value !== null && Number.isSafeInteger(Math.round(value)) ? Math.round(value) : 0;
