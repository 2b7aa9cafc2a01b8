import { type HttpRequest, httpReply } from "../http-message.ts";
import { objectIn } from "../json.ts";
import { mix } from "../random.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import * as reports from "./reports.ts";
import { type VnishOptions, VnishRig } from "./rig.ts";
import { rpcAnswer } from "./rpc.ts";
import { save, settings } from "./settings.ts";

/** VNish on an Antminer: a web API with a password, and a part of the stock RPC. */
export function vnish(body: RigBody, options: VnishOptions): Conversation {
  const rig = new VnishRig(body, options);
  const door = new Door(rig, options);
  return {
    rpc: (request) => {
      rig.settle();
      return rpcAnswer(rig, request);
    },
    http: (request) => {
      rig.settle();
      return answer(rig, door, request);
    },
  };
}

const lockedAfter = 5;

/** Writes need a valid token or the API key. */
class Door {
  readonly #rig: VnishRig;
  readonly #options: VnishOptions;
  readonly #tokens = new Map<string, number>();
  #wrong = 0;

  constructor(rig: VnishRig, options: VnishOptions) {
    this.#rig = rig;
    this.#options = options;
  }

  unlock(body: string): Reply {
    if (this.#wrong >= lockedAfter) return json(429, { unlock_timeout: 60 });
    if (objectIn(body)?.pw !== this.#options.password) {
      this.#wrong += 1;
      return json(403, {});
    }
    this.#wrong = 0;
    const token = mix(this.#rig.model.seed, 1000 + this.#tokens.size)
      .toString(36)
      .padStart(32, "t");
    this.#tokens.set(token, this.#rig.model.at + this.#options.tokenSeconds * 1000);
    return json(200, { token });
  }

  admits({ headers }: HttpRequest): boolean {
    const key = headers.get("x-api-key");
    if (key !== undefined && key === this.#options.apiKey) return true;
    const token = /^Bearer (\S+)$/.exec(headers.get("authorization") ?? "")?.[1] ?? "";
    return this.#rig.model.at < (this.#tokens.get(token) ?? 0);
  }
}

const page = "<!doctype html><html><head><title>AnthillOS</title></head><body></body></html>";
const base = "/api/v1/";

function answer(rig: VnishRig, door: Door, request: HttpRequest): Reply {
  const { method, path, body } = request;
  if (method === "GET" && path === "/") return reply(200, "text/html", page);
  if (!path.startsWith(base)) return json(404, { err: "Not found" });
  const name = path.slice(base.length);
  if (method === "POST" && name === "unlock") return door.unlock(body);
  const admitted = door.admits(request);
  if (method === "GET") return read(rig, name, admitted);
  if (method !== "POST") return json(405, { err: "Method not allowed" });
  logWrite(rig.body.requests, `${name}${body === "" ? "" : ` ${body}`}`);
  if (!admitted && name !== "find-miner") return json(401, {});
  if (rig.body.denies()) return json(500, { err: "Not permitted" });
  return acts.get(name)?.(rig, body) ?? json(404, { err: "Not found" });
}

function read(rig: VnishRig, name: string, admitted: boolean): Reply {
  const page = pages.get(name);
  if (page === undefined) return json(404, { err: "Not found" });
  const guarded = name === "settings" || name === "autotune/presets" || (name === "summary" && !rig.isNew);
  return guarded && !admitted ? json(401, {}) : json(200, page(rig, admitted));
}

const pages: ReadonlyMap<string, (rig: VnishRig, admitted: boolean) => unknown> = new Map([
  ["summary", reports.summary],
  ["status", reports.status],
  ["info", reports.info],
  ["model", reports.model],
  ["perf-summary", reports.performance],
  ["autotune/presets", reports.presets],
  ["chains", reports.chainChips],
  ["chains/factory-info", reports.factory],
  ["settings", settings],
]);

/** Most answer without a body. */
const acts: ReadonlyMap<string, (rig: VnishRig, body: string) => Reply> = new Map([
  ["mining/start", (rig: VnishRig) => (rig.stopped ? restartMining(rig) : json(500, { err: "Mining is running" }))],
  ["mining/restart", restartMining],
  [
    "mining/stop",
    (rig: VnishRig) => {
      rig.stop();
      return nothing();
    },
  ],
  [
    "mining/switch-pool",
    (rig: VnishRig, body: string) =>
      rig.switchTo(Number(objectIn(body)?.pool_id)) ? nothing() : json(500, { err: "Could not find pool" }),
  ],
  ["mining/throttle", throttle],
  ["system/reboot", reboot],
  [
    "find-miner",
    (rig: VnishRig) => {
      rig.blinks = !rig.blinks;
      return json(200, { on: rig.blinks });
    },
  ],
  [
    "settings",
    (rig: VnishRig, body: string) => {
      const saved = save(rig, body);
      if (typeof saved === "string") return json(500, { err: saved });
      return json(200, { restart_required: saved.restartRequired, reboot_required: false });
    },
  ],
]);

function restartMining(rig: VnishRig): Reply {
  rig.restartMining();
  return nothing();
}

function throttle(rig: VnishRig, body: string): Reply {
  if (!rig.throttles) return json(404, { err: "Not found" });
  const percent = Number(objectIn(body)?.percent);
  if (!(percent >= 20 && percent <= 100)) return json(400, { err: "Percent must be 20 to 100" });
  rig.setThrottle(percent);
  return nothing();
}

function reboot(rig: VnishRig): Reply {
  rig.restartMining();
  rig.blinks = false;
  rig.model.restart(rig.body.restartSeconds);
  return json(200, { after: 3 });
}

const reasons: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  429: "Too Many Requests",
};

const reply = (status: number, type: string, body: string): Reply =>
  httpReply({
    status,
    reason: reasons[status] ?? "Internal Server Error",
    headers: [`Content-Type: ${type}`, "Content-Length: {length}", "Connection: close"],
    body,
    close: true,
  });

const json = (status: number, value: unknown): Reply => reply(status, "application/json", JSON.stringify(value));
const nothing = (): Reply => reply(200, "application/json", "");
