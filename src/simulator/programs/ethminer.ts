import { httpReply } from "../http-message.ts";
import { objectIn } from "../json.ts";
import type { Pool } from "../model.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite } from "../rig.ts";
import type { Program, VirtualGpu } from "./program.ts";

/**
 * ethminer 0.19: lines of JSON over a connection that stays open, and a page for browsers. With a password each
 * connection requires a login. `miner_restart` restarts the cards, while the process and its uptime continue.
 */
export const ethminer = (program: Program): Conversation => ({
  lines: () => {
    let isIn = program.options.password === undefined;
    return (request) => {
      program.model.advance();
      const { id = null, jsonrpc, method, params } = objectIn(request) ?? {};
      if (id === null) return line(null, refused(-32_600, "Invalid Request (missing or empty id)"));
      if (jsonrpc !== "2.0" || typeof method !== "string") return line(id, refused(-32_600, "Invalid Request"));
      if (method !== "api_authorize") {
        return line(id, isIn ? answerTo(program, method, params) : refused(-403, "Authorization needed"));
      }
      isIn = fieldOf(params, "psw") === (program.options.password ?? "");
      return line(id, isIn ? {} : refused(-401, "Invalid password"));
    };
  },
  http: () =>
    httpReply({
      status: 200,
      reason: "Ok Error",
      headers: ["Server: ethminer-0.19.0", "Content-Type: text/html; charset=utf-8", "Content-Length: {length}"],
      body: "<!doctype html><html lang=en><title>rig</title>",
      close: true,
    }),
});

type Answer = { readonly result?: unknown; readonly error?: { readonly code: number; readonly message: string } };

const line = (id: unknown, answer: Answer): Reply => ({
  head: () => "",
  body: JSON.stringify({ id, jsonrpc: "2.0", ...answer }),
  tail: "\n",
  times: 1,
  close: false,
});

const refused = (code: number, message: string): Answer => ({ error: { code, message } });
const done: Answer = { result: true };
const outOfBounds = refused(-422, "Index out of bounds");

const fieldOf = (params: unknown, key: string): unknown =>
  typeof params === "object" && params !== null ? Reflect.get(params, key) : undefined;

type Run = (program: Program, params: unknown) => Answer;

const reads: Readonly<Record<string, Run>> = {
  miner_ping: () => ({ result: "pong" }),
  miner_getstat1: (program) => ({ result: statistics(program) }),
  miner_getstatdetail: (program) => ({ result: detail(program) }),
  miner_getconnections: ({ model }) => ({
    result: model.pools.map((pool, index) => ({ active: pool === model.activePool, index, uri: uriOf(pool) })),
  }),
};

const writes: Readonly<Record<string, Run>> = {
  miner_restart: () => done,
  miner_pausegpu: ({ model }, params) => {
    const [index, pause] = [fieldOf(params, "index"), fieldOf(params, "pause")];
    if (typeof index !== "number") return refused(-32_602, "Missing 'params'");
    if (typeof pause !== "boolean") return refused(-32_602, "Missing 'pause'");
    if (index >= model.hardware.boards) return outOfBounds;
    model.change(() => (pause ? model.boardsOff.add(index) : model.boardsOff.delete(index)));
    return done;
  },
  miner_addconnection: ({ model }, params) => {
    const uri = fieldOf(params, "uri");
    const [, scheme, user = "", password = "", place] =
      /^([a-z0-9+]+:\/\/)(?:([^:@]*)(?::([^@]*))?@)?([^@]+)$/.exec(String(uri)) ?? [];
    if (scheme === undefined) return refused(-422, "Bad URI");
    const fresh = { enabled: true, alive: true, quota: 1, hashes: 0, lastShareAt: null, difficulty: 1e9 };
    const login = { user: decodeURIComponent(user), password: decodeURIComponent(password) };
    model.setPools([...model.pools, { ...fresh, ...login, url: `${scheme}${place}`, priority: model.pools.length }]);
    return done;
  },
  miner_setactiveconnection: ({ model }, params) => {
    const chosen = model.pools[Number(fieldOf(params, "index"))];
    if (chosen === undefined) return outOfBounds;
    model.change(() => {
      for (const each of model.pools) each.priority = each === chosen ? 0 : 1 + model.pools.indexOf(each);
    });
    return done;
  },
  miner_removeconnection: ({ model }, params) => {
    const gone = model.pools[Number(fieldOf(params, "index"))];
    if (gone === undefined) return outOfBounds;
    if (gone === model.activePool) return refused(-460, "Can't delete active connection");
    model.setPools(model.pools.filter((each) => each !== gone));
    return done;
  },
};

function answerTo(program: Program, method: string, params: unknown): Answer {
  const read = Object.hasOwn(reads, method) ? reads[method] : undefined;
  if (read !== undefined) return read(program, params);
  const write = Object.hasOwn(writes, method) ? writes[method] : undefined;
  if (write === undefined) return refused(-32_601, "Method not found");
  if (params !== undefined || method === "miner_restart") {
    logWrite(program.body.requests, JSON.stringify(params === undefined ? { method } : { method, params }));
  }
  return program.isReadOnly ? refused(-32_601, "Method not available") : write(program, params);
}

/** The URIs contain the logins, passwords included. */
const uriOf = ({ url, user, password }: Pool): string =>
  url.replace("://", `://${encodeURIComponent(user)}:${encodeURIComponent(password)}@`);

const version = "ethminer-0.19.0-beta.0+commit.8f8bc3eb";

const hex = (rate: number): string => `0x${Math.round(rate).toString(16).padStart(8, "0")}`;

function statistics({ model, gpus, uptime }: Program): string[] {
  const { accepted, rejected } = model.shares;
  return [
    version,
    String(Math.floor(uptime / 60)),
    `${Math.round(model.hashrate() / 1e3)};${accepted};${rejected}`,
    gpus.map((gpu) => Math.round(gpu.hashrate / 1e3)).join(";"),
    "0;0;0",
    gpus.map(() => "off").join(";"),
    gpus.map((gpu) => `${gpu.temperature};${gpu.fanPercent}`).join(";"),
    (model.activePool?.url ?? "").replace(/^.*:\/\//, ""),
    "0;0;0;0",
  ];
}

function detail({ body, model, gpus, uptime }: Program): Record<string, unknown> {
  const { accepted, rejected } = model.shares;
  const pool = model.activePool;
  return {
    connection: { connected: pool !== null, switches: 1, uri: pool === null ? "" : uriOf(pool) },
    devices: gpus.map(device),
    host: { name: body.name, runtime: uptime, version },
    mining: {
      difficulty: pool?.difficulty ?? 0,
      epoch: 218,
      epoch_changes: 1,
      hashrate: hex(model.hashrate()),
      shares: [accepted, rejected, 0, 7],
    },
    monitors: null,
  };
}

const device = (gpu: VirtualGpu): Record<string, unknown> => ({
  _index: gpu.index,
  _mode: "CUDA",
  hardware: {
    name: `${gpu.name} 7.79 GB`,
    pci: `${gpu.bus.toString(16).padStart(2, "0")}:00.0`,
    sensors: [gpu.temperature, gpu.fanPercent, Number(gpu.power.toFixed(3))],
    type: "GPU",
  },
  mining: {
    hashrate: hex(gpu.hashrate),
    pause_reason: gpu.status === "paused" ? "Api request" : null,
    paused: gpu.status === "paused",
    segment: ["0x0000000000000000", "0x0000000100000000"],
    shares: [gpu.accepted, gpu.rejected, 0, 7],
  },
});
