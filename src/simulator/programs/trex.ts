import type { HttpRequest } from "../http-message.ts";
import { fraction } from "../random.ts";
import type { Reply } from "../reply.ts";
import type { Conversation } from "../rig.ts";
import type { Program, VirtualGpu } from "./program.ts";
import { json, web } from "./web.ts";

/**
 * T-Rex 0.26 over HTTP. Without a password it is read only. Controls are GETs that require the session of a login with the
 * clear password.
 */
export function trex(program: Program): Conversation {
  const sessions = new Set<string>();
  const isIn = ({ query }: HttpRequest): boolean => sessions.has(new URLSearchParams(query).get("sid") ?? "");
  return web(program, {
    "/summary": { answer: () => json(summary(program)) },
    "/config": { answer: (request) => (isIn(request) ? json(config(program)) : denied()) },
    "/login": { answer: ({ query }) => login(program, sessions, new URLSearchParams(query).get("password")) },
    "/logout": {
      answer: ({ query }) => {
        sessions.delete(new URLSearchParams(query).get("sid") ?? "");
        return json({ success: 1 });
      },
    },
    "/control": { write: true, answer: (request) => (isIn(request) ? control(program, request) : denied()) },
  });
}

const denied = (): Reply => json({ error: "Access denied", success: 0 });

function login({ options, model }: Program, sessions: Set<string>, password: string | null): Reply {
  if (options.password === undefined || password !== options.password) {
    return json({ error: "Invalid password", success: 0 });
  }
  const sid = Math.floor(fraction(model.seed, sessions.size) * 2 ** 32).toString(16);
  sessions.add(sid);
  return json({ sid, success: 1 });
}

/** `pause=true` for all cards, `pause=true:0,2` for some. */
function control(program: Program, { query }: HttpRequest): Reply {
  const asked = new URLSearchParams(query);
  if (program.isReadOnly) return json({ error: "API is in read-only mode", success: 0 });
  if (asked.get("command") === "shutdown") {
    program.body.quit();
    return json({ success: 1 });
  }
  const [, on, cards] = /^(true|false)(?::([\d,]+))?$/.exec(asked.get("pause") ?? "") ?? [];
  if (on === undefined) return json({ error: "Unknown command", success: 0 });
  const isPause = on === "true";
  program.model.change((model) => {
    if (cards === undefined) model.mining = !isPause;
    for (const card of cards?.split(",") ?? []) {
      if (isPause) model.boardsOff.add(Number(card));
      else model.boardsOff.delete(Number(card));
    }
  });
  return json({ success: 1 });
}

const config = ({ model, algorithm }: Program) => ({
  algo: algorithm,
  pools: model.pools.map(({ url, user, password }) => ({ url, user, pass: password, worker: "" })),
});

function summary(program: Program): Record<string, unknown> {
  const { model, algorithm, dual, gpus, uptime } = program;
  const { accepted, rejected } = model.shares;
  const pool = model.activePool;
  return {
    accepted_count: accepted,
    active_pool: {
      difficulty: pool === null ? "0" : `${(pool.difficulty / 1e9).toFixed(2)} G`,
      dns_https_server: "",
      last_submit_ts: 0,
      ping: pool === null ? 0 : 38,
      proxy: "",
      retries: 0,
      url: pool?.url ?? "",
      user: pool?.user ?? "",
      worker: program.body.name,
    },
    algorithm,
    api: "4.2",
    build_date: "Aug 25 2022 09:01:36",
    coin: "",
    description: "T-Rex NVIDIA GPU miner",
    driver: "535.129.03",
    ...(dual === null
      ? {}
      : {
          dual_stat: {
            accepted_count: dual.accepted,
            active_pool: {
              difficulty: "4.00 G",
              ping: 41,
              retries: 0,
              url: dual.pool.url,
              user: dual.pool.user,
              worker: "",
            },
            algorithm: dual.algorithm,
            gpus: gpus.map((gpu) => ({
              device_id: gpu.index,
              gpu_id: gpu.index,
              hashrate: Math.round(gpu.dualHashrate),
            })),
            hashrate: Math.round(dual.hashrate),
            hashrate_day: 0,
            hashrate_hour: 0,
            hashrate_minute: Math.round(dual.hashrate),
            rejected_count: dual.rejected,
            solved_count: 0,
          },
        }),
    gpu_total: gpus.length,
    gpus: gpus.map((gpu) => card(gpu, program)),
    hashrate: Math.round(model.hashrate(30)),
    hashrate_day: 0,
    hashrate_hour: Math.round(model.averageHashrate),
    hashrate_minute: Math.round(model.hashrate(60)),
    invalid_count: 0,
    name: "t-rex",
    os: "linux",
    paused: !model.mining,
    rejected_count: rejected,
    revision: "c2cd17a3d43a",
    sharerate: 6.5,
    sharerate_average: 6.4,
    solved_count: 0,
    success: 1,
    time: Math.floor(model.at / 1000),
    uptime,
    validate_shares: false,
    version: "0.26.8",
    watchdog_stat: { built_in: true, startup_ts: Math.floor(model.startedAt / 1000), total_restarts: 0, uptime },
  };
}

/** A lost card keeps its place and reads 0 everywhere. */
function card(gpu: VirtualGpu, { model }: Program): Record<string, unknown> {
  const perWatt = gpu.power === 0 ? 0 : gpu.hashrate / gpu.power;
  const hashrate = Math.round(gpu.hashrate);
  return {
    cclock: Math.round(gpu.clock / 1e6),
    dag_build_mode: 0,
    device_id: gpu.index,
    disabled: gpu.status === "lost",
    efficiency: `${Math.round(perWatt / 1000)}kH/W`,
    fan_speed: gpu.fanPercent,
    gpu_id: gpu.index,
    gpu_user_id: gpu.index,
    hashrate,
    hashrate_day: 0,
    hashrate_hour: hashrate,
    hashrate_instant: hashrate,
    hashrate_minute: hashrate,
    intensity: 22.0,
    lhr_tune: 0.0,
    low_load: false,
    mclock: Math.round(gpu.memoryClock / 1e6),
    memory_temperature: gpu.memoryTemperature,
    mtweak: 0,
    name: gpu.name.replace("NVIDIA GeForce ", ""),
    paused: gpu.status === "paused" || !model.mining,
    pci_bus: gpu.bus,
    pci_domain: 0,
    pci_id: 0,
    potentially_unstable: false,
    power: Math.round(gpu.power),
    power_avr: Math.round(gpu.power),
    shares: {
      accepted_count: gpu.accepted,
      invalid_count: 0,
      last_share_diff: 0,
      max_share_diff: 0,
      rejected_count: gpu.rejected,
      solved_count: 0,
    },
    temperature: gpu.temperature,
    uuid: `5f2b3c${gpu.index.toString(16).padStart(26, "0")}`,
    vendor: "NVIDIA",
  };
}
