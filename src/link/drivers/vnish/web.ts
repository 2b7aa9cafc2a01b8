import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { detail } from "../../../messages/detail.ts";
import type { Locked } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { SessionEnded } from "../../session-ended.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpReply, jsonOf, NotOnDevice, words } from "../../transports/http.ts";
import { parseStrict } from "../../transports/json.ts";
import type { DeviceReply } from "../../transports/rpc.ts";
import { Memo } from "../shared/memo.ts";
import { redact } from "../shared/redact.ts";

const base = "/api/v1/";
/** Before a read sends a refused password again: too many attempts lock the login. */
const loginRetryAfterMs = 600_000;

interface PostOptions {
  readonly secrets?: readonly string[];
  readonly otherwise?: string;
}

/**
 * The web API of VNish. A password is exchanged for a token, which is renewed when it expires; one of its `apikeys`,
 * configured as the rig's token, is used directly. Source: its OpenAPI document (`/docs` on the rig).
 */
export class VnishWeb {
  readonly #link: Link;
  #token: string | null = null;
  readonly #refusal = new Memo<RigbridgeError>(loginRetryAfterMs);

  constructor(link: Link) {
    this.#link = link;
  }

  get at(): string {
    return this.#link.http.at;
  }

  /** Why nothing can be changed; null unless the login is missing or was refused. */
  get locked(): Locked | null {
    const { password, token } = this.#link.credentials;
    if (password === undefined && token === undefined)
      return { why: "login missing", text: "to control this rig, configure the password of its web interface" };
    if (this.#refusal.value === undefined) return null;
    return { why: "login wrong", text: "this rig rejects the configured password" };
  }

  /** Throws `rig.login` if the page requires a login, and the errors of a request. */
  async get(path: string, signal: AbortSignal): Promise<DeviceReply> {
    const call = { method: "GET", path: `${base}${path}` } as const;
    return jsonOf(this.at, call, await this.#read(call, signal));
  }

  /** Read just before a change, without repairs, which must not be written back. */
  async getStrict(path: string, signal: AbortSignal): Promise<Record<string, unknown>> {
    await this.unlock(signal);
    const { body } = await this.#read({ method: "GET", path: `${base}${path}`, ofCommand: true }, signal);
    const parsed = parseStrict(body);
    if ("problem" in parsed || !isRecord(parsed.value)) {
      throw new RigbridgeError("rig.garbled", `${this.at}: its ${path} could not be read`);
    }
    return parsed.value;
  }

  /**
   * Resolves with the answer's fields. `secrets` are kept out of the error of a refusal; `otherwise` is the path in
   * firmware that does not have this one, which then has done nothing.
   */
  async post(path: string, body: unknown, signal: AbortSignal, options: PostOptions = {}): Promise<TolerantReader> {
    const { secrets = [], otherwise } = options;
    const kept = this.#token !== null;
    await this.unlock(signal);
    const call: HttpCall = { method: "POST", path: `${base}${path}`, ...(body === undefined ? {} : { body }) };
    const reply = await this.#send(call, signal);
    if (reply.status === 401) throw this.#ended(kept, reply);
    if ((reply.status === 404 || reply.status === 405) && otherwise !== undefined) {
      return this.post(otherwise, body, signal, { secrets });
    }
    if (reply.status >= 300) throw this.#refusedCall(path, reply, secrets);
    const parsed = parseStrict(reply.body);
    return new TolerantReader("value" in parsed ? parsed.value : undefined, new Notes(), path);
  }

  /** Throws `rig.login` when no password is configured, or the rig rejects it. */
  async unlock(signal: AbortSignal): Promise<void> {
    const { password, token } = this.#link.credentials;
    if (token !== undefined || this.#token !== null) return;
    if (password === undefined) throw new RigbridgeError("rig.login", detail("link.noPassword", { at: this.at }));
    await this.#unlockAnew(signal);
  }

  get #renewable(): boolean {
    return this.#link.credentials.token === undefined && this.#link.credentials.password !== undefined;
  }

  async #read(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
    const kept = this.#token !== null;
    await this.#unlockToRead(signal);
    let reply = await this.#send(call, signal);
    if (reply.status === 401 && call.ofCommand) throw this.#ended(kept, reply);
    if (reply.status === 401 && this.#renewable && this.#token !== null) {
      await this.#unlockAnew(signal);
      reply = await this.#send(call, signal);
    }
    if (reply.status === 401 || reply.status === 403) throw this.#refusal.value ?? this.#login(reply);
    if (reply.status >= 300) throw this.#refusedCall(call.path, reply, []);
    return reply;
  }

  /** The error for a command's call refused with 401. */
  #ended(kept: boolean, reply: HttpReply): RigbridgeError {
    if (!kept || !this.#renewable) return this.#login(reply);
    this.#token = null;
    return new SessionEnded(this.#login(reply));
  }

  /** Most pages need no login, so a refusal is remembered, and the page requested nevertheless. */
  async #unlockToRead(signal: AbortSignal): Promise<void> {
    if (!this.#renewable || this.#token !== null || this.#refusal.isFresh) return;
    try {
      await this.#unlockAnew(signal);
    } catch (error) {
      if (!(error instanceof RigbridgeError) || error.code !== "rig.login") throw error;
    }
  }

  async #unlockAnew(signal: AbortSignal): Promise<void> {
    this.#token = null;
    const body = { pw: this.#link.credentials.password };
    const call: HttpCall = { method: "POST", path: `${base}unlock`, body };
    const reply = await this.#link.http.call(call, signal);
    if (reply.status === 401 || reply.status === 403 || reply.status === 429)
      throw this.#refusal.keep(this.#login(reply));
    if (reply.status >= 300) throw this.#refusedCall("unlock", reply, [body.pw ?? ""]);
    const parsed = parseStrict(reply.body);
    const token = new TolerantReader("value" in parsed ? parsed.value : undefined, new Notes(), "unlock").text(
      "token",
      2_000,
    );
    if (token === null) throw new RigbridgeError("rig.garbled", `${this.at} answered "unlock" without a token`);
    this.#token = token;
    this.#refusal.forget();
  }

  #send(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
    const { token } = this.#link.credentials;
    const headers: Record<string, string> =
      token !== undefined
        ? { "x-api-key": token }
        : this.#token !== null
          ? { authorization: `Bearer ${this.#token}` }
          : {};
    return this.#link.http.call({ ...call, headers }, signal);
  }

  #login(reply: HttpReply): RigbridgeError {
    const { password, token } = this.#link.credentials;
    const what =
      reply.status === 429
        ? "has locked its login for a while after too many wrong passwords"
        : token !== undefined
          ? "rejects this API key"
          : password === undefined
            ? "requires its password, and none is configured"
            : "rejects this password";
    const reason = reasonIn(reply.body);
    const unquoted = `${this.at} ${what} (${reply.status})`;
    const message = reason === "" ? unquoted : `${this.at} ${what} (${reply.status}: ${reason})`;
    return new RigbridgeError("rig.login", message, { unquoted });
  }

  #refusedCall(what: string, reply: HttpReply, secrets: readonly string[]): RigbridgeError {
    const reason = redact(reasonIn(reply.body), secrets);
    const refused = `${this.at} refused "${what.replace(base, "")}"`;
    const unquoted = `${refused}: HTTP ${reply.status}`;
    const message = reason === "" ? unquoted : `${refused}: ${reply.status} ${reason}`;
    if (reply.status === 404) return new NotOnDevice(message, { unquoted });
    return new RigbridgeError("rig.refused", message, { unquoted });
  }
}

/** Its errors are `{"err": "..."}`. */
function reasonIn(body: string): string {
  const parsed = parseStrict(body);
  const err = "value" in parsed && isRecord(parsed.value) ? parsed.value.err : undefined;
  return typeof err === "string" ? words(JSON.stringify({ error: err })) : words(body);
}
