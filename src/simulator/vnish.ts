import { type HttpRequest, httpReply } from "./http-message.ts";
import type { Pool, RigModel } from "./model.ts";
import { mix } from "./random.ts";
import type { Reply } from "./reply.ts";
import { type Conversation, logWrite, type RigBody } from "./rig.ts";
import * as reports from "./vnish-reports.ts";
import { rpcAnswer } from "./vnish-rpc.ts";
import { save, settings } from "./vnish-settings.ts";

/** 1.2.6 has no throttle and guards its summary; 1.3.4 has both throttle and an open summary. */
export type VnishVersion = "1.2.6" | "1.3.4";

export interface VnishOptions {
  readonly version: VnishVersion;
  readonly password: string;
  /** Of 32 characters; null: none is stored. */
  readonly apiKey: string | null;
  /** Seconds that a token lives. */
  readonly tokenSeconds: number;
  /** Shows stars in place of the pools' passwords. */
  readonly hidesPasswords: boolean;
  /** Moves between presets by itself. */
  readonly switchesPresets: boolean;
}

export interface VnishPreset {
  readonly name: string;
  /** null for the stock setting. */
  readonly watts: number | null;
  /** H/s. */
  readonly hashrate: number;
  /** 0 to 1, of the rated rate. */
  readonly level: number;
  readonly tuned: boolean;
}

/** A VNish rig: its body, and what its firmware keeps. */
export class VnishRig {
  readonly body: RigBody;
  readonly model: RigModel;
  readonly version: VnishVersion;
  readonly hides: boolean;
  readonly switches: boolean;
  readonly presets: readonly VnishPreset[];
  /** Chosen; at work since mining last started. */
  preset: VnishPreset;
  applied: VnishPreset;
  throttle = 100;
  cooling: { readonly mode: { readonly name: "auto" | "manual"; readonly param: number } };
  /** Stored; in use since mining last started. */
  storedPools: Pool[];
  blinks = false;
  stopped = false;
  restartRequired = false;
  /** Epoch ms until which mining restarts; its web goes on. */
  #restartsUntil = 0;

  constructor(body: RigBody, { version, hidesPasswords, switchesPresets }: VnishOptions) {
    this.body = body;
    this.model = body.model;
    this.version = version;
    this.hides = hidesPasswords;
    this.switches = switchesPresets;
    this.presets = presetsFor(body.model);
    this.preset = this.presets.find(({ name }) => name === "disabled") ?? stockOf(body.model);
    this.applied = this.preset;
    this.cooling = { mode: { name: "auto", param: Math.round(body.model.temperatureTarget) } };
    this.storedPools = body.model.pools;
  }

  get isNew(): boolean {
    return this.version !== "1.2.6";
  }

  get throttles(): boolean {
    return this.isNew;
  }

  get restarting(): boolean {
    return this.model.at < this.#restartsUntil;
  }

  get state(): string {
    if (this.model.overheated) return "failure";
    if (this.restarting) return "restarting";
    return this.stopped ? "stopped" : "mining";
  }

  /** What was stored is taken up. */
  restartMining(): void {
    this.stopped = false;
    this.restartRequired = false;
    this.throttle = 100;
    this.applied = this.preset;
    this.model.setPools(this.storedPools);
    this.model.restart(0);
    this.model.change((model) => {
      model.mining = false;
    });
    this.#restartsUntil = this.model.at + this.body.restartSeconds * 1000;
    this.settle();
  }

  stop(): void {
    this.stopped = true;
    this.settle();
  }

  setThrottle(percent: number): void {
    this.throttle = percent;
    this.settle();
  }

  switchTo(id: number): boolean {
    const wanted = this.model.pools[id];
    if (wanted === undefined) return false;
    this.model.change(({ pools }) => {
      const others = pools.filter((pool) => pool !== wanted).sort((a, b) => a.priority - b.priority);
      for (const [priority, pool] of [wanted, ...others].entries()) pool.priority = priority;
    });
    return true;
  }

  /** What the clock has brought. */
  settle(): void {
    this.model.advance();
    const mining = !this.stopped && !this.restarting;
    const level = (this.applied.level * this.throttle) / 100;
    if (this.model.mining === mining && this.model.level === level) return;
    this.model.change((model) => {
      model.mining = mining;
      model.level = level;
    });
  }
}

const presetSteps = 7;

const stockOf = ({ hardware: { hashrate } }: RigModel): VnishPreset => ({
  name: "disabled",
  watts: null,
  hashrate,
  level: 1,
  tuned: false,
});

/** The stock setting, and one every 300 W below it; the strongest of them was never tuned. */
function presetsFor(model: RigModel): VnishPreset[] {
  const top = Math.floor(model.hardware.power / 100) * 100;
  const made = Array.from({ length: presetSteps }, (_, index): VnishPreset => {
    const watts = top - 300 * (presetSteps - 1 - index);
    const level = model.levelAt(watts);
    const hashrate = model.hardware.hashrate * level;
    return { name: String(watts), watts, level, hashrate, tuned: index < presetSteps - 1 };
  });
  return [stockOf(model), ...made];
}

/** VNish on an Antminer: a web API with a password, and a part of stock firmware's RPC. */
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

/** Who may change something: whoever has a fresh token, or the API key. */
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
    if (fieldOf(body, "pw") !== this.#options.password) {
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
  const shown = pages.get(name);
  if (shown === undefined) return json(404, { err: "Not found" });
  const guarded = name === "settings" || name === "autotune/presets" || (name === "summary" && !rig.isNew);
  return guarded && !admitted ? json(401, {}) : json(200, shown(rig, admitted));
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

/** Most answer with nothing. */
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
      rig.switchTo(Number(fieldOf(body, "pool_id"))) ? nothing() : json(500, { err: "Could not find pool" }),
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
  const percent = Number(fieldOf(body, "percent"));
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

function fieldOf(body: string, key: string): unknown {
  try {
    const value: unknown = Object(JSON.parse(body));
    return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  } catch {
    return undefined;
  }
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
