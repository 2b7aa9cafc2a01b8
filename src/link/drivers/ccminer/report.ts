import type { DeviceReading, PoolReading } from "../../driver.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { unknownDevice } from "../shared/board-device.ts";
import { celsius } from "../shared/figures.ts";
import { busOf, gpuDevice, gpuRules } from "../shared/gpu-device.ts";
import { poolPartsOf } from "../shared/line-replies.ts";
import { type ProgramReport, programPool } from "../shared/program.ts";

/** By the name in the summary. An unknown fork keeps that name. */
const programs: readonly (readonly [sign: RegExp, make: string, software: string])[] = [
  [/cryptodredge/i, "CryptoDredge", "CryptoDredge"],
  [/z-?enemy/i, "z-enemy", "ZEnemy"],
  [/cpuminer-opt/i, "cpuminer-opt", "CpuMinerOpt"],
  [/^ccminer/i, "ccminer", "CcMiner"],
];

/** Its name and software; software "" if GET /api/miningsoftware does not list it. */
export function programOf(summary: TolerantReader): { readonly make: string; readonly software: string } {
  const name = summary.text("NAME", 40) ?? "ccminer API";
  const [, make = name, software = ""] = programs.find(([sign]) => sign.test(name)) ?? [];
  return { make, software };
}

/** Whether it is the summary of such a program. */
export const isSummary = (summary: TolerantReader | undefined): summary is TolerantReader =>
  summary?.has("ALGO") === true && (summary.has("KHS") || summary.has("HS"));

/** Whether it is a program for processors. */
export const isForProcessors = (summary: TolerantReader): boolean => summary.has("CPUS") && !summary.has("GPUS");

export function reportOf(
  summary: TolerantReader,
  threads: readonly TolerantReader[],
  pools: readonly PoolReading[],
): ProgramReport {
  const { make, software } = programOf(summary);
  const hashrate = rateOf(summary);
  const devices = isForProcessors(summary) ? [processor(summary, hashrate)] : threads.map(card);
  return {
    make,
    software,
    version: summary.text("VER", 40),
    devices,
    pools,
    readings: {
      hashrate,
      algorithm: summary.text("ALGO", 64),
      uptime: summary.number("UPTIME"),
      foundBlocks: summary.integer("SOLV") ?? summary.integer("SOL"),
      shares: {
        accepted: summary.integer("ACC"),
        rejected: summary.integer("REJ"),
        hardwareErrors: null,
      },
    },
  };
}

/** KHS is rounded to 10 H/s, so HS counts where it is there too. */
function rateOf(record: TolerantReader): number | null {
  const [precise, thousands] = [record.number("HS"), record.number("KHS", { times: 1e3 })];
  return precise === null || thousands === null ? (precise ?? thousands) : Math.max(precise, thousands);
}

/** Threads of a processor are not listed one by one. */
const processor = (summary: TolerantReader, hashrate: number | null): DeviceReading => ({
  ...unknownDevice,
  kind: "cpu",
  name: "CPU",
  hashrate,
  temperature: summary.number("TEMP", celsius),
  fanPercent: summary.number("FAN", { ...gpuRules.fanPercent, absent: 0 }),
});

function card(thread: TolerantReader, place: number): DeviceReading {
  const megahertz = gpuRules.megahertz;
  return gpuDevice({
    name: thread.text("CARD") ?? `GPU ${thread.integer("GPU") ?? place}`,
    hashrate: rateOf(thread),
    temperature: thread.number("TEMP", gpuRules.temperature),
    power: powerOf(thread),
    fanPercent: thread.number("FAN", gpuRules.fanPercent),
    fanRpm: thread.number("RPM", { absent: 0 }),
    // The current setting or, if that is unknown, the maker's.
    clock: thread.number("GPUF", megahertz) ?? thread.number("FREQ", megahertz),
    memoryClock: thread.number("MEMF", megahertz) ?? thread.number("MEMFREQ", megahertz),
    intensity: thread.text("I", 20),
    accepted: thread.integer("ACC"),
    rejected: thread.integer("REJ"),
    hardwareErrors: thread.integer("HWF"),
    bus: thread.number("BUS", { min: -1, absent: -1 }) === null ? null : busOf(thread, "BUS"),
  });
}

/** In mW; some forks write W, and no card uses less than one or more than a thousand. */
function powerOf(thread: TolerantReader): number | null {
  const written = thread.number("POWER", { absent: 0, max: 5e6 });
  return written === null || written < 1_000 ? written : written / 1e3;
}

/** A pool as `pool` lists it, or the place in the summary of a program without pools. */
export function poolOf(pool: TolerantReader, index: number, active: boolean): PoolReading[] {
  const written = pool.text("URL", 255);
  if (written === null) return [];
  const { url, worker } = poolPartsOf(written);
  return programPool({
    url,
    worker: pool.text("USER", 255) ?? worker,
    index,
    priority: index,
    active,
    accepted: pool.integer("ACC"),
    rejected: pool.integer("REJ"),
    stale: pool.integer("STALE"),
  });
}
