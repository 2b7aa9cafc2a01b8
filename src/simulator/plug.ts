import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { SimulatedRig } from "./simulated-rig.ts";

export type PlugKind = "shelly1" | "shelly2" | "tasmota";

export interface PlugOptions {
  readonly kind: PlugKind;
  /** The rig that it powers. */
  readonly rig: SimulatedRig;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Password of the user admin; without it the plug needs no login. */
  readonly password?: string;
  /** 12 hex digits; by default one for each kind. */
  readonly mac?: string;
  /** Epoch ms; by default the machine's clock. */
  readonly clock?: () => number;
}

export interface VirtualPlug {
  readonly address: string;
  readonly on: boolean;
  /** How many times it was switched. */
  readonly switched: number;
  /** Presses its button. */
  press(on: boolean): Promise<void>;
  close(): Promise<void>;
}

/** A metering plug with the HTTP API of Shelly (generations 1 and 2) or Tasmota; it switches the power of its rig. */
export async function startPlug(options: PlugOptions): Promise<VirtualPlug> {
  const { kind, password, mac = macs[kind] } = options;
  const plug = new PlugModel(options.rig, mac, options.clock ?? Date.now);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://plug");
    const { method = "GET", headers } = request;
    const plugRequest = { method, path: request.url ?? "/", authorization: headers.authorization ?? "" };
    const open = password === undefined || url.pathname === "/shelly" || isLogin[kind](password, plugRequest);
    if (!open && kind === "shelly2") response.setHeader("www-authenticate", challenge);
    const answer = open ? answers[kind](plug, url) : Promise.resolve(refusals[kind]);
    answer.then(
      ([status, body]) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
      () => response.writeHead(500).end(),
    );
  });
  const host = options.host ?? "127.0.0.1";
  const port = await listening(server, host);
  return {
    address: `${host}:${port}`,
    get on() {
      return plug.on;
    },
    get switched() {
      return plug.switched;
    },
    press: (on) => plug.turn(on),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

class PlugModel {
  readonly mac: string;
  readonly #rig: SimulatedRig;
  readonly #now: () => number;
  on = true;
  switched = 0;
  /** Wh, until `#at`. */
  #energy = 0;
  #at: number;

  constructor(rig: SimulatedRig, mac: string, now: () => number) {
    this.#rig = rig;
    this.mac = mac;
    this.#now = now;
    this.#at = now();
  }

  get power(): number {
    if (!this.on) return 0;
    this.#rig.model.advance();
    return this.#rig.model.power;
  }

  get energy(): number {
    const now = this.#now();
    this.#energy += (this.power * (now - this.#at)) / 3_600_000;
    this.#at = now;
    return this.#energy;
  }

  async turn(on: boolean): Promise<void> {
    this.#energy = this.energy;
    if (on !== this.on) this.switched += 1;
    this.on = on;
    if (on) await this.#rig.powerOn();
    else this.#rig.powerOff();
  }
}

interface PlugRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
}

const realm = "shellyplugsg3-025150000002";
const nonce = "6936a6b8";
const challenge = `Digest qop="auth", realm="${realm}", nonce="${nonce}", algorithm=SHA-256`;

const isBasic = (password: string, { authorization }: PlugRequest): boolean =>
  authorization === `Basic ${Buffer.from(`admin:${password}`).toString("base64")}`;

/** RFC 7616 with SHA-256. */
function isDigest(password: string, { method, path, authorization }: PlugRequest): boolean {
  const field = (name: string): string => new RegExp(`\\b${name}="?([^",]*)`).exec(authorization)?.[1] ?? "";
  const hash = (...parts: string[]): string => createHash("sha256").update(parts.join(":")).digest("hex");
  const secret = hash("admin", realm, password);
  return field("response") === hash(secret, nonce, field("nc"), field("cnonce"), "auth", hash(method, path));
}

const macs: Readonly<Record<PlugKind, string>> = {
  shelly1: "025150000001",
  shelly2: "025150000002",
  tasmota: "025150000003",
};

const isLogin = { shelly1: isBasic, shelly2: isDigest, tasmota: isBasic };

type Answer = readonly [status: number, body: unknown];

const refusals: Readonly<Record<PlugKind, Answer>> = {
  shelly1: [401, "401 Unauthorized"],
  shelly2: [401, null],
  tasmota: [200, { WARNING: "Need user=<username>&password=<password>" }],
};

const answers: Readonly<Record<PlugKind, (plug: PlugModel, url: URL) => Promise<Answer>>> = {
  shelly1: async (plug, { pathname, searchParams }) => {
    const turn = searchParams.get("turn");
    if (pathname === "/shelly") return [200, { type: "SHPLG-S", mac: plug.mac, auth: false, fw: "v1.14.0" }];
    if (pathname === "/relay/0" && turn !== null) await plug.turn(turn === "on");
    if (pathname === "/relay/0") return [200, { ison: plug.on, has_timer: false, overpower: false }];
    if (pathname !== "/status") return [404, "Not Found"];
    const meter = { power: plug.power, is_valid: true, total: Math.round(plug.energy * 60) };
    return [200, { relays: [{ ison: plug.on }], meters: [meter], temperature: 31.2 }];
  },
  shelly2: async (plug, { pathname, searchParams }) => {
    if (pathname === "/shelly")
      return [200, { id: `shellyplugsg3-${plug.mac}`, mac: plug.mac, gen: 3, auth_en: false }];
    if (searchParams.get("id") !== "0") return [500, { code: -105, message: "Argument 'id', value not found!" }];
    if (pathname === "/rpc/Switch.Set") {
      const before = plug.on;
      await plug.turn(searchParams.get("on") === "true");
      return [200, { was_on: before }];
    }
    if (pathname !== "/rpc/Switch.GetStatus") return [404, { code: 404, message: "No handler" }];
    return [200, { id: 0, output: plug.on, apower: plug.power, voltage: 231.4, aenergy: { total: plug.energy } }];
  },
  tasmota: async (plug, { pathname, searchParams }) => {
    const words = (searchParams.get("cmnd") ?? "").toLowerCase();
    if (pathname !== "/cm") return [404, null];
    if (/^power1? (on|off)$/.test(words)) {
      await plug.turn(words.endsWith("on"));
      return [200, { POWER: plug.on ? "ON" : "OFF" }];
    }
    const network = { Hostname: "tasmota", Mac: plug.mac.replace(/..(?=.)/g, "$&:") };
    if (words === "status 5") return [200, { StatusNET: network }];
    if (words !== "status 0") return [200, { Command: "Unknown" }];
    const energy = { Power: Math.round(plug.power), Total: Number((plug.energy / 1000).toFixed(6)), Voltage: 231 };
    return [200, { StatusSTS: { POWER: plug.on ? "ON" : "OFF" }, StatusSNS: { ENERGY: energy } }];
  },
};

function listening(server: Server, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}
