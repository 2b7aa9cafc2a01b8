import type { Conversation } from "../rig.ts";
import type { Program } from "./program.ts";
import { hostPort, json, web } from "./web.ts";

/** NBMiner 42.3 over HTTP: read only. */
export const nbminer = (program: Program): Conversation =>
  web(program, { "/api/v1/status": { answer: () => json(status(program)) } });

const mega = (rate: number): string => `${(rate / 1e6).toFixed(2)} M`;

function status(program: Program): Record<string, unknown> {
  const { model, algorithm, dual, gpus } = program;
  const { accepted, rejected } = model.shares;
  const pool = model.activePool;
  const rate = model.hashrate();
  return {
    miner: {
      devices: gpus.map((gpu) => ({
        accepted_shares: gpu.accepted,
        core_clock: Math.round(gpu.clock / 1e6),
        core_utilization: gpu.hashrate > 0 ? 100 : 0,
        fan: gpu.fanPercent,
        hashrate: mega(gpu.hashrate),
        hashrate2: mega(gpu.dualHashrate),
        hashrate2_raw: gpu.dualHashrate,
        hashrate_raw: gpu.hashrate,
        id: gpu.index,
        info: gpu.name,
        invalid_shares: 0,
        lhr: 0,
        mem_clock: Math.round(gpu.memoryClock / 1e6),
        mem_utilization: gpu.hashrate > 0 ? 98 : 0,
        memTemperature: -1,
        pci_bus_id: gpu.bus,
        power: Math.round(gpu.power),
        rejected_shares: gpu.rejected,
        temperature: gpu.temperature,
      })),
      total_hashrate: mega(rate),
      total_hashrate2: mega(dual?.hashrate ?? 0),
      total_hashrate2_raw: dual?.hashrate ?? 0,
      total_hashrate_raw: rate,
      total_power_consume: Math.round(gpus.reduce((sum, { power }) => sum + power, 0)),
    },
    reboot_times: 0,
    start_time: Math.floor(model.startedAt / 1000),
    stratum: {
      accepted_shares: accepted,
      algorithm: dual === null ? algorithm : `${algorithm}_${dual.algorithm}`,
      difficulty: "4.295G",
      dual_mine: dual !== null,
      invalid_shares: 0,
      latency: 38,
      pool_hashrate_10m: mega(model.averageHashrate),
      rejected_shares: rejected,
      url: hostPort(pool?.url ?? ""),
      use_ssl: pool?.url.startsWith("stratum+ssl") ?? false,
      user: pool?.user ?? "",
      ...(dual === null
        ? {}
        : {
            accepted_shares2: dual.accepted,
            difficulty2: "1.000G",
            invalid_shares2: 0,
            latency2: 41,
            rejected_shares2: dual.rejected,
            url2: hostPort(dual.pool.url),
            use_ssl2: false,
            user2: dual.pool.user,
          }),
    },
    version: "42.3",
  };
}
