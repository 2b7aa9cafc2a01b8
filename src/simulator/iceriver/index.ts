import { shareOfBoard, temperatureOfBoard } from "../cgminer/reports.ts";
import { type HttpRequest, httpReply } from "../http-message.ts";
import type { RigModel } from "../model.ts";
import { mix } from "../random.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";

export interface IceriverOptions {
  readonly username: string;
  readonly password: string;
  /** Firmware that does not report its MAC address. */
  readonly hidesMac: boolean;
  /** Seconds until a session expires. */
  readonly sessionSeconds: number;
}

/** IceRiver's web interface: forms whose parameters are in the query, and a session in a cookie. */
export function iceriver(body: RigBody, options: IceriverOptions): Conversation {
  const rig = new IceriverRig(body, options);
  return {
    http: (request) => {
      body.model.advance();
      return rig.answer(request);
    },
  };
}

const page = "<html><head><TITLE>用户界面</TITLE></head><body></body></html>";

class IceriverRig {
  readonly #body: RigBody;
  readonly #options: IceriverOptions;
  readonly #sessions = new Map<string, number>();
  #blinks = false;

  constructor(body: RigBody, options: IceriverOptions) {
    this.#body = body;
    this.#options = options;
  }

  answer({ method, path, query, headers }: HttpRequest): Reply {
    const asked = new URLSearchParams(query);
    if (method === "POST" && path === "/user/loginpost") return this.#logIn(asked);
    if (method !== "POST" || path !== "/user/userpanel") return reply("text/html", page);
    const session = /session=(\w+)/.exec(headers.get("cookie") ?? "")?.[1] ?? "";
    if (this.#body.model.at >= (this.#sessions.get(session) ?? 0)) return reply("text/html", page);
    return this.#panel(asked);
  }

  #logIn(asked: URLSearchParams): Reply {
    const { username, password, sessionSeconds } = this.#options;
    const fits = asked.get("post") === "6" && asked.get("user") === username && asked.get("pwd") === password;
    if (!fits) return json({ error: 1, data: null });
    const { model } = this.#body;
    const session = mix(model.seed, 2_000 + this.#sessions.size).toString(36);
    this.#sessions.set(session, model.at + sessionSeconds * 1000);
    return json({ error: 0, data: null }, [`Set-Cookie: session=${session}; Path=/`]);
  }

  #panel(asked: URLSearchParams): Reply {
    const what = asked.get("post");
    const locate = asked.get("locate");
    if (what === "5" && locate !== null) {
      logWrite(this.#body.requests, `userpanel locate=${locate}`);
      if (this.#body.denies()) return reply("text/html", page);
      this.#blinks = locate === "1";
    }
    return what === "4" || what === "5" ? json({ error: 0, data: this.#report() }) : json({ error: 1, data: null });
  }

  #report(): object {
    const { model, mac, name } = this.#body;
    const gigahashes = (seconds: number) => model.hashrate(seconds) / 1e9;
    return {
      model: "none",
      softver1: "ver1.2_ks5L_miner",
      softver2: "ver1.2_ks5L_bg",
      mac: this.#options.hidesMac ? "" : mac.replaceAll(":", "-"),
      host: name,
      unit: "G",
      rtpow: `${Math.round(gigahashes(5))}G`,
      avgpow: `${Math.round(model.averageHashrate / 1e9)}G`,
      runtime: runtimeOf(model),
      powstate: true,
      netstate: model.activePool !== null,
      fanstate: true,
      tempstate: !model.overheated,
      locate: this.#blinks,
      fans: Array.from({ length: model.hardware.fans }, () => model.fanRpm),
      boards: Array.from({ length: model.hardware.boards }, (_, board) => ({
        no: board + 1,
        chipnum: model.hardware.chips,
        freq: Math.round(model.frequency / 1e6),
        rtpow: `${(gigahashes(5) * shareOfBoard(model, board)).toFixed(2)}G`,
        intmp: Math.round(temperatureOfBoard(model, board)) - 12,
        outtmp: Math.round(temperatureOfBoard(model, board)),
        state: true,
      })),
      pools: model.pools.map((pool, index) => ({
        no: index + 1,
        addr: pool.url,
        user: pool.user,
        connect: pool === model.activePool ? 1 : -1,
        state: pool.enabled && pool.alive ? 1 : 0,
        ...model.sharesOf(pool),
      })),
    };
  }
}

const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");

const runtimeOf = ({ elapsed }: RigModel): string =>
  [elapsed / 86_400, (elapsed / 3_600) % 24, (elapsed / 60) % 60, elapsed % 60].map(two).join(":");

const reply = (type: string, body: string, headers: readonly string[] = []): Reply =>
  httpReply({
    status: 200,
    reason: "OK",
    headers: [`Content-Type: ${type}`, "Content-Length: {length}", "Connection: close", ...headers],
    body,
    close: true,
  });

const json = (value: unknown, headers: readonly string[] = []): Reply =>
  reply("application/json", JSON.stringify(value), headers);
