import { httpReply } from "../http-message.ts";
import type { Conversation } from "../rig.ts";
import type { Program } from "./program.ts";
import { busText } from "./texts.ts";
import { hostPort, json, web } from "./web.ts";

/** nanominer 3.10 over HTTP. */
export const nanominer = (program: Program): Conversation =>
  web(program, { "/": { answer: page }, "/stats": { answer: () => json(stats(program)) } });

const page = () =>
  httpReply({
    status: 200,
    reason: "OK",
    headers: ["Content-Type: text/html", "Content-Length: {length}", "Connection: close"],
    body: "<!doctype html><title>nanominer</title>",
    close: true,
  });

/** Rates as C++ writes them: "4.590000e+06". */
const exponent = (rate: number): string => rate.toExponential(6).replace(/e([+-])(\d)$/, "e$10$2");

function stats(program: Program): Record<string, unknown> {
  const { model, gpus, dual, uptime, algorithm } = program;
  const { accepted, rejected } = model.shares;
  const first = {
    CurrentPool: hostPort(model.activePool?.url ?? ""),
    ...Object.fromEntries(
      gpus.map((gpu) => [
        `GPU ${gpu.index}`,
        { Accepted: gpu.accepted, Denied: gpu.rejected, Hashrate: exponent(gpu.hashrate) },
      ]),
    ),
    ReconnectionCount: 0,
    Total: { Accepted: accepted, Denied: rejected, Hashrate: exponent(model.hashrate(30)) },
  };
  const second = dual && {
    CurrentPool: hostPort(dual.pool.url),
    ...Object.fromEntries(
      gpus.map((gpu) => [`GPU ${gpu.index}`, { Accepted: 0, Denied: 0, Hashrate: exponent(gpu.dualHashrate) }]),
    ),
    ReconnectionCount: 0,
    Total: { Accepted: dual.accepted, Denied: dual.rejected, Hashrate: exponent(dual.hashrate) },
  };
  return {
    Algorithms: [{ [algorithm]: first, ...(dual === null ? {} : { [dual.algorithm]: second }) }],
    Devices: [
      Object.fromEntries(
        gpus.map((gpu) => [
          `GPU ${gpu.index}`,
          {
            Name: gpu.name,
            Platform: "CUDA",
            Pci: busText(gpu.bus),
            Fan: gpu.fanPercent,
            Temperature: gpu.temperature,
            Power: Number(gpu.power.toFixed(1)),
          },
        ]),
      ),
    ],
    WorkTime: uptime,
  };
}
