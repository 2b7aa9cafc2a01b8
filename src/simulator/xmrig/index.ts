import { z } from "zod";
import { type HttpRequest, httpReply } from "../http-message.ts";
import { jsonOf, objectIn } from "../json.ts";
import { activePool, type Pool } from "../model.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { backends, config, summary, type XmrigRig } from "./reports.ts";

/** The differences between XMRig and xmrig-proxy. */
export interface XmrigPages {
  readonly reports: Readonly<Record<string, (rig: XmrigRig) => unknown>>;
  /** Where the configuration is read and written. */
  readonly config: RegExp;
  readonly methods: ReadonlyMap<unknown, RpcAct>;
}

export interface XmrigOptions {
  /** null: open for reading if restricted, otherwise closed altogether. */
  readonly token: string | null;
  /** No writes, and the configuration cannot be read. */
  readonly restricted: boolean;
}

/**
 * The HTTP API of XMRig 6.26: a reply ends its connection, and those to JSON-RPC are sent twice. A new configuration
 * takes effect half a second after the answer.
 */
export function xmrig(body: RigBody, { token, restricted }: XmrigOptions, pages = minerPages): Conversation {
  const rig: XmrigRig = { body, model: body.model, token, restricted, stopped: false, config: {}, wanted: null };
  return { http: (request) => answer(rig, request, pages) };
}

const methods = ["GET", "POST", "PUT", "DELETE", "HEAD"];

function answer(rig: XmrigRig, request: HttpRequest, pages: XmrigPages): Reply {
  const { method, path, headers } = request;
  rig.model.advance();
  settle(rig);
  if (method === "OPTIONS") return bare(200, "OK");
  if (!methods.includes(method)) return refused(405, "METHOD_NOT_ALLOWED");
  if (method !== "GET")
    logWrite(rig.body.requests, `${method} ${path}${request.body === "" ? "" : ` ${request.body}`}`);
  const access = accessOf(rig, headers.get("authorization"));
  if (access !== null) return access;
  if (method === "GET") return read(rig, path, pages);
  if (rig.restricted || rig.body.denies()) return refused(403, "FORBIDDEN");
  if (headers.get("content-type") !== "application/json") return refused(415, "UNSUPPORTED_MEDIA_TYPE");
  if (method === "POST" && path === "/json_rpc") return rpc(rig, request.body, pages.methods);
  if (pages.config.test(path) && method !== "DELETE") return configure(rig, request.body);
  return refused(404, "NOT_FOUND");
}

/** null if the request is allowed. */
function accessOf(rig: XmrigRig, authorization: string | undefined): Reply | null {
  if (rig.token === null) return rig.restricted ? null : refused(401, "UNAUTHORIZED");
  if (authorization === undefined) return refused(401, "UNAUTHORIZED");
  return authorization === `Bearer ${rig.token}` ? null : refused(403, "FORBIDDEN");
}

function read(rig: XmrigRig, path: string, pages: XmrigPages): Reply {
  if (pages.config.test(path)) return rig.restricted ? refused(403, "FORBIDDEN") : json(config(rig));
  const report = Object.hasOwn(pages.reports, path) ? pages.reports[path] : undefined;
  return report === undefined ? refused(404, "NOT_FOUND") : json(report(rig));
}

type RpcAct = (rig: XmrigRig) => void;

const mine =
  (mining: boolean): RpcAct =>
  (rig) =>
    rig.model.change((model) => {
      model.mining = mining && !rig.stopped;
    });

/** After `stop` the program keeps running, reports that it is not paused, and ignores `resume`. */
const stop: RpcAct = (rig) => {
  rig.stopped = true;
  mine(false)(rig);
};

const minerPages: XmrigPages = {
  reports: {
    "/2/summary": (rig) => summary(rig, 2),
    "/1/summary": (rig) => summary(rig, 1),
    "/api.json": (rig) => summary(rig, 1),
    "/2/backends": backends,
  },
  config: /^\/[12]\/config$/,
  methods: new Map([
    ["pause", mine(false)],
    ["resume", mine(true)],
    ["stop", stop],
  ]),
};

