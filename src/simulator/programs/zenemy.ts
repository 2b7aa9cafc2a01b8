import type { Conversation } from "../rig.ts";
import type { Program } from "./program.ts";
import { json, web } from "./web.ts";

/** z-enemy 2.6 over HTTP: read only. */
export const zenemy = (program: Program): Conversation =>
  web(program, { "/summary": { answer: () => json(summary(program)) } });

function summary(program: Program): Record<string, unknown> {
  const { model, algorithm, gpus, uptime } = program;
  const { accepted, rejected } = model.shares;
  const pool = model.activePool;
  return {
    accepted_count: accepted,
    active_pool: { difficulty: 128, ping: 38, retries: 0, url: pool?.url ?? "", user: pool?.user ?? "" },
    algorithm,
    api: "1.2",
    cuda: "10.10",
    description: "z-enemy NVIDIA GPU miner",
    difficulty: 31_968.2,
    gpu_total: gpus.length,
    gpus: gpus.map((gpu) => ({
      device_id: gpu.index,
      fan_speed: gpu.fanPercent,
      gpu_id: gpu.index,
      gpu_user_id: gpu.index,
      hashrate: Math.round(gpu.hashrate),
      hashrate_day: 0,
      hashrate_hour: 0,
      hashrate_minute: Math.round(gpu.hashrate),
      intensity: 20,
      name: gpu.name.replace("NVIDIA ", ""),
      power: Math.round(gpu.power),
      temperature: gpu.temperature,
      vendor: "NVIDIA",
    })),
    hashrate: Math.round(model.hashrate()),
    hashrate_day: 0,
    hashrate_hour: 0,
    hashrate_minute: Math.round(model.hashrate(60)),
    name: "z-enemy",
    os: "linux",
    rejected_count: rejected,
    solved_count: 0,
    ts: Math.floor(model.at / 1000),
    uptime,
    version: "2.6.3",
  };
}
