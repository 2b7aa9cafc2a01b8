import { dialects } from "./cgminer/dialects.ts";
import { cgminer } from "./cgminer/index.ts";
import { type HttpRequest, httpReply } from "./http-message.ts";
import { mix } from "./random.ts";
import type { Reply } from "./reply.ts";
import { type Conversation, logWrite, type RigBody } from "./rig.ts";

interface InnosiliconOptions {
  readonly password: string;
  /** Seconds until a token expires. */
  readonly tokenSeconds: number;
  /** Its present error; 0 for none. */
  readonly error: number;
}

/** Innosilicon's firmware of an A9: cgminer's RPC, here read-only, and an API with a bearer token. */
export function innosilicon(body: RigBody, options: InnosiliconOptions): Conversation {
  const { rpc } = cgminer(body, { dialect: dialects.innosilicon, privileged: false });
  const api = new Api(body, options);
  return {
    ...(rpc === undefined ? {} : { rpc }),
    http: (request) => {
      body.model.advance();
      return api.answer(request);
    },
  };
}

class Api {
  readonly #body: RigBody;
  readonly #options: InnosiliconOptions;
  #token: { readonly text: string; readonly until: number } | null = null;
  #logins = 0;

  constructor(body: RigBody, options: InnosiliconOptions) {
    this.#body = body;
    this.#options = options;
  }

  answer({ method, path, headers, body }: HttpRequest): Reply {
    if (method === "GET" && path === "/") return reply(200, "<html><head><title>DragonMint</title></head></html>");
    if (method !== "POST") return reply(404, "");
    if (path === "/api/auth") return this.#logIn(new URLSearchParams(body));
    const token = this.#token;
    if (token === null || headers.get("authorization") !== `Bearer ${token.text}`) return reply(401, "");
    if (this.#body.model.at >= token.until) return json({ success: false, token: "expired" });
    return this.#serve(path.replace(/^\/api\//, ""));
  }

  #logIn(given: URLSearchParams): Reply {
    const fits = given.get("username") === "admin" && given.get("password") === this.#options.password;
    if (!fits) return json({ success: false, message: "Wrong password" });
    this.#logins += 1;
    const { model } = this.#body;
    const text = mix(model.seed, 7_000 + this.#logins).toString(36);
    this.#token = { text, until: model.at + this.#options.tokenSeconds * 1000 };
    return json({ success: true, jwt: text });
  }

  #serve(name: string): Reply {
    const { model, mac, requests, restartSeconds } = this.#body;
    if (name === "getErrorDetail") return json({ success: true, code: this.#options.error });
    if (name === "getAll")
      return json({
        success: true,
        all: { mac: mac.toLowerCase(), power: Math.round(model.power), fansSpeed: Math.round(model.fan * 100) },
      });
    if (name !== "restartCgMiner" && name !== "reboot") return reply(404, "");
    logWrite(requests, name);
    if (this.#body.denies()) return json({ success: false, msg: "Not permitted" });
    model.restart(name === "reboot" ? restartSeconds : 0);
    return json({ success: true, msg: `${name} done` });
  }
}

const reply = (status: number, body: string): Reply =>
  httpReply({
    status,
    reason: status === 200 ? "OK" : "Other",
    headers: ["Content-Type: application/json", "Content-Length: {length}", "Connection: close"],
    body,
    close: true,
  });

const json = (value: unknown): Reply => reply(200, JSON.stringify(value));
