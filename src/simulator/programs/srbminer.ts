import type { Conversation } from "../rig.ts";
import type { Program, VirtualGpu } from "./program.ts";
import { hostPort, json, web } from "./web.ts";

/** SRBMiner-MULTI 3.4 over HTTP, on cards or on a processor. Its password is the secret path that restarts it. */
export function srbminer(program: Program): Conversation {
  const { password } = program.options;
  const restart = {
    write: true,
    answer: () => {
      program.model.restart(program.body.restartSeconds);
      return json({ status: "restarting" });
    },
  } as const;
  return web(program, {
    "/": { answer: () => json(statistics(program)) },
    ...(password === undefined || program.isReadOnly ? {} : { [`/${password}`]: restart }),
  });
}

function statistics(program: Program): Record<string, unknown> {
  const { model, algorithm, dual, gpus, uptime, isProcessor } = program;
  const { accepted, rejected } = model.shares;
  const cards = isProcessor ? [] : gpus;
  const shares = (good: number, bad: number) => ({
    total: good + bad,
    accepted: good,
    rejected: bad,
    avg_find_time: 9,
  });
  const byCard = (of: (gpu: VirtualGpu) => number) =>
    Object.fromEntries(cards.map((gpu) => [`gpu${gpu.index}`, of(gpu)]));
  const rates = (now: number, average: number, of: (gpu: VirtualGpu) => number) => ({
    now,
    "1min": now,
    "5min": uptime < 300 ? 0 : average,
    ...(isProcessor
      ? { cpu: { ...threads(now, model.hardware.chips), total: now } }
      : { gpu: { ...byCard(of), total: now } }),
  });
  return {
    rig_name: program.body.name,
    miner_version: "3.4.6",
    driver_version: "22.40.6",
    mining_time: uptime,
    total_cpu_workers: isProcessor ? model.hardware.chips : 0,
    total_gpu_workers: cards.length,
    total_workers: isProcessor ? model.hardware.chips : cards.length,
    cpu_devices: [
      { id: 0, device: "cpu0", model: isProcessor ? model.hardware.model : "AMD Ryzen 5 3600", L3: 33_554_432 },
    ],
    gpu_devices: cards.map((gpu) => ({
      id: gpu.index,
      bus_id: gpu.bus,
      device: `gpu${gpu.index}`,
      model: gpu.name.toLowerCase().replaceAll(" ", "_"),
      core_clock: Math.round(gpu.clock / 1e6),
      memory_clock: Math.round(gpu.memoryClock / 1e6),
      temperature: gpu.temperature,
      asic_power: Math.round(gpu.power),
      fan_speed_rpm: gpu.fanRpm,
    })),
    algorithms: [
      {
        id: 0,
        name: algorithm,
        pool: {
          pool: hostPort(model.activePool?.url ?? ""),
          difficulty: 4_294_967_296,
          time_connected: uptime,
          latency: 38,
        },
        shares: shares(accepted, rejected),
        hashrate: rates(model.hashrate(), model.averageHashrate, ({ hashrate }) => hashrate),
        gpu_accepted_shares: byCard((gpu) => gpu.accepted),
        gpu_rejected_shares: byCard((gpu) => gpu.rejected),
        gpu_compute_errors: byCard(() => 0),
      },
      ...(dual === null
        ? []
        : [
            {
              id: 1,
              name: dual.algorithm,
              pool: { pool: hostPort(dual.pool.url), difficulty: 1_000_000, time_connected: uptime, latency: 41 },
              shares: shares(dual.accepted, dual.rejected),
              hashrate: rates(dual.hashrate, dual.hashrate, ({ dualHashrate }) => dualHashrate),
            },
          ]),
    ],
  };
}

const threads = (rate: number, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`thread${index}`, rate / count]));
