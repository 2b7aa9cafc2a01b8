import { z } from "zod";
import { refusalOf } from "./antminer/login.ts";
import { dialects } from "./cgminer/dialects.ts";
import { cgminer } from "./cgminer/index.ts";
import { shareOfBoard, temperatureOfBoard } from "./cgminer/reports.ts";
import { type HttpRequest, httpReply } from "./http-message.ts";
import { jsonOf } from "./json.ts";
import type { Pool, RigModel } from "./model.ts";
import type { Reply } from "./reply.ts";
import { type Conversation, logWrite, type RigBody } from "./rig.ts";

const dialect = {
  ...dialects.bmminer,
  version: { CGMiner: "kaonsu 1.0", API: "3.7", Miner: "marafw 1.0", Type: "Antminer S19" },
  description: "kaonsu 1.0",
} as const;

/** MARA's firmware of an S19: an RPC, here read-only, and an API behind a digest login. */
export function mara(body: RigBody, password: string): Conversation {
  const { rpc } = cgminer(body, { dialect, privileged: false });
  const rig = new MaraRig(body);
  const login = { realm: "antMiner Configuration", username: "root", password, nonceSeconds: 600 };
  return {
    ...(rpc === undefined ? {} : { rpc }),
    http: (request) => {
      body.model.advance();
      return refusalOf(login, request, body.model.at) ?? rig.answer(request);
    },
  };
}

const PoolOfConfig = z.strictObject({ url: z.string(), user: z.string(), pass: z.string(), gid: z.int() });
const Config = z.strictObject({
  mode: z.strictObject({
    "work-mode-selector": z.enum(["Auto", "Fixed", "Stock", "Sleep"]),
    concorde: z.strictObject({
      "mode-select": z.enum(["PowerTarget", "HashrateTarget"]),
      "power-target": z.number(),
      "hash-target": z.number(),
    }),
  }),
  "advance-config": z.strictObject({
    "override-fan-control": z.boolean(),
    "fan-fixed-percent": z.int().min(0).max(100),
    "user-extra": z.string(),
  }),
  "pool-group": z.array(z.unknown()),
  pools: z.array(PoolOfConfig).min(1),
});
const Light = z.strictObject({ blinking: z.boolean() });
const Maintenance = z.strictObject({ type: z.enum(["reboot", "reload"]) });

class MaraRig {
  readonly #body: RigBody;
  #blinks = false;
  #mode: z.infer<typeof Config>["mode"] = {
    "work-mode-selector": "Auto",
    concorde: { "mode-select": "PowerTarget", "power-target": 3_000, "hash-target": 100 },
  };
  #advanced: z.infer<typeof Config>["advance-config"] = {
    "override-fan-control": false,
    "fan-fixed-percent": 60,
    "user-extra": "kept",
  };

  constructor(body: RigBody) {
    this.#body = body;
  }

  answer({ method, path, body }: HttpRequest): Reply {
    const name = path.replace(/^\/kaonsu\/v1\//, "");
    const page = this.#pages.get(name);
    if (method === "GET") return page === undefined ? missing() : json(page());
    if (method !== "POST" || page === undefined) return missing();
    logWrite(this.#body.requests, `${name} ${body}`);
    if (this.#body.denies()) return json({ error: true, msg: "Not permitted" });
    return this.#change(name, jsonOf(body))
      ? json({ error: false, ...page() })
      : json({ error: true, msg: "Bad value" });
  }

  get #model(): RigModel {
    return this.#body.model;
  }

  readonly #pages: ReadonlyMap<string, () => object> = new Map<string, () => object>([
    [
      "brief",
      () => ({
        status: this.#model.mining ? "Mining" : "Sleeping",
        hashrate_realtime: this.#model.hashrate(5) / 1e12,
        hashrate_ideal: this.#model.ratedHashrate / 1e9,
        power_consumption_estimated: this.#model.power,
        elapsed: Math.floor(this.#model.elapsed),
      }),
    ],
    ["overview", () => ({ mac: this.#body.mac.toLowerCase(), model: "Antminer S19", version_firmware: "25.1.0" })],
    ["network_config", () => ({ hostname: this.#body.name })],
    [
      "hashboards",
      () => ({
        hashboards: Array.from({ length: this.#model.hardware.boards }, (_, index) => {
          const hot = temperatureOfBoard(this.#model, index);
          return {
            index,
            hashrate_average: (this.#model.hashrate(5) * shareOfBoard(this.#model, index)) / 1e9,
            temperature_pcb: [hot, hot - 2],
            temperature_chip: [hot + 10],
            asic_num: this.#model.hardware.chips,
            serial_number: `SIMHB${index}`,
          };
        }),
      }),
    ],
    [
      "fans",
      () => ({
        fans: Array.from({ length: this.#model.hardware.fans }, () => ({ current_speed: this.#model.fanRpm })),
      }),
    ],
    ["locate_miner", () => ({ blinking: this.#blinks })],
    ["maintenance", () => ({})],
    ["miner_config", () => this.#config()],
  ]);

  #config(): z.infer<typeof Config> {
    return {
      mode: this.#mode,
      "advance-config": this.#advanced,
      "pool-group": [{ gid: 0, alias: "", percent: 100 }],
      pools: this.#model.pools.map(({ url, user, password }) => ({ url, user, pass: password, gid: 0 })),
    };
  }

  /** Whether it accepts the body. */
  #change(name: string, body: unknown): boolean {
    if (name === "locate_miner") {
      const { success, data } = Light.safeParse(body);
      this.#blinks = data?.blinking ?? this.#blinks;
      return success;
    }
    if (name === "maintenance") {
      const { success, data } = Maintenance.safeParse(body);
      if (success) this.#model.restart(data.type === "reboot" ? this.#body.restartSeconds : 0);
      return success;
    }
    const { success, data } = Config.safeParse(body);
    if (name !== "miner_config" || !success) return false;
    this.#mode = data.mode;
    this.#advanced = data["advance-config"];
    this.#setPools(data.pools);
    this.#model.change((model) => {
      model.mining = data.mode["work-mode-selector"] !== "Sleep";
      model.fanSetting = this.#advanced["override-fan-control"] ? this.#advanced["fan-fixed-percent"] / 100 : null;
    });
    return true;
  }

  #setPools(listed: z.infer<typeof PoolOfConfig>[]): void {
    const fresh = { difficulty: this.#model.pools[0]?.difficulty ?? 1024, alive: true, hashes: 0, lastShareAt: null };
    this.#model.setPools(
      listed.map(({ url, user, pass }, priority): Pool => {
        const known = this.#model.pools.find((pool) => pool.url === url && pool.user === user) ?? fresh;
        return { ...fresh, ...known, url, user, password: pass, enabled: true, quota: 1, priority };
      }),
    );
  }
}

const reply = (status: number, body: string): Reply =>
  httpReply({
    status,
    reason: status === 200 ? "OK" : "Not Found",
    headers: ["Content-Type: application/json", "Content-Length: {length}", "Connection: close"],
    body,
    close: true,
  });

const json = (value: unknown): Reply => reply(200, JSON.stringify(value));
const missing = (): Reply => reply(404, '{"error":true}');