function rpc(rig: XmrigRig, body: string, methods: XmrigPages["methods"]): Reply {
  const request = objectOf(body);
  if (request === null) return json(rpcError(-32700, "Parse error", null));
  const id = request.id ?? null;
  const method = request.method;
  if (typeof method !== "string") return json(rpcError(-32600, "Invalid Request", id), 2);
  const act = methods.get(method);
  if (act === undefined) return json(rpcError(-32601, "Method not found", id), 2);
  act(rig);
  return json({ result: { status: "OK" }, jsonrpc: "2.0", id }, 2);
}

const rpcError = (code: number, message: string, id: unknown) => ({ error: { code, message }, jsonrpc: "2.0", id });

const ConfigPool = z.object({
  url: z.string().min(1),
  user: z.string().default(""),
  pass: z.string().default("x"),
  enabled: z.boolean().default(true),
});

const defaultDifficulty = 200_000;

/** The pools of a configuration, with counters at zero; invalid ones are left out. */
function poolsOf(value: unknown, before: readonly Pool[]): Pool[] {
  const list = z.array(z.unknown()).safeParse(value).data ?? [];
  return list.flatMap((entry, priority) => {
    const pool = ConfigPool.safeParse(entry);
    if (!pool.success) return [];
    const { url, user, pass: password, enabled } = pool.data;
    const { difficulty = defaultDifficulty, alive = true } = before.find((other) => other.url === url) ?? {};
    return [{ url, user, password, difficulty, enabled, alive, priority, quota: 1, hashes: 0, lastShareAt: null }];
  });
}

/** Time from the answer until the configuration takes effect. */
const takingUp = 500;

function configure(rig: XmrigRig, body: string): Reply {
  const wanted = objectOf(body);
  if (wanted === null) return json({ error: "Missing a name for object member.", status: 400 }, 1, 400, "BAD_REQUEST");
  const pools = poolsOf(wanted.pools, rig.model.pools);
  if (activePool(pools.map((pool) => ({ ...pool, alive: true }))) === null) return refused(400, "BAD_REQUEST");
  rig.wanted = { config: wanted, pools, at: rig.model.at + takingUp };
  return bare(204, "NO_CONTENT");
}

/** Replaces the configuration, and mines at its pools. */
function settle(rig: XmrigRig): void {
  if (rig.wanted === null || rig.model.at < rig.wanted.at) return;
  rig.config = rig.wanted.config;
  rig.stopped = false;
  rig.model.setPools(rig.wanted.pools);
  rig.model.change((model) => {
    model.mining = true;
  });
  rig.wanted = null;
}

const objectOf = (body: string): Readonly<Record<string, unknown>> | null =>
  Array.isArray(jsonOf(body)) ? null : objectIn(body);

const cors = [
  "Access-Control-Allow-Headers: Authorization, Content-Type",
  "Access-Control-Allow-Methods: GET, PUT, POST, DELETE",
  "Access-Control-Allow-Origin: *",
  "Connection: close",
];

const bare = (status: number, reason: string): Reply =>
  httpReply({ status, reason, headers: cors, body: null, close: true });

const json = (value: unknown, times = 1, status = 200, reason = "OK"): Reply =>
  httpReply({
    status,
    reason,
    headers: [...cors, "Content-Length: {length}", "Content-Type: application/json"],
    body: printed(value),
    times,
    close: true,
  });

const refused = (status: number, error: string): Reply => json({ status, error }, 1, status, error);

/** Four spaces a level, lists of plain values on one line. */
function printed(value: unknown): string {
  return JSON.stringify(value, null, 4).replace(/\[[^[\]{}]*\]/g, (list) =>
    list.replace(/\n\s*/g, " ").replace("[ ", "[").replace(" ]", "]"),
  );
}
