import type { Conversation } from "../rig.ts";
import type { Program } from "./program.ts";
import { hostPort, json, web } from "./web.ts";

/** GMiner 3.44 over HTTP: read only. */
export const gminer = (program: Program): Conversation =>
  web(program, { "/stat": { answer: () => json(stat(program)) } });

function stat(program: Program): Record<string, unknown> {
  const { model, algorithm, dual, gpus, uptime } = program;
  const { accepted, rejected } = model.shares;
  const pool = model.activePool;
  return {
    miner: "GMiner 3.44",
    uptime,
    server: hostPort(pool?.url ?? ""),
    user: pool?.user ?? "",
    ...(dual === null ? {} : { server2: hostPort(dual.pool.url), user2: dual.pool.user }),
    extended_share_info: true,
    shares_per_minute: 6.8,
    pool_speed: Math.round(model.averageHashrate),
    algorithm: dual === null ? algorithm : `${algorithm} + ${dual.algorithm}`,
    electricity: 0,
    total_accepted_shares: accepted,
    total_rejected_shares: rejected,
    total_stale_shares: 0,
    total_invalid_shares: 0,
    ...(dual === null
      ? {}
      : {
          total_accepted_shares2: dual.accepted,
          total_rejected_shares2: dual.rejected,
          total_stale_shares2: 0,
          total_invalid_shares2: 0,
        }),
    devices: gpus.map((gpu) => ({
      gpu_id: gpu.index,
      bus_id: `0000:${gpu.bus.toString(16).padStart(2, "0").toUpperCase()}:00.0`,
      name: gpu.name,
      speed: Math.round(gpu.hashrate),
      accepted_shares: gpu.accepted,
      rejected_shares: gpu.rejected,
      stale_shares: 0,
      invalid_shares: 0,
      ...(dual === null ? {} : { speed2: Math.round(gpu.dualHashrate), accepted_shares2: 0, rejected_shares2: 0 }),
      fan: gpu.fanPercent,
      temperature: gpu.temperature,
      temperature_limit: 90,
      memory_temperature: gpu.memoryTemperature,
      memory_temperature_limit: 120,
      core_clock: Math.round(gpu.clock / 1e6),
      memory_clock: Math.round(gpu.memoryClock / 1e6),
      power_usage: Math.round(gpu.power),
    })),
    speedrate_unit: "H/s",
    speed_unit: "H/s",
    ...(dual === null ? {} : { speed_unit2: "H/s" }),
    power_unit: "H/W",
  };
}
