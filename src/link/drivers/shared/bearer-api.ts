import { RigbridgeError } from "../../../contract/problems.ts";
import { detail } from "../../../messages/detail.ts";
import type { Locked } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { SessionEnded } from "../../session-ended.ts";
import { Notes, printable, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpReply, type HttpTransport, jsonOf, refusal } from "../../transports/http.ts";
import { parseStrict } from "../../transports/json.ts";
import { garbled, refusedWith } from "../../transports/limits.ts";
import type { DeviceReply } from "../../transports/rpc.ts";
import { Memo } from "./memo.ts";
import { redact } from "./redact.ts";

/** How a login is exchanged for a token. */
export interface TokenLogin {
  readonly call: HttpCall;
  /** Kept out of errors. */
  readonly password: string;
  tokenIn(answer: TolerantReader): string | null;
  /** Why there is none, in the rig's words. */
  wordsIn(answer: TolerantReader): string | null;
}

/** Before a read sends a refused login again. */
const loginRetryAfterMs = 600_000;

/** A login may also fail because the rig is busy, and is then sent again. */
const blamesLogin = (words: string): boolean => /\b(?:passwords?|credentials?|user ?names?)\b/i.test(words);

/** The answer of a rig that refuses a call without a valid token. */
export const isDenied = ({ status }: HttpReply): boolean => status === 401 || status === 403;

/** A rig's HTTP API whose login is exchanged for a bearer token. Without a valid login it is asked without a token. */
export class BearerApi {
  readonly #http: HttpTransport;
  readonly #login: TokenLogin | null;
  readonly #isDenied: (reply: HttpReply) => boolean;
  readonly #refusal: Memo<RigbridgeError>;
  #token: string | null = null;

  /** `login`: null where no password is configured. */
  constructor(
    http: HttpTransport,
    login: TokenLogin | null,
    { monotonicNow }: Pick<Link, "monotonicNow">,
    denied = isDenied,
  ) {
    this.#http = http;
    this.#login = login;
    this.#isDenied = denied;
    this.#refusal = new Memo(loginRetryAfterMs, monotonicNow);
  }

  get at(): string {
    return this.#http.at;
  }

  /** Why nothing can be changed; null unless the login is missing or was refused. */
  get locked(): Locked | null {
    if (this.#login === null)
      return { why: "login missing", text: "to control this rig and read all of it, configure its password" };
    if (this.#refusal.value === undefined) return null;
    return { why: "login wrong", text: "this rig rejects the configured password" };
  }

  /** null where the rig has nothing to say (204). An expired token is renewed once, a refused login is not sent again. */
  async read(call: HttpCall, signal: AbortSignal): Promise<DeviceReply | null> {
    const kept = this.#token !== null;
    let reply = await this.#send(call, await this.#tokenForRead(signal), signal);
    if (kept && this.#isDenied(reply)) {
      this.#token = null;
      reply = await this.#send(call, await this.#tokenForRead(signal), signal);
    }
    if (this.#isDenied(reply)) throw this.#refusal.value ?? this.#wrong();
    if (reply.status >= 300) throw refusal(this.at, call, reply);
    return reply.status === 204 ? null : jsonOf(this.at, call, reply);
  }

  /** Sends a command once. `secrets` are kept out of the error of a refusal. */
  async command(call: HttpCall, signal: AbortSignal, secrets: readonly string[] = []): Promise<HttpReply> {
    if (this.#login === null) throw this.#wrong();
    const kept = this.#token !== null;
    const reply = await this.#send(call, this.#token ?? (await this.#logIn(this.#login, signal)), signal);
    if (this.#isDenied(reply)) {
      this.#token = null;
      throw kept ? new SessionEnded(this.#wrong()) : this.#wrong();
    }
    if (reply.status >= 300) throw refusal(this.at, call, { ...reply, body: redact(reply.body, secrets) });
    return reply;
  }

  close(): void {
    this.#http.close();
  }

  #send(call: HttpCall, token: string | null, signal: AbortSignal): Promise<HttpReply> {
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    return this.#http.call({ ...call, headers: { ...call.headers, ...headers } }, signal);
  }

  async #tokenForRead(signal: AbortSignal): Promise<string | null> {
    if (this.#token !== null) return this.#token;
    const isRefused = this.#refusal.isFresh && this.#refusal.value !== undefined;
    if (this.#login === null || isRefused) return null;
    try {
      return await this.#logIn(this.#login, signal);
    } catch (error) {
      if (error instanceof RigbridgeError && error.code === "rig.login") return null;
      throw error;
    }
  }

  /** Its errors quote nothing of an answer but the words that the driver finds: the rest may be a token. */
  async #logIn({ call, password, tokenIn, wordsIn }: TokenLogin, signal: AbortSignal): Promise<string> {
    const reply = await this.#http.call(call, signal);
    if (this.#isDenied(reply)) throw this.#refusal.keep(this.#wrong());
    const parsed = parseStrict(reply.body);
    if ("problem" in parsed && reply.status >= 300) throw refusal(this.at, call, { ...reply, body: "" });
    if ("problem" in parsed) throw garbled(this.at, "the answer to its login is not JSON");
    const answer = new TolerantReader(parsed.value, new Notes(), "");
    const token = reply.status < 300 ? tokenIn(answer) : null;
    if (token === null) {
      const words = printable(redact(wordsIn(answer) ?? "", [password]));
      if (blamesLogin(words)) throw this.#refusal.keep(this.#wrong());
      throw refusedWith("rig.refused", `${this.at} gave no token for its login`, words || "without a reason");
    }
    this.#refusal.forget();
    this.#token = token;
    return token;
  }

  #wrong(): RigbridgeError {
    const what = this.#login === null ? "link.noPassword" : "link.wrongPassword";
    return new RigbridgeError("rig.login", detail(what, { at: this.at }));
  }
}
