import { isRecord } from "../../../contract/record.ts";
import type { DeviceReading } from "../../driver.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { unknownDevice } from "../shared/board-device.ts";
import { busOf, gpuDevice, gpuRules } from "../shared/gpu-device.ts";

/**
 * One device for the processor, one for each card, from GET /2/backends; without it, the processor from the summary.
 */
export function devicesOf(backends: unknown, summary: TolerantReader, notes: Notes): DeviceReading[] {
  const used = listed(backends, notes).filter((backend) => backend.boolean("enabled") === true);
  if (backends === null || backends === undefined) return [processor(summary, summary)];
  return used.flatMap((backend) =>
    backend.text("type") === "cpu" ? [processor(backend, summary)] : backend.list("threads").map(card),
  );
}

/** Whether a backend other than the processor's is enabled. */
export function hasGraphics(backends: unknown): boolean {
  if (!Array.isArray(backends)) return false;
  return backends.some((backend: unknown) => isRecord(backend) && backend.enabled === true && backend.type !== "cpu");
}

function listed(backends: unknown, notes: Notes): TolerantReader[] {
  return new TolerantReader({ backends }, notes, "").list("backends", 16);
}

/** Its present rate comes from the summary, since the backend is not read each time. */
function processor(backend: TolerantReader, summary: TolerantReader): DeviceReading {
  const [now, , average] = summary.object("hashrate").numbers("total");
  return {
    ...unknownDevice,
    kind: "cpu",
    name: summary.object("cpu").text("brand") ?? backend.text("type") ?? "CPU",
    hashrate: now ?? null,
    hashrateAverage: average ?? null,
  };
}

/** CUDA reports `name` and `fan_speed` in %, OpenCL `board` and `rpm`. `health` requires NVML or ADL. */
function card(thread: TolerantReader, position: number): DeviceReading {
  const health = thread.object("health");
  const [now, , average] = thread.numbers("hashrate");
  const fans = health.numbers("fan_speed", { max: 100 }).filter((percent) => percent !== null);
  const name = thread.text("board") ?? thread.text("name") ?? `GPU ${position}`;
  const bus = thread.text("bus_id");
  return gpuDevice({
    name: bus === null ? name : `${name} (${bus})`,
    hashrate: now ?? null,
    hashrateAverage: average ?? null,
    temperature: health.number("temperature", gpuRules.temperature),
    fanRpm: rpmOf(health),
    fanPercent: fans.length === 0 ? null : Math.max(...fans),
    clock: health.number("clock", gpuRules.megahertz) ?? thread.number("clock", gpuRules.megahertz),
    memoryClock: health.number("mem_clock", gpuRules.megahertz) ?? thread.number("memory_clock", gpuRules.megahertz),
    intensity: thread.text("intensity"),
    power: health.number("power", gpuRules.power),
    bus: busOf(thread, "bus_id"),
  });
}

/** One number, or one for each fan. */
function rpmOf(health: TolerantReader): number | null {
  if (!health.has("rpm")) return null;
  const list = health.isList("rpm") ? health.numbers("rpm").filter((rpm) => rpm !== null) : [];
  return list.length > 0 ? Math.max(...list) : health.isList("rpm") ? null : health.number("rpm");
}
