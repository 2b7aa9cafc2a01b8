import { decrypted, frameSeal } from "../../link/drivers/whatsminer/crypto.ts";
import { shareOfBoard } from "../cgminer/reports.ts";
import { frameReply } from "../frame.ts";
import { objectIn } from "../json.ts";
import type { Reply } from "../reply.ts";
import { logWrite } from "../rig.ts";
import { serial } from "./reports.ts";
import { saltOf } from "./rpc.ts";
import { acts, canWrite, factoryHashrate, generations, limitOf, modeNamed, type Whatsminer } from "./state.ts";

type Json = Record<string, unknown>;

/** API v3 on port 4433: open reads, each write with its own token. */
export function whatsminerFrames(rig: Whatsminer): (request: string) => Reply | null {
  const salt = saltOf(rig.model.seed, 0);
  return (text) => {
    rig.model.advance();
    const request = objectIn(text);
    const [code, msg] = request === null ? failed(-3, "invalid json") : answer(rig, salt, request);
    const desc = request?.cmd ?? "";
    return frameReply(JSON.stringify({ code, when: Math.floor(rig.model.at / 1000), msg, desc }));
  };
}

type Answer = readonly [code: number, msg: unknown];

const failed = (code: number, msg: string): Answer => [code, msg];

const tera = (hashrate: number): number => Number((hashrate / 1e12).toFixed(3));

function answer(rig: Whatsminer, salt: string, request: Json): Answer {
  const { cmd, param } = request;
  switch (cmd) {
    case "get.device.info":
      return part(device(rig, salt), param);
    case "get.miner.status":
      return typeof param === "string" ? status(rig, param.split("+")) : failed(-3, "param null");
    case "get.miner.setting":
      return [0, setting(rig)];
    default: {
      const act = writes[String(cmd)];
      return act === undefined ? failed(-2, "invalid cmd") : write(rig, salt, request, act);
    }
  }
}

function part(whole: Json, name: unknown): Answer {
  if (name === undefined) return [0, whole];
  return Object.hasOwn(whole, String(name))
    ? [0, { [String(name)]: whole[String(name)] }]
    : failed(-3, "invalid param");
}

function device(rig: Whatsminer, salt: string): Json {
  const { body, model, errors } = rig;
  const { api, firmware, platform } = generations[rig.generation];
  const boards = Array.from({ length: model.hardware.boards }, (_, board) => [
    `pcbsn${board}`,
    serial(rig, `BKM${board}`),
  ]);
  return {
    network: { ip: "127.0.0.1", proto: "dhcp", mac: body.mac, hostname: body.name },
    miner: {
      working: String(model.mining),
      type: model.hardware.model.replaceAll(" ", "_"),
      "board-num": String(model.hardware.boards),
      "miner-sn": serial(rig, "BTM"),
      "power-limit-set": String(rig.limit ?? ""),
      ...Object.fromEntries(boards),
    },
    system: { api, platform, fwversion: firmware, apiswitch: canWrite(rig) ? "1" : "0", ledstatus: rig.led },
    power: {
      type: "P221B",
      model: "P221B",
      sn: serial(rig, "PSU"),
      vin: 229,
      iin: 14.1,
      pin: Math.round(model.power),
      fanspeed: 6344,
    },
    "error-code": errors.map((code) => ({ [code]: "2025-01-17 11:28:11", reason: `Reason of ${code}` })),
    salt,
  };
}

/** While the boards are off, pools are left out, and a request for them alone is refused. */
function status(rig: Whatsminer, names: readonly string[]): Answer {
  const whole: Json = { summary: summary(rig), edevs: edevs(rig), ...(rig.model.mining ? { pools: pools(rig) } : {}) };
  const known = names.filter((name) => Object.hasOwn(whole, name));
  if (known.length === 0) return failed(-1, "fail");
  return [0, Object.fromEntries(known.map((name) => [name, whole[name]]))];
}

function summary(rig: Whatsminer): Json {
  const { model } = rig;
  return {
    elapsed: Math.floor(model.elapsed),
    "bootup-time": Math.floor(model.elapsed) + 60,
    "freq-avg": Math.round(model.frequency / 1e6),
    "hash-average": tera(model.averageHashrate),
    "hash-1min": tera(model.hashrate(60)),
    "hash-15min": tera(model.hashrate(900)),
    "hash-realtime": tera(model.hashrate(5)),
    // Unknown temperatures are negative thousandths, one for each board.
    "factory-hash": model.elapsed < 60 ? -0.001 * model.hardware.boards : tera(factoryHashrate(rig)),
    "power-rate": model.hashing ? Number((model.power / (model.hashrate(5) / 1e12)).toFixed(1)) : 0,
    "power-5min": Math.round(model.power),
    "power-realtime": Math.round(model.power),
    "power-limit": limitOf(rig),
    "environment-temperature": model.ambient,
    "board-temperature": Array.from({ length: model.hardware.boards }, (_, board) =>
      Number((model.temperature - board).toFixed(1)),
    ),
    "chip-temp-min": Number((model.temperature - 3).toFixed(1)),
    "chip-temp-avg": Number((model.temperature + 6).toFixed(1)),
    "chip-temp-max": Number((model.temperature + 14).toFixed(1)),
    "fan-speed-in": model.fanRpm,
    "fan-speed-out": model.fanRpm - 60,
    "up-freq-finish": model.hashing && model.elapsed > 300 ? 1 : 0,
  };
}

