import { type HttpRequest, httpReply } from "../http-message.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { asic, system } from "./reports.ts";
import { type AxeosRig, applySettings, fresh, patched } from "./state.ts";

/** AxeOS (ESP-Miner) of a Bitaxe Gamma on port 80: no credentials, JSON, persistent connections. */
export function axeos(body: RigBody, options: { pausable: boolean }): Conversation {
  const rig: AxeosRig = fresh(body);
  return { http: (request) => answer(rig, options.pausable, request) };
}

const page = "<!doctype html><html><head><title>AxeOS</title></head><body><app-root></app-root></body></html>";

function answer(rig: AxeosRig, pausable: boolean, request: HttpRequest): Reply {
  const { method, path } = request;
  rig.model.advance();
  if (method === "GET") return read(rig, path);
  logWrite(rig.body.requests, `${method} ${path}${request.body === "" ? "" : ` ${request.body}`}`);
  if (rig.body.denies()) return text(401, "Unauthorized", "Unauthorized");
  if (method === "PATCH" && path === "/api/system") return patch(rig, request.body);
  const act = method === "POST" ? acts.get(path) : undefined;
  const knows = act !== undefined && (pausable || !act.pauses);
  return knows ? text(200, "OK", act.run(rig)) : notFound();
}

function read(rig: AxeosRig, path: string): Reply {
  if (path === "/") return reply(200, "OK", "text/html", page);
  if (path === "/api/system/info") return json(system(rig));
  if (path === "/api/system/asic") return json(asic(rig));
  return notFound();
}

function patch(rig: AxeosRig, body: string): Reply {
  const result = patched(rig.settings, body);
  if (typeof result === "string") return text(400, "Bad Request", result);
  applySettings(rig, result);
  return text(200, "OK", "");
}

interface Act {
  /** Older firmware does not have it. */
  readonly pauses: boolean;
  /** Returns its answer. */
  readonly run: (rig: AxeosRig) => string;
}

const acts: ReadonlyMap<string, Act> = new Map([
  ["/api/system/restart", { pauses: false, run: restart }],
  ["/api/system/identify", { pauses: false, run: () => "Identify signal sent" }],
  ["/api/system/pause", { pauses: true, run: (rig: AxeosRig) => mine(rig, false, "Mining paused") }],
  ["/api/system/resume", { pauses: true, run: (rig: AxeosRig) => mine(rig, true, "Mining resumed") }],
]);

/** Stored pools take effect now; until then they are only reported. */
function restart(rig: AxeosRig): string {
  const { settings, model } = rig;
  const [primary, fallback] = model.pools;
  model.change(() => {
    if (primary !== undefined) Object.assign(primary, settings.primary, { priority: settings.useFallback ? 1 : 0 });
    if (fallback !== undefined) Object.assign(fallback, settings.fallback, { priority: settings.useFallback ? 0 : 1 });
  });
  model.restart(rig.body.restartSeconds);
  return "System will restart shortly.";
}

function mine(rig: AxeosRig, mining: boolean, words: string): string {
  rig.model.change((model) => {
    model.mining = mining;
  });
  return words;
}

const reply = (status: number, reason: string, type: string, body: string): Reply =>
  httpReply({
    status,
    reason,
    headers: [`Content-Type: ${type}`, "Content-Length: {length}", "Access-Control-Allow-Origin: *"],
    body,
    close: false,
  });

const json = (value: unknown): Reply => reply(200, "OK", "application/json", JSON.stringify(value));

const text = (status: number, reason: string, body: string): Reply => reply(status, reason, "text/plain", body);

const notFound = (): Reply => text(404, "Not Found", "Nothing matches the given URI");
