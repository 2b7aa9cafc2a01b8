import type { Conversation } from "../rig.ts";
import type { DualWork, Program } from "./program.ts";
import { json, web } from "./web.ts";

/** Rigel 1.23 over HTTP: read only, with the passwords of its pools in the clear. */
export function rigel(program: Program): Conversation {
  const page = { answer: () => json(stat(program)) };
  return web(program, { "/": page, "/stat": page });
}

const solutions = (accepted: number, rejected: number) => ({ accepted, rejected, invalid: 0 });

function stat(program: Program): Record<string, unknown> {
  const { model, algorithm, dual, gpus, uptime } = program;
  const { accepted, rejected } = model.shares;
  /** A figure of each algorithm, by its name. */
  const each = <T>(first: T, second: T): Record<string, T> =>
    dual === null ? { [algorithm]: first } : { [algorithm]: first, [dual.algorithm]: second };
  return {
    name: "Rigel",
    version: "1.23.2",
    cuda_driver: "12.4",
    nvidia_driver: "550.54.14",
    uptime,
    algorithm: dual === null ? algorithm : `${algorithm}+${dual.algorithm}`,
    hashrate: each(Math.round(model.hashrate()), Math.round(dual?.hashrate ?? 0)),
    pool_hashrate: each(Math.round(model.averageHashrate), 0),
    solution_stat: each(solutions(accepted, rejected), solutions(dual?.accepted ?? 0, dual?.rejected ?? 0)),
    power_usage: Math.round(gpus.reduce((sum, { power }) => sum + power, 0)),
    pools: each(
      [...model.pools].sort((a, b) => a.priority - b.priority).map((each) => pool(each, each.alive)),
      dual === null ? [] : [pool(dual.pool, true)],
    ),
    devices: gpus.map((gpu) => ({
      id: gpu.index,
      selected: true,
      name: gpu.name,
      total_mem: 8_361_738_240,
      pci_address: `${gpu.bus.toString(16).padStart(2, "0")}:00.0`,
      state: gpu.status === "lost" ? "Failed" : "Mining",
      hashrate: each(Math.round(gpu.hashrate), Math.round(gpu.dualHashrate)),
      solution_stat: each(solutions(gpu.accepted, gpu.rejected), solutions(0, 0)),
      dual_ratio: dual === null ? null : 8,
      crash_count: 0,
      monitoring_info:
        gpu.status === "lost"
          ? null
          : {
              core_temperature: gpu.temperature,
              memory_temperature: gpu.memoryTemperature,
              fan_speed: gpu.fanPercent,
              power_usage: Math.round(gpu.power),
              core_clock: Math.round(gpu.clock / 1e6),
              memory_clock: Math.round(gpu.memoryClock / 1e6),
              core_utilization: gpu.hashrate > 0 ? 100 : 0,
            },
    })),
  };
}

function pool({ url, user, password }: DualWork["pool"], isAlive: boolean): Record<string, unknown> {
  const { protocol, hostname, port } = new URL(url);
  return {
    connection_details: {
      hostname,
      port: Number(port),
      protocol: protocol.slice(0, -1),
      username: user,
      worker: null,
      password,
      ssl: protocol.includes("ssl"),
    },
    average_latency_ms: 38,
    state: isAlive ? "Connected" : "Disconnected",
  };
}
