import type { DeviceReading, PoolReading } from "../../driver.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { unknownDevice } from "../shared/board-device.ts";
import { busOf, dualWork, gpuDevice, gpuRules } from "../shared/gpu-device.ts";
import { type ProgramReport, programPool } from "../shared/program.ts";

/** Rates are in H/s. Each algorithm lists its devices' rates under their names, such as `gpu0`. */
export function report(page: TolerantReader): ProgramReport {
  const [first, second] = page.list("algorithms", 4);
  return {
    software: "SrbMinerMulti",
    make: "SRBMiner-MULTI",
    version: page.text("miner_version"),
    hostname: page.text("rig_name"),
    readings: {
      ...(first === undefined
        ? {}
        : {
            hashrate: first.object("hashrate").number("now"),
            hashrateAverage: averageOf(first),
            algorithm: first.text("name"),
            shares: sharesOf(first),
          }),
      dual:
        second === undefined
          ? null
          : dualWork({
              algorithm: second.text("name"),
              hashrate: second.object("hashrate").number("now"),
              hashrateAverage: averageOf(second),
              shares: sharesOf(second),
            }),
      uptime: page.number("mining_time"),
    },
    devices: [
      ...page.list("gpu_devices", 64).map((device, position) => card(device, position, first)),
      ...((page.number("total_cpu_workers") ?? 0) > 0
        ? page.list("cpu_devices", 8).map((device, position) => processor(device, position, first))
        : []),
    ],
    pools: [...poolOf(first, false), ...poolOf(second, true)],
  };
}

/** The average over the longest time that it reports. */
const averageOf = (algorithm: TolerantReader): number | null =>
  ["6hr", "1hr", "5min", "1min"]
    .map((key) => algorithm.object("hashrate").number(key, { absent: 0 }))
    .find((rate) => rate !== null) ?? null;

function sharesOf(algorithm: TolerantReader) {
  const shares = algorithm.object("shares");
  return { accepted: shares.integer("accepted"), rejected: shares.integer("rejected"), hardwareErrors: null };
}

/** It names neither the wallet nor the worker. */
function poolOf(algorithm: TolerantReader | undefined, second: boolean): PoolReading[] {
  if (algorithm === undefined) return [];
  const { accepted, rejected } = sharesOf(algorithm);
  return programPool({ second, url: algorithm.object("pool").text("pool", 255), worker: null, accepted, rejected });
}

function card(device: TolerantReader, position: number, algorithm: TolerantReader | undefined): DeviceReading {
  const key = device.text("device") ?? `gpu${position}`;
  const of = (part: string): number | null => algorithm?.object(part).integer(key) ?? null;
  return gpuDevice({
    name: device.text("model") ?? key,
    hashrate: algorithm?.object("hashrate").object("gpu").number(key) ?? null,
    temperature: device.number("temperature", gpuRules.temperature),
    fanPercent: device.number("fan_speed", gpuRules.fanPercent),
    fanRpm: device.number("fan_speed_rpm"),
    power: device.number("asic_power", gpuRules.power),
    clock: device.number("core_clock", gpuRules.megahertz),
    memoryClock: device.number("memory_clock", gpuRules.megahertz),
    accepted: of("gpu_accepted_shares"),
    rejected: of("gpu_rejected_shares"),
    hardwareErrors: of("gpu_compute_errors") ?? device.integer("compute_errors"),
    bus: busOf(device, "bus_id"),
  });
}

const processor = (device: TolerantReader, position: number, algorithm: TolerantReader | undefined): DeviceReading => ({
  ...unknownDevice,
  kind: "cpu",
  name: device.text("model") ?? `CPU ${position}`,
  hashrate:
    position === 0 ? (algorithm?.object("hashrate").object("cpu").number("total", { absent: 0 }) ?? null) : null,
});
