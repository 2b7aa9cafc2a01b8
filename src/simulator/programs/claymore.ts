import { objectIn } from "../json.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite } from "../rig.ts";
import type { Program, VirtualGpu } from "./program.ts";

/**
 * Claymore's API as in PhoenixMiner 6.2; `older` is TT-Miner, which has only the short statistics and no commands. A
 * connection closes after one answer. A request with a wrong password, or an unsupported command, gets none.
 */
export const claymore = (program: Program): Conversation => ({
  rpc: (request) => {
    program.model.advance();
    const { method, psw, id = 0, params } = objectIn(request) ?? {};
    const { password, older = false } = program.options;
    if (password !== undefined && psw !== password) return closed;
    if (method === "miner_getstat1") return answer(id, statistics(program).slice(0, 9));
    if (method === "miner_getstat2" && !older) return answer(id, statistics(program));
    if (typeof method !== "string" || older) return closed;
    logWrite(program.body.requests, JSON.stringify(params === undefined ? { method } : { method, params }));
    if (!program.isReadOnly) command(program, method, Array.isArray(params) ? params.map(String) : []);
    return closed;
  },
});

const closed: Reply = { head: () => "", body: "", tail: "", times: 1, close: true };

const answer = (id: unknown, result: readonly string[]): Reply => ({
  ...closed,
  body: JSON.stringify({ id, jsonrpc: "2.0", result }),
  tail: "\n",
});

function command({ model, body }: Program, method: string, [card = "", mode = ""]: readonly string[]): void {
  if (method === "miner_restart") model.restart(body.restartSeconds);
  if (method !== "control_gpu" || !["0", "1", "2"].includes(mode)) return;
  const cards = card === "-1" ? Array.from({ length: model.hardware.boards }, (_, index) => index) : [Number(card)];
  model.change(() => {
    for (const each of cards) {
      if (mode === "0") model.boardsOff.add(each);
      else model.boardsOff.delete(each);
    }
  });
}

const joined = (gpus: readonly VirtualGpu[], figure: (gpu: VirtualGpu) => string | number): string =>
  gpus.map(figure).join(";");

/** Rates in kH/s; TT-Miner's in H/s. */
function statistics({ model, gpus, dual, algorithm, uptime, options }: Program): string[] {
  const { accepted, rejected } = model.shares;
  const unit = options.older === true ? 1 : 1e3;
  const rate = (value: number): string => String(Math.round(value / unit));
  const isOn = ({ status }: VirtualGpu): boolean => status === "on";
  const coin = algorithm === "etchash" ? "ETC" : "ETH";
  const pools = [model.activePool?.url ?? "", ...(dual === null ? [] : [dual.pool.url])];
  const dualTotals = [rate(dual?.hashrate ?? 0), dual?.accepted ?? 0, dual?.rejected ?? 0].join(";");
  return [
    options.older === true ? "TT-Miner 2023.4.1" : `PM 6.2c - ${coin}${dual === null ? "" : "/DCR"}`,
    String(Math.floor(uptime / 60)),
    [rate(model.hashrate()), accepted, rejected].join(";"),
    joined(gpus, (gpu) => (isOn(gpu) ? rate(gpu.hashrate) : "off")),
    dualTotals,
    joined(gpus, (gpu) => (dual !== null && isOn(gpu) ? rate(gpu.dualHashrate) : "off")),
    joined(gpus, (gpu) => `${gpu.temperature};${gpu.fanPercent}`),
    pools.map((url) => url.replace(/^stratum\+tcp:\/\//, "")).join(";"),
    "0;0;0;0",
    joined(gpus, (gpu) => gpu.accepted),
    joined(gpus, (gpu) => gpu.rejected),
    joined(gpus, () => 0),
    joined(gpus, () => 0),
    joined(gpus, () => 0),
    joined(gpus, () => 0),
    joined(gpus, (gpu) => gpu.bus),
    "0;0",
    String(Math.round(gpus.reduce((sum, { power }) => sum + power, 0))),
  ];
}
