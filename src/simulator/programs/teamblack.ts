import type { Conversation } from "../rig.ts";
import type { Program, VirtualGpu } from "./program.ts";
import { hostPort, json, web } from "./web.ts";

/** Team Black Miner 2.44 over HTTP; an older one is 1.10, which has no /summary. */
export function teamblack(program: Program): Conversation {
  const older = {
    "/help": { answer: () => json({ commands: ["help", "miner", "threads", "pool"] }) },
    "/miner": { answer: () => json(miner(program)) },
    "/threads": { answer: () => json(threads(program)) },
    "/pool": { answer: () => json(pools(program)[0]) },
  };
  return web(
    program,
    program.options.older === true ? older : { ...older, "/summary": { answer: () => json(summary(program)) } },
  );
}

const byNumber = (list: readonly unknown[]): Record<string, unknown> => ({ ...list });

const summary = (program: Program): Record<string, unknown> => ({
  miner: miner(program),
  pool: byNumber(pools(program)),
  devices: threads(program),
});

function miner(program: Program): Record<string, unknown> {
  const { accepted, rejected } = program.model.shares;
  return {
    name: "TBMiner",
    version: program.options.older === true ? "1.10" : "2.44",
    api_version: program.options.older === true ? "1.0" : "1.3",
    num_gpu_threads: program.gpus.length,
    total_hashrate: Math.round(program.model.hashrate(30)),
    total_accepted: accepted,
    total_rejected: rejected,
    total_stale: 0,
    uptime_minutes: Math.floor(program.uptime / 60),
  };
}

/** A card that mines two algorithms has a thread for each. */
function threads({ gpus, algorithm, dual, options }: Program): Record<string, unknown> {
  const first = gpus.map((gpu) => thread(gpu, algorithm, gpu.hashrate, options.older === true));
  return byNumber(
    dual === null ? first : [...first, ...gpus.map((gpu) => thread(gpu, dual.algorithm, gpu.dualHashrate, false))],
  );
}

const thread = (gpu: VirtualGpu, algo: string, hashrate: number, isOlder: boolean): Record<string, unknown> => ({
  gpu: gpu.index,
  pcie_id: gpu.bus,
  board_name: gpu.name,
  type: "Cuda",
  ...(isOlder ? {} : { algo, xintensity: 4096 }),
  gpu_temp: gpu.temperature,
  mem_temp: gpu.memoryTemperature,
  fan: gpu.fanPercent,
  core_clock: Math.round(gpu.clock / 1e6),
  mem_clock: Math.round(gpu.memoryClock / 1e6),
  watt: Math.round(gpu.power),
  hashrate: Math.round(hashrate),
  accepted: gpu.accepted,
  rejected: gpu.rejected,
  stale: 0,
});

function pools({ model, algorithm, dual, options }: Program): Record<string, unknown>[] {
  const { accepted, rejected } = model.shares;
  const pool = model.activePool;
  const first = {
    url: hostPort(pool?.url ?? ""),
    worker: pool?.user ?? "",
    algo: algorithm,
    job: "bbcd54",
    epoch: 444,
    block: 0,
    diff: 1,
    ping: pool === null ? 0 : 24,
  };
  if (options.older === true) return [first];
  const counted = {
    ...first,
    total_hashrate: Math.round(model.hashrate(30)),
    total_accepted: accepted,
    total_rejected: rejected,
    total_stale: 0,
  };
  if (dual === null) return [counted];
  const second = {
    ...first,
    url: hostPort(dual.pool.url),
    worker: dual.pool.user,
    algo: dual.algorithm,
    total_hashrate: Math.round(dual.hashrate),
    total_accepted: dual.accepted,
    total_rejected: dual.rejected,
    total_stale: 0,
  };
  return [counted, second];
}
