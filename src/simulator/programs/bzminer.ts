import type { HttpRequest } from "../http-message.ts";
import type { Reply } from "../reply.ts";
import type { Conversation } from "../rig.ts";
import type { Program } from "./program.ts";
import { json, web } from "./web.ts";

/** BzMiner 24.0 over HTTP. With a password its commands require it; everybody may read. */
export const bzminer = (program: Program): Conversation =>
  web(program, {
    "/status": { answer: () => json(status(program)) },
    "/rig_command": { write: true, answer: (request) => command(program, request) },
  });

function command(program: Program, { query }: HttpRequest): Reply {
  const asked = new URLSearchParams(query);
  const { password } = program.options;
  if (program.isReadOnly) return json({ result: "error: commands are disabled" });
  if (password !== undefined && asked.get("password") !== password) return json({ result: "incorrect password" });
  const what = asked.get("command");
  if (what !== "start" && what !== "stop") return json({ result: "unknown command" });
  program.model.change((model) => {
    model.mining = what === "start";
  });
  return json({ result: "success" });
}

const idle = 2;
const mining = 3;
const nvidia = 1;

function status(program: Program): Record<string, unknown> {
  const { model, algorithm, dual, gpus, uptime } = program;
  const { accepted, rejected } = model.shares;
  const active = model.activePool;
  const used = active ?? model.pools[0];
  const power = gpus.reduce((sum, gpu) => sum + gpu.power, 0);
  const pool = (id: number, of: string, url: string, wallet: string) => ({
    id,
    algorithm: of,
    current_url: url,
    wallet,
    status: model.mining ? 1 : 0,
    difficulty: 4.29,
    uptime_s: model.mining ? uptime : 0,
    average_latency: 38,
  });
  const solutions = (valid: number, refused: number, hashrate: number) => ({
    valid_solutions: valid,
    rejected_solutions: refused,
    stale_solutions: 0,
    invalid_solutions: 0,
    hashrate: Math.round(hashrate),
    power: Math.round(power),
  });
  const pair = <T>(first: T, second: T): T[] => (dual === null ? [first] : [first, second]);
  return {
    method: "fullstatus",
    bzminer_version: "v24.0.2",
    rig_name: program.body.name,
    uptime_s: uptime,
    watchdog_enabled: false,
    cuda_driver_version: 12_040,
    nvidia_driver_version: "550.54.14",
    pools: [
      ...(used === undefined
        ? []
        : [
            {
              ...pool(0, algorithm, used.url, used.user),
              ...(active === null ? { status: 0 } : {}),
              ...solutions(accepted, rejected, model.hashrate()),
            },
          ]),
      ...(dual === null
        ? []
        : [
            {
              ...pool(1, dual.algorithm, dual.pool.url, dual.pool.user),
              ...solutions(dual.accepted, dual.rejected, dual.hashrate),
            },
          ]),
      // A placeholder.
      { id: 9, algorithm: "", current_url: "", wallet: "", status: 0, hashrate: 0 },
    ],
    devices: gpus.map((gpu) => ({
      name: gpu.name,
      vendor: nvidia,
      pci_bus_id: gpu.bus,
      status: pair(gpu.hashrate > 0 ? mining : idle, gpu.hashrate > 0 ? mining : idle),
      pool: pair(0, 1),
      message: pair("", ""),
      hashrate: pair(gpu.hashrate, gpu.dualHashrate),
      valid_solutions: pair(gpu.accepted, 0),
      rejected_solutions: pair(gpu.rejected, 0),
      stale_solutions: pair(0, 0),
      core_temp: gpu.temperature,
      mem_temp: gpu.memoryTemperature,
      fan: gpu.fanPercent,
      power: Math.round(gpu.power),
      clock_rate: Math.round(gpu.clock / 1e6),
      memory_rate: Math.round(gpu.memoryClock / 1e6),
    })),
  };
}
