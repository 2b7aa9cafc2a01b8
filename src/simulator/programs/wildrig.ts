import type { Conversation } from "../rig.ts";
import type { Program } from "./program.ts";
import { hostPort, json, web } from "./web.ts";

/** WildRig Multi 0.49 over HTTP; an older one has no figures of cards but their rates. */
export const wildrig = (program: Program): Conversation =>
  web(program, { "/": { answer: () => json(status(program)) } });

function status(program: Program): Record<string, unknown> {
  const { model, gpus, algorithm, uptime, body, options } = program;
  const { accepted, rejected } = model.shares;
  const pool = model.activePool;
  const isOlder = options.older === true;
  const results = {
    diff_current: pool?.difficulty ?? 0,
    shares_good: accepted,
    shares_total: accepted + rejected,
    avg_time: accepted === 0 ? 0 : Math.floor(uptime / accepted),
    hashes_total: Math.floor(model.hashes),
  };
  const ofCards = {
    shares_accepted: gpus.map((gpu) => gpu.accepted),
    shares_rejected: gpus.map((gpu) => gpu.rejected),
    shares_ignored: gpus.map(() => 0),
  };
  return {
    worker_id: body.name,
    version: isOlder ? "0.20.4" : "0.49.6",
    algo: algorithm,
    uptime,
    hashrate: {
      total: [10, 60, 900].map((seconds) => Math.round(model.hashrate(seconds))),
      highest: Math.round(model.ratedHashrate),
      threads: gpus.map(({ hashrate }) => [hashrate, hashrate, hashrate].map(Math.round)),
    },
    results: isOlder ? results : { ...results, ...ofCards },
    connection: {
      pool: hostPort(pool?.url ?? ""),
      uptime: pool === null ? 0 : uptime,
      ping: pool === null ? 0 : 41,
      failures: 0,
      error_log: [],
    },
    ...(isOlder
      ? {}
      : {
          hwmon: {
            busID: gpus.map(({ bus }) => `${bus.toString(16)}:0`),
            temp: gpus.map(({ temperature }) => temperature),
            fan: gpus.map(({ fanPercent }) => fanPercent),
            power: gpus.map(({ power }) => Math.round(power)),
            cclk: gpus.map(({ clock }) => Math.round(clock / 1e6)),
            mclk: gpus.map(({ memoryClock }) => Math.round(memoryClock / 1e6)),
          },
        }),
  };
}
