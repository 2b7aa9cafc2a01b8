import { httpReply } from "../http-message.ts";
import { objectIn } from "../json.ts";
import { noHead, type Reply } from "../reply.ts";
import type { Conversation } from "../rig.ts";
import type { Program } from "./program.ts";
import { busText } from "./texts.ts";
import { hostPort } from "./web.ts";

/**
 * miniZ 2.5: a line of JSON gets JSON after the head of a reply over HTTP, in an older one without it; a browser gets a
 * page.
 */
export const miniz = (program: Program): Conversation => ({
  rpc: (request) => {
    program.model.advance();
    if (objectIn(request)?.method !== "getstat") return page();
    const body = JSON.stringify(stat(program));
    return program.options.older === true
      ? { head: noHead, body, tail: "", times: 1, close: true }
      : reply("application/json", body);
  },
  http: page,
});

const page = (): Reply =>
  reply("text/html", "<!doctype html><title>miniZ</title><table><tr><td>Sol/s</td></tr></table>");

const reply = (type: string, body: string): Reply =>
  httpReply({
    status: 200,
    reason: "OK",
    headers: [`Content-Type: ${type}`, "Content-Length: {length}", "Connection: close"],
    body,
    close: true,
  });

function stat({ model, gpus, algorithm }: Program): Record<string, unknown> {
  const pool = model.activePool;
  return {
    id: 0,
    method: "getstat",
    error: null,
    version: "miniZ v2.5e3",
    algorithm,
    start_time: Math.floor(model.startedAt / 1000),
    current_server: hostPort(pool?.url ?? ""),
    available_servers: 1,
    server_status: pool === null ? 0 : 2,
    server_latency: pool === null ? 0 : 31.2,
    result: gpus.map((gpu) => ({
      gpuid: gpu.index,
      cudaid: gpu.index,
      busid: `0000:${busText(gpu.bus)}`,
      name: gpu.name,
      gpu_status: gpu.status === "on" ? 2 : 0,
      solver: 0,
      temperature: gpu.temperature,
      gpu_fan_speed: gpu.fanPercent,
      gpu_power_usage: Number(gpu.power.toFixed(2)),
      gpu_clock_core_max: Math.round(gpu.clock / 1e6),
      gpu_clock_memory: Math.round(gpu.memoryClock / 1e6),
      speed_sps: Number(gpu.hashrate.toFixed(2)),
      speed_is: Number((gpu.hashrate / 2).toFixed(2)),
      accepted_shares: gpu.accepted,
      rejected_shares: gpu.rejected,
    })),
  };
}
