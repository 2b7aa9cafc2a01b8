import { RigbridgeError } from "../../../contract/problems.ts";
import { detail } from "../../../messages/detail.ts";
import type { Locked } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { SessionEnded } from "../../session-ended.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpTransport, jsonOf, refusal } from "../../transports/http.ts";
import { refusedWith } from "../../transports/limits.ts";
import type { DeviceReply } from "../../transports/rpc.ts";
import { isRefused, statusOf } from "../shared/cgminer-replies.ts";
import { Memo } from "../shared/memo.ts";
import { redact } from "../shared/redact.ts";

const apiPort = 8080;
const usualUser = "admin";
/** Before a read sends a refused password again. */
const loginRetryAfterMs = 600_000;

/** Auradine's HTTP API at port 8080, with the STATUS of cgminer's RPC in its answers. Its login is exchanged for a token. */
export class AuradineApi {
  readonly #http: HttpTransport;
  readonly #credentials: Link["credentials"];
  readonly #refusal: Memo<RigbridgeError>;
  #token: string | null = null;

  constructor(link: Link) {
    this.#http = link.httpOn(apiPort);
    this.#credentials = link.credentials;
    this.#refusal = new Memo(loginRetryAfterMs, link.monotonicNow);
  }

  get at(): string {
    return this.#http.at;
  }

  /** Why nothing can be changed; null unless the login is missing or was refused. */
  get locked(): Locked | null {
    if (this.#credentials.password === undefined)
      return { why: "login missing", text: "to control this rig and read all of it, configure its password" };
    if (this.#refusal.value === undefined) return null;
    return { why: "login wrong", text: "this rig rejects the configured password" };
  }

  /** A page, with a new token if the kept one has expired. A refused login is not tried again with every read. */
  async get(page: string, signal: AbortSignal): Promise<unknown> {
    if (this.#token === null && this.#refusal.isFresh && this.#refusal.value !== undefined) throw this.#refusal.value;
    const kept = this.#token !== null;
    const call: HttpCall = { method: "GET", path: `/${page}` };
    try {
      return (await this.#ask(call, signal)).value;
    } catch (error) {
      if (!kept || this.#token !== null) throw error;
      return (await this.#ask(call, signal)).value;
    }
  }

  /** Resolves with the rig's own words. `secrets` are kept out of the error of a refusal. */
  async post(
    command: string,
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    secrets: readonly string[] = [],
  ): Promise<string> {
    const kept = this.#token !== null;
    const call: HttpCall = { method: "POST", path: `/${command}`, body: { command, ...fields } };
    try {
      const { value } = await this.#ask(call, signal, secrets);
      return statusOf(value)?.words || "Auradine accepted it";
    } catch (error) {
      if (kept && this.#token === null && error instanceof RigbridgeError) throw new SessionEnded(error);
      throw error;
    }
  }

  close(): void {
    this.#http.close();
  }

  /** Forgets the token, with `rig.login`, where the rig no longer accepts it. */
  async #ask(call: HttpCall, signal: AbortSignal, secrets: readonly string[] = []): Promise<DeviceReply> {
    const token = this.#token ?? (await this.#logIn(signal));
    const reply = await this.#http.call({ ...call, headers: { Token: token } }, signal);
    if (reply.status === 401 || reply.status === 403) throw this.#ended();
    if (reply.status >= 300) throw refusal(this.at, call, { ...reply, body: redact(reply.body, secrets) });
    const answer = jsonOf(this.at, call, reply);
    if (!isRefused(answer.value)) return answer;
    const words = statusOf(answer.value)?.words ?? "";
    if (/token|session|expired|unauthori[sz]ed/i.test(words)) throw this.#ended();
    throw refusedWith("rig.refused", `${this.at} refused "${call.path.slice(1)}"`, redact(words, secrets));
  }

  #ended(): RigbridgeError {
    this.#token = null;
    return this.#wrong();
  }

  #wrong(): RigbridgeError {
    return new RigbridgeError("rig.login", detail("link.wrongPassword", { at: this.at }));
  }

  async #logIn(signal: AbortSignal): Promise<string> {
    const { username = usualUser, password } = this.#credentials;
    if (password === undefined) throw new RigbridgeError("rig.login", detail("link.noPassword", { at: this.at }));
    const call: HttpCall = { method: "POST", path: "/token", body: { command: "token", user: username, password } };
    const reply = await this.#http.call(call, signal);
    const isWrong = reply.status === 401 || reply.status === 403;
    if (reply.status >= 300 && !isWrong) throw refusal(this.at, call, { ...reply, body: "" });
    const value = isWrong ? undefined : jsonOf(this.at, call, reply).value;
    if (isWrong || isRefused(value)) throw this.#refusal.keep(this.#wrong());
    const token = new TolerantReader(value, new Notes(), "").list("Token")[0]?.text("Token", 2_000) ?? null;
    if (token === null) throw new RigbridgeError("rig.garbled", `${this.at} answered "token" without a token`);
    this.#refusal.forget();
    this.#token = token;
    return token;
  }
}
