import { type HttpRequest, httpReply } from "../http-message.ts";
import { jsonOf, objectIn } from "../json.ts";
import { mix } from "../random.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { changes } from "./changes.ts";
import { pages } from "./reports.ts";
import { type ProtoOptions, ProtoRig } from "./rig.ts";

/** A Proto rig: JSON over HTTP with a bearer token; what it is can be read without one. */
export function proto(body: RigBody, options: ProtoOptions): Conversation {
  const rig = new ProtoRig(body, options);
  const sessions = new Sessions(rig, options);
  return {
    http: (request) => {
      rig.model.advance();
      return answer(rig, sessions, request);
    },
  };
}

/** The last token that a login got, until it expires. */
class Sessions {
  readonly #rig: ProtoRig;
  readonly #options: ProtoOptions;
  #count = 0;
  #token: { readonly text: string; readonly until: number } | null = null;

  constructor(rig: ProtoRig, options: ProtoOptions) {
    this.#rig = rig;
    this.#options = options;
  }

  logIn(body: string): Reply {
    if (objectIn(body)?.password !== this.#options.password) return failure(401, "UNAUTHORIZED", "Invalid password");
    const { model } = this.#rig;
    this.#count += 1;
    const text = mix(model.seed, 5_000 + this.#count).toString(36);
    this.#token = { text, until: model.at + this.#options.tokenSeconds * 1000 };
    return json(200, { access_token: text, refresh_token: `refresh-${text}` });
  }

  admits({ headers }: HttpRequest): boolean {
    const token = this.#token;
    return (
      token !== null && this.#rig.model.at < token.until && headers.get("authorization") === `Bearer ${token.text}`
    );
  }
}

const page = "<!doctype html><html><head><title>Proto OS</title></head><body></body></html>";
const open: ReadonlySet<string> = new Set(["system", "network", "hardware"]);

function answer(rig: ProtoRig, sessions: Sessions, request: HttpRequest): Reply {
  const { method, path, query, body } = request;
  if (method === "GET" && path === "/") return reply(200, "text/html", page);
  const name = path.replace(/^\/api\/v1\//, "");
  if (method === "POST" && name === "auth/login") return sessions.logIn(body);
  const { older } = rig.options;
  const isOpen = method === "GET" && (older || open.has(name));
  if (!isOpen && !sessions.admits(request)) return failure(401, "UNAUTHORIZED", "Missing or invalid bearer token");
  if (method === "GET") {
    const read = older && name === "telemetry" ? undefined : pages.get(name);
    return read === undefined ? failure(404, "NOT_FOUND", "Not found") : json(200, read(rig));
  }
  const change = changes.get(`${method} ${name}`);
  if (change === undefined) return failure(404, "NOT_FOUND", "Not found");
  logWrite(rig.body.requests, `${method} ${name}${query === "" ? "" : `?${query}`} ${body}`.trimEnd());
  if (rig.body.denies()) return failure(422, "UNPROCESSABLE", "Not possible in this state");
  const message = change(rig, jsonOf(body));
  return message === null ? failure(422, "UNPROCESSABLE", "Invalid request body") : json(202, { message });
}

const reply = (status: number, type: string, body: string): Reply =>
  httpReply({
    status,
    reason: status < 300 ? "OK" : "Refused",
    headers: [`Content-Type: ${type}`, "Content-Length: {length}", "Connection: close"],
    body,
    close: true,
  });

const json = (status: number, value: unknown): Reply => reply(status, "application/json", JSON.stringify(value));
const failure = (status: number, code: string, message: string): Reply => json(status, { error: { code, message } });
