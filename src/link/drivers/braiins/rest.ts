import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { Credentials } from "../../link.ts";
import { SessionEnded } from "../../session-ended.ts";
import { type HttpCall, type HttpReply, type HttpTransport, jsonOf, refusal, words } from "../../transports/http.ts";
import { parseStrict } from "../../transports/json.ts";
import type { DeviceReply } from "../../transports/rpc.ts";
import { Memo } from "../shared/memo.ts";
import { redact, redacted } from "../shared/redact.ts";

export const root = "/api/v1";

/** Before reads send a refused login again: the rig may count the attempts. */
const loginRetryAfterMs = 60_000;

/**
 * The REST API of Braiins OS from 25.07: a login gives a token, which is sent bare in the Authorization header and
 * stays valid while it is used. An expired one is renewed once; a command throws `SessionEnded` instead.
 * Source: Braiins' OpenAPI 1.7. Throws `rig.login`, `rig.busy` (409), `rig.refused` with the rig's words.
 */
export class BraiinsRest {
  readonly #http: HttpTransport;
  readonly #username: string;
  readonly #password: string;
  #token: string | null = null;
  /** Whether lists are at `pools`, as seen on a 25.07, instead of the documented `pools/`. */
  #bare = false;
  readonly #loginRefusal = new Memo<RigbridgeError>(loginRetryAfterMs);

  constructor(http: HttpTransport, { username, password }: Credentials) {
    this.#http = http;
    this.#username = username ?? "root";
    this.#password = password ?? "";
  }

  get at(): string {
    return this.#http.at;
  }

  /** A page below /api/v1, repaired where needed. */
  async page(path: string, signal: AbortSignal): Promise<DeviceReply> {
    const call = { method: "GET", path: `${root}/${path}` } as const;
    return jsonOf(this.#http.at, call, await this.#send(call, signal));
  }

  /** The same without repairs, which must not be written back. */
  async strictPage(path: string, signal: AbortSignal): Promise<unknown> {
    const { body } = await this.#send({ method: "GET", path: `${root}/${path}`, ofCommand: true }, signal);
    const parsed = parseStrict(body);
    if ("value" in parsed) return parsed.value;
    throw new RigbridgeError("rig.garbled", `${this.#http.at}: ${root}/${path} could not be read`);
  }

  /** Resolves with the rig's words, or `done` where it has none. */
  async write(
    method: "PUT" | "PATCH",
    path: string,
    body: unknown,
    done: string,
    signal: AbortSignal,
  ): Promise<string> {
    const call = { method, path: `${root}/${path}`, ...(body === undefined ? {} : { body }), ofCommand: true } as const;
    const reply = await this.#send(call, signal);
    return words(reply.body) || done;
  }

  async #send(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
    const kept = this.#token;
    const first = await this.#with(kept ?? (await this.#login(signal)), call, signal);
    if (first.status < 300) return first;
    if (kept === null || (first.status !== 401 && first.status !== 403)) throw this.#refused(call, first);
    this.#token = null;
    if (call.ofCommand) throw new SessionEnded(this.#refused(call, first));
    const second = await this.#with(await this.#login(signal), call, signal);
    if (second.status < 300) return second;
    throw this.#refused(call, second);
  }

  async #with(token: string, call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
    const headers = { authorization: token };
    const listed = call.path.endsWith("/");
    const path = listed && this.#bare ? call.path.slice(0, -1) : call.path;
    const reply = await this.#http.call({ ...call, path, headers }, signal);
    if (reply.status !== 404 || !listed || this.#bare) return reply;
    const bare = await this.#http.call({ ...call, path: call.path.slice(0, -1), headers }, signal);
    this.#bare = bare.status < 300;
    return bare;
  }

  #refused(call: HttpCall, reply: HttpReply): RigbridgeError {
    const refused = refusal(this.#http.at, call, reply);
    const { message, unquoted } = refused;
    if (reply.status === 404) return refused;
    if (reply.status === 401) this.#token = null;
    const code = reply.status === 401 ? "rig.login" : reply.status === 409 ? "rig.busy" : "rig.refused";
    return new RigbridgeError(code, message, { unquoted });
  }

  async #login(signal: AbortSignal): Promise<string> {
    if (this.#loginRefusal.isFresh) throw this.#loginRefusal.value;
    const body = { username: this.#username, password: this.#password };
    const call = { method: "POST", path: `${root}/auth/login`, body } as const;
    const reply = await this.#http.call(call, signal);
    if (reply.status >= 400 && reply.status < 500 && reply.status !== 404) {
      const why = redact(words(reply.body), [this.#password]);
      const unquoted = `${this.#http.at} rejects this login: ${reply.status}`;
      throw this.#loginRefusal.keep(new RigbridgeError("rig.login", `${unquoted} ${why}`.trimEnd(), { unquoted }));
    }
    if (reply.status >= 300) throw redacted(refusal(this.#http.at, call, reply), [this.#password]);
    const { value } = jsonOf(this.#http.at, call, reply);
    if (!isRecord(value) || typeof value.token !== "string" || !/^[\x21-\x7e]{1,4096}$/.test(value.token))
      throw new RigbridgeError("rig.garbled", `${this.#http.at}: the login returned no token`);
    this.#loginRefusal.forget();
    this.#token = value.token;
    return value.token;
  }
}
