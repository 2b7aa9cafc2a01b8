import { z } from "zod";
import { type HttpRequest, httpReply } from "./http-message.ts";
import { jsonOf } from "./json.ts";
import type { RigModel } from "./model.ts";
import type { Reply } from "./reply.ts";
import { type Conversation, logWrite, type RigBody } from "./rig.ts";

const path = "/api/v0/miner";
const Patch = z.strictObject({ paused: z.boolean() });

/** Mujina with one board: its state as one document, which can be patched. */
export function mujina(body: RigBody): Conversation {
  return {
    http: (request) => {
      body.model.advance();
      return answer(body, request);
    },
  };
}

function answer(body: RigBody, { method, path: asked, body: sent }: HttpRequest): Reply {
  if (asked !== path) return reply(404, "");
  if (method === "GET") return reply(200, JSON.stringify(stateOf(body)));
  if (method !== "PATCH") return reply(405, "");
  logWrite(body.requests, `PATCH ${asked} ${sent}`);
  const { success, data } = Patch.safeParse(jsonOf(sent));
  if (!success) return reply(422, "Failed to deserialize the JSON body");
  if (body.denies()) return reply(500, "");
  body.model.change((model) => {
    model.mining = !data.paused;
  });
  return reply(200, JSON.stringify(stateOf(body)));
}

const stateOf = ({ model, name, mac }: RigBody): object => ({
  uptime_secs: Math.floor(model.elapsed),
  hashrate: Math.round(model.hashrate(5)),
  shares_submitted: model.shares.accepted + model.shares.rejected,
  paused: !model.mining,
  boards: [boardOf(model, `bitaxe-${name}`, mac.replaceAll(":", "").toLowerCase())],
  sources: model.pools.map(({ url, difficulty }, index) => ({ name: `pool-${index}`, url, difficulty })),
});

const boardOf = (model: RigModel, name: string, serial: string): object => ({
  name,
  model: "Bitaxe Gamma",
  serial,
  fans: [{ name: "fan", rpm: model.fanRpm, percent: Math.round(model.fan * 100), target_percent: null }],
  temperatures: [
    { name: "asic", temperature_c: model.temperature },
    { name: "regulator", temperature_c: null },
  ],
  powers: [
    { name: "input", voltage_v: 5, current_a: model.power / 5, power_w: model.power },
    { name: "core", voltage_v: model.voltage, current_a: null, power_w: model.power * 0.9 },
  ],
  threads: [{ name: "asic-0", hashrate: Math.round(model.hashrate(5)), is_active: model.hashing }],
});

const reply = (status: number, body: string): Reply =>
  httpReply({
    status,
    reason: status === 200 ? "OK" : "Other",
    headers: ["Content-Type: application/json", "Content-Length: {length}", "Connection: close"],
    body,
    close: true,
  });
