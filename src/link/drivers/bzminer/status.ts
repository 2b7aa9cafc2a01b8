import type { DeviceReading, PoolReading } from "../../driver.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { total } from "../shared/figures.ts";
import { busOf, dualWork, gpuDevice, gpuRules } from "../shared/gpu-device.ts";
import { type ProgramReport, programPool } from "../shared/program.ts";

/** Of a device that mines. */
const miningStatus = 3;
/** The maker of a processor; 1 is NVIDIA, others make cards too. */
const processorVendor = 4;

/** The page /status. A device lists the pools that it mines at, and figures for each of them in the same order. */
export function report(status: TolerantReader): ProgramReport {
  const devices = status.list("devices", 64);
  const pools = poolsInUse(status, devices);
  const [first, second] = pools;
  return {
    software: "BzMiner",
    make: "BzMiner",
    version: status.text("bzminer_version")?.replace(/^v/i, "") ?? null,
    hostname: status.text("rig_name"),
    readings: {
      hashrate: rateAt(devices, first, 0),
      algorithm: first?.text("algorithm") ?? null,
      dual:
        second === undefined
          ? null
          : dualWork({
              algorithm: second.text("algorithm"),
              hashrate: rateAt(devices, second, 1),
              shares: sharesOf(second),
            }),
      uptime: status.number("uptime_s"),
      ...(first === undefined ? {} : { shares: sharesOf(first) }),
    },
    devices: devices.map((device, position) => cardOf(device, position, placeOf(device, first, 0))),
    pools: [...poolOf(first, false), ...poolOf(second, true)],
  };
}

export const isMining = (status: TolerantReader): boolean =>
  status.list("devices", 64).some((device) => device.numbers("status").includes(miningStatus));

/** It also lists pools that no device mines at, as placeholders without an address. */
function poolsInUse(status: TolerantReader, devices: readonly TolerantReader[]): TolerantReader[] {
  const used = devices.map((device) => device.numbers("pool")).find((ids) => ids.length > 0) ?? [];
  const listed = status.list("pools", 16).filter((pool) => pool.text("current_url", 255) !== null);
  const named = used.flatMap((id) => listed.find((pool) => pool.number("id") === id) ?? []);
  return (named.length > 0 ? named : listed.filter((pool) => (pool.number("status") ?? 0) > 0)).slice(0, 2);
}

/** The index of this pool's figures in a device's lists. */
function placeOf(device: TolerantReader, pool: TolerantReader | undefined, otherwise: number): number {
  const place = device.numbers("pool").indexOf(pool?.number("id") ?? null);
  return place === -1 ? otherwise : place;
}

const rateAt = (devices: readonly TolerantReader[], pool: TolerantReader | undefined, otherwise: number) =>
  total(devices.map((device) => device.numbers("hashrate")[placeOf(device, pool, otherwise)] ?? null));

const sharesOf = (pool: TolerantReader) => ({
  accepted: pool.integer("valid_solutions"),
  rejected: pool.integer("rejected_solutions"),
  hardwareErrors: pool.integer("invalid_solutions"),
});

const poolOf = (pool: TolerantReader | undefined, second: boolean): PoolReading[] =>
  pool === undefined
    ? []
    : programPool({
        second,
        url: pool.text("current_url", 255),
        worker: pool.text("wallet", 255),
        accepted: pool.integer("valid_solutions"),
        rejected: pool.integer("rejected_solutions"),
        stale: pool.integer("stale_solutions"),
        ...(pool.number("status") === 0 ? { active: false } : {}),
      });

const cardOf = (device: TolerantReader, position: number, place: number): DeviceReading => ({
  ...gpuDevice({
    name: device.text("name") ?? `GPU ${position}`,
    hashrate: device.numbers("hashrate")[place] ?? null,
    temperature: device.number("core_temp", gpuRules.temperature),
    memoryTemperature: device.number("mem_temp", gpuRules.temperature),
    fanPercent: device.number("fan", gpuRules.fanPercent),
    power: device.number("power", gpuRules.power),
    clock: device.number("clock_rate", gpuRules.megahertz),
    memoryClock: device.number("memory_rate", gpuRules.megahertz),
    accepted: device.numbers("valid_solutions")[place] ?? null,
    rejected: device.numbers("rejected_solutions")[place] ?? null,
    bus: busOf(device, "pci_bus_id"),
  }),
  ...(device.number("vendor") === processorVendor ? { kind: "cpu", bus: null } : {}),
});
