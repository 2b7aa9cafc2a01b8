import type { DeviceReading, PoolReading } from "../../driver.ts";
import { stopped } from "../../reason.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { type CardFields, cardFigures, dualWork, gpuDevice } from "../shared/gpu-device.ts";
import { loginOf, type ProgramReport, programPool } from "../shared/program.ts";

/** Whether the page names this program. */
export const isNamed = (page: TolerantReader, name: RegExp): boolean =>
  name.test(page.text("name") ?? "") || name.test(page.text("description") ?? "");

/**
 * The page /summary, which z-enemy has in T-Rex's early form. Rates are in H/s; averages over more time than it runs are
 * 0.
 */
export function summaryReport(page: TolerantReader, program: Pick<ProgramReport, "software" | "make">): ProgramReport {
  const paused = page.boolean("paused");
  const second = page.has("dual_stat") ? page.object("dual_stat") : null;
  const earlier = page.list("stat_by_gpu", 64);
  return {
    ...program,
    version: page.text("version"),
    readings: {
      hashrate: page.number("hashrate"),
      hashrateAverage: averageOf(page),
      algorithm: page.text("algorithm"),
      dual:
        second === null
          ? null
          : dualWork({
              algorithm: second.text("algorithm"),
              hashrate: second.number("hashrate"),
              hashrateAverage: averageOf(second),
              shares: sharesOf(second),
            }),
      uptime: page.number("uptime"),
      mining: paused === null ? null : !paused,
      foundBlocks: page.integer("solved_count"),
      shares: sharesOf(page),
    },
    devices: page.list("gpus", 64).map((gpu, position) => card(gpu, position, earlier[position])),
    pools: [...poolOf(page, false), ...(second === null ? [] : poolOf(second, true))],
    halt: paused === true ? stopped : undefined,
  };
}

const averageOf = (stat: TolerantReader): number | null =>
  stat.number("hashrate_day", { absent: 0 }) ??
  stat.number("hashrate_hour", { absent: 0 }) ??
  stat.number("hashrate_minute", { absent: 0 });

const sharesOf = (stat: TolerantReader) => ({
  accepted: stat.integer("accepted_count"),
  rejected: stat.integer("rejected_count"),
  hardwareErrors: stat.integer("invalid_count"),
});

function poolOf(stat: TolerantReader, second: boolean): PoolReading[] {
  const pool = stat.object("active_pool");
  return programPool({
    second,
    url: pool.text("url", 255),
    worker: loginOf(pool.text("user", 255), pool.text("worker", 255)),
    accepted: stat.integer("accepted_count"),
    rejected: stat.integer("rejected_count"),
  });
}

/** The number by which T-Rex takes commands for a card. */
export const cardNumber = (gpu: TolerantReader): number | null =>
  gpu.integer("gpu_user_id", { max: 99 }) ??
  gpu.integer("gpu_id", { max: 99 }) ??
  gpu.integer("device_id", { max: 99 });

const fields = {
  hashrate: "hashrate",
  temperature: "temperature",
  memoryTemperature: "memory_temperature",
  fanPercent: "fan_speed",
  power: "power",
  clock: "cclock",
  memoryClock: "mclock",
  bus: "pci_bus",
} satisfies CardFields;

/** `earlier`: where its shares stood before version 0.20. */
function card(gpu: TolerantReader, position: number, earlier: TolerantReader | undefined): DeviceReading {
  const shares = gpu.has("shares") ? gpu.object("shares") : (earlier ?? gpu.object("shares"));
  return gpuDevice({
    name: gpu.text("name") ?? `GPU ${position}`,
    status: statusOf(gpu),
    ...cardFigures(gpu, fields),
    hashrateAverage: averageOf(gpu),
    intensity: gpu.text("intensity"),
    ...sharesOf(shares),
  });
}

/** T-Rex disables a card that overheats or fails. */
function statusOf(gpu: TolerantReader): DeviceReading["status"] {
  if (gpu.boolean("disabled") === true) return gpu.has("disabled_at_temperature") ? "sick" : "dead";
  return gpu.boolean("paused") === true ? "disabled" : "enabled";
}
