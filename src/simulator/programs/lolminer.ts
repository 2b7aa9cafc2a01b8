import type { Conversation } from "../rig.ts";
import type { Program, VirtualGpu } from "./program.ts";
import { hostPort, json, web } from "./web.ts";

/** lolMiner 1.98 over HTTP; an older one is 1.26. */
export function lolminer(program: Program): Conversation {
  const answer = () => json(program.options.older === true ? olderSummary(program) : summary(program));
  return web(program, { "/": { answer }, "/summary": { answer } });
}

const mega = (rate: number): number => Number((rate / 1e6).toFixed(4));

function session({ model, uptime }: Program) {
  const startup = Math.floor(model.startedAt / 1000);
  const text = new Date(model.startedAt).toISOString().slice(0, 19).replace("T", "_").replaceAll(":", "-");
  return { Startup: startup, Startup_String: text, Uptime: uptime, Last_Update: Math.floor(model.at / 1000) };
}

function summary(program: Program): Record<string, unknown> {
  const { model, gpus, dual, body } = program;
  const { accepted, rejected } = model.shares;
  const pool = model.activePool;
  const none = gpus.map(() => 0);
  const first = {
    Algorithm: program.algorithm,
    Algorithm_Appendix: "",
    Pool: hostPort(pool?.url ?? ""),
    User: pool?.user ?? "",
    Worker: body.name,
    Performance_Unit: "Mh/s",
    Performance_Factor: 1_000_000,
    Total_Performance: mega(model.hashrate(30)),
    Total_Accepted: accepted,
    Total_Rejected: rejected,
    Total_Stales: 0,
    Total_Errors: 0,
    Worker_Performance: gpus.map(({ hashrate }) => mega(hashrate)),
    Worker_Accepted: gpus.map((gpu) => gpu.accepted),
    Worker_Rejected: gpus.map((gpu) => gpu.rejected),
    Worker_Stales: none,
    Worker_Errors: none,
  };
  const second = dual && {
    ...first,
    Algorithm: dual.algorithm,
    Pool: hostPort(dual.pool.url),
    User: dual.pool.user,
    Total_Performance: mega(dual.hashrate),
    Total_Accepted: dual.accepted,
    Total_Rejected: dual.rejected,
    Worker_Performance: gpus.map(({ dualHashrate }) => mega(dualHashrate)),
    Worker_Accepted: none,
    Worker_Rejected: none,
  };
  const algorithms = second === null ? [first] : [first, second];
  return {
    Software: "lolMiner 1.98a",
    Session: session(program),
    Num_Workers: gpus.length,
    Workers: gpus.map(worker),
    Num_Algorithms: algorithms.length,
    Algorithms: algorithms,
  };
}

const worker = (gpu: VirtualGpu): Record<string, unknown> => ({
  Index: gpu.index,
  Name: gpu.name,
  Power: Number(gpu.power.toFixed(3)),
  CCLK: Math.round(gpu.clock / 1e6),
  MCLK: Math.round(gpu.memoryClock / 1e6),
  Core_Temp: gpu.temperature,
  Juc_Temp: gpu.temperature === 0 ? 0 : gpu.temperature + 10,
  Mem_Temp: gpu.memoryTemperature,
  Fan_Speed: gpu.fanPercent,
  LHR_Unlock_Pct: -1,
  Dual_Factor: 0,
  PCIE_Address: `${gpu.bus}:0`,
});

function olderSummary(program: Program): Record<string, unknown> {
  const { model, gpus, algorithm } = program;
  const { accepted, rejected } = model.shares;
  const pool = model.activePool;
  return {
    Software: "lolMiner 1.26",
    Mining: { Algorithm: algorithm },
    Stratum: {
      Current_Pool: hostPort(pool?.url ?? ""),
      Current_User: pool?.user ?? "",
      Average_Latency: 12.0,
    },
    Session: {
      ...session(program),
      Active_GPUs: gpus.length,
      Performance_Summary: mega(model.hashrate(30)),
      Performance_Unit: "mh/s",
      Accepted: accepted,
      Submitted: accepted + rejected,
      TotalPower: Number(gpus.reduce((all, { power }) => all + power, 0).toFixed(3)),
    },
    GPUs: gpus.map((gpu) => ({
      Index: gpu.index,
      Name: gpu.name,
      Performance: mega(gpu.hashrate),
      "Consumption (W)": Number(gpu.power.toFixed(3)),
      "Fan Speed (%)": gpu.fanPercent,
      "Temp (deg C)": gpu.temperature,
      "Mem Temp (deg C)": gpu.memoryTemperature,
      Session_Accepted: gpu.accepted,
      Session_Submitted: gpu.accepted + gpu.rejected,
      Session_HWErr: 0,
      Session_BestShare: Math.round(model.bestShare),
      PCIE_Address: `${gpu.bus}:0`,
    })),
  };
}