const edevs = (rig: Whatsminer): Json[] =>
  Array.from({ length: rig.model.hardware.boards }, (_, board) => {
    const share = shareOfBoard(rig.model, board);
    return {
      id: board,
      slot: board,
      "hash-average": tera(rig.model.averageHashrate * share),
      "hash-realtime": tera(rig.model.hashrate(5) * share),
      "factory-hash": tera(factoryHashrate(rig) * share),
      freq: Math.round(rig.model.frequency / 1e6),
      "effective-chips": rig.model.hardware.chips,
      "chip-temp-min": Number((rig.model.temperature - 3).toFixed(1)),
      "chip-temp-max": Number((rig.model.temperature + 14).toFixed(1)),
      status: "alive",
    };
  });

const pools = ({ model }: Whatsminer): Json[] =>
  model.pools.map((pool, index) => ({
    id: index,
    url: pool.url,
    account: pool.user,
    status: pool.alive ? "alive" : "dead",
    "stratum-active": pool === model.activePool,
    "pool-priority": pool.priority,
  }));

const setting = (rig: Whatsminer): Json => ({
  "power-limit": limitOf(rig),
  "upfreq-speed": 0,
  "power-mode": rig.mode,
  "fast-boot": "disable",
  "target-freq": 0,
  power: limitOf(rig),
  "power-percent": rig.percent ?? 0,
});

type Act = (rig: Whatsminer, param: unknown) => boolean;

function write(rig: Whatsminer, salt: string, { cmd, param, ts, token, account }: Json, act: Act): Answer {
  if (!canWrite(rig)) {
    logWrite(rig.body.requests, "a write that is not allowed");
    return failed(-4, "no permission");
  }
  const seal = frameSeal(String(cmd), rig.password, salt, Number(ts));
  if (token !== seal.token || !accounts.has(String(account))) return failed(-1, "check token error");
  if (account !== "super") return failed(-4, "no permission");
  const value = secret.has(String(cmd)) ? objectIn(`{"list":${decrypted(String(param), seal.key)}}`)?.list : param;
  logWrite(rig.body.requests, `${cmd} ${JSON.stringify(value ?? null)}`);
  return act(rig, value) ? [0, "ok"] : failed(-1, "fail");
}

const accounts = new Set(["super", "user1", "user2", "user3"]);
const secret = new Set(["set.miner.pools"]);

const writes: Readonly<Record<string, Act>> = {
  "set.miner.service": (rig, param) => {
    if (param === "restart") acts.restart(rig);
    else if (param === "start" || param === "stop") acts.mine(rig, param === "start");
    else return false;
    return true;
  },
  "set.system.reboot": (rig) => {
    acts.reboot(rig);
    return true;
  },
  "set.system.led": (rig, param) => {
    rig.led = param === "auto" ? "auto" : "manual";
    return param === "auto" || Array.isArray(param);
  },
  "set.miner.power_mode": (rig, param) => {
    const mode = modeNamed(String(param));
    if (mode !== undefined) acts.setMode(rig, mode);
    return mode !== undefined;
  },
  "set.miner.power_limit": (rig, param) => {
    const fine = typeof param === "number" && param >= 0 && param <= 99_999;
    if (fine) acts.limitPower(rig, param);
    return fine;
  },
  "set.miner.power_percent": (rig, param) => {
    const { percent, mode }: Json = typeof param === "object" ? { ...param } : {};
    const number = Number(percent);
    // The firmware accepts the number only as text.
    const fine = typeof percent === "string" && number >= 0 && number <= 100 && (mode === "fast" || mode === "normal");
    if (fine) acts.throttle(rig, number);
    return fine;
  },
  "set.miner.pools": (rig, param) => {
    const slots = (Array.isArray(param) ? param : []).map((slot: unknown) => {
      const { pool, worker, passwd }: Json = typeof slot === "object" ? { ...slot } : {};
      return { url: String(pool ?? ""), user: String(worker ?? ""), password: String(passwd ?? "") };
    });
    const fine = slots.length > 0 && slots.length <= 3 && slots.every(({ url }) => /^stratum\+\w+:\/\//.test(url));
    if (fine) acts.setPools(rig, slots);
    return fine;
  },
};
