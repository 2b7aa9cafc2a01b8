import type { Conversation } from "../rig.ts";
import type { Program } from "./program.ts";
import { json, web } from "./web.ts";

/** OneZeroMiner 1.8 over HTTP; an older one does not count invalid shares. */
export const onezerominer = (program: Program): Conversation =>
  web(program, { "/": { answer: () => json(status(program)) } });

function status(program: Program): Record<string, unknown> {
  const { model, gpus, dual, uptime, options } = program;
  const { accepted, rejected } = model.shares;
  const pool = model.activePool;
  const invalid = options.older === true ? {} : { total_invalid_shares: 0, devices_invalid_shares: gpus.map(() => 0) };
  const first = {
    id: 0,
    name: program.algorithm,
    split: false,
    session: { active: true, next_session: 0 },
    pool: pool?.url ?? "",
    pool_status: pool === null ? "disconnected" : "connected",
    hashrates: gpus.map(({ hashrate }) => Math.round(hashrate)),
    total_hashrate: Math.round(model.hashrate(30)),
    total_accepted_shares: accepted,
    total_rejected_shares: rejected,
    devices_accepted_shares: gpus.map((gpu) => gpu.accepted),
    devices_rejected_shares: gpus.map((gpu) => gpu.rejected),
    ...invalid,
  };
  const second = dual && {
    ...first,
    id: 1,
    name: dual.algorithm,
    pool: dual.pool.url,
    hashrates: gpus.map(({ dualHashrate }) => Math.round(dualHashrate)),
    total_hashrate: Math.round(dual.hashrate),
    total_accepted_shares: dual.accepted,
    total_rejected_shares: dual.rejected,
  };
  const algos = second === null ? [first] : [first, second];
  return {
    name: "OneZeroMiner",
    version: options.older === true ? "1.7.4" : "1.8.0",
    start_time: Math.floor(model.startedAt / 1000),
    start_time_str: new Date(model.startedAt).toISOString(),
    uptime_seconds: uptime,
    uptime_str: `${Math.floor(uptime / 3600)}h`,
    last_update: Math.floor(model.at / 1000),
    devices: gpus.map((gpu) => ({
      id: gpu.index,
      bus_id: gpu.bus,
      name: gpu.name,
      vendor: "NVIDIA",
      cclk: Math.round(gpu.clock / 1e6),
      mclk: Math.round(gpu.memoryClock / 1e6),
      temp: gpu.temperature,
      mem_temp: gpu.memoryTemperature,
      fan: gpu.fanPercent,
      power: Math.round(gpu.power),
    })),
    num_algos: algos.length,
    algos,
  };
}
