import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { detail } from "../../../messages/detail.ts";
import type { Locked } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { SessionEnded } from "../../session-ended.ts";
import { type HttpCall, type HttpReply, refusal, words } from "../../transports/http.ts";
import { parseReply } from "../../transports/json.ts";
import { Memo } from "../shared/memo.ts";

const usualUser = "seal";
/** Before a read sends a refused password again. */
const loginRetryAfterMs = 600_000;

/** Sealminer's pages below /cgi-bin, with a session in a cookie. Without one they answer with something other than JSON. */
export class SealminerWeb {
  readonly #link: Link;
  readonly #refusal: Memo<RigbridgeError>;
  #cookie: string | null = null;

  constructor(link: Link) {
    this.#link = link;
    this.#refusal = new Memo(loginRetryAfterMs, link.monotonicNow);
  }

  /** Why its pages cannot be used; null unless the login is missing or was refused. */
  get locked(): Locked | null {
    if (this.#link.credentials.password === undefined)
      return { why: "login missing", text: "to control all of this rig, configure the password of its page" };
    if (this.#refusal.value === undefined) return null;
    return { why: "login wrong", text: "this rig rejects the configured password" };
  }

  /** An object; an expired session is renewed once. Throws `rig.login`. */
  async get(page: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    if (this.#cookie === null && this.#refusal.isFresh && this.#refusal.value !== undefined) throw this.#refusal.value;
    const kept = this.#cookie !== null;
    let answer = objectOf(await this.#send({ method: "GET", path: pathOf(page) }, signal));
    if (answer === null && kept) {
      this.#cookie = null;
      answer = objectOf(await this.#send({ method: "GET", path: pathOf(page) }, signal));
    }
    if (answer === null) throw this.#refuse();
    this.#refusal.forget();
    return answer;
  }

  /** Sends a command; the next read shows whether it has worked. Resolves with the rig's own words, "" for none. */
  async command(page: string, body: unknown, signal: AbortSignal): Promise<string> {
    const kept = this.#cookie !== null;
    const path = pathOf(page);
    const call: HttpCall = body === undefined ? { method: "GET", path } : { method: "POST", path, body };
    const reply = await this.#send(call, signal);
    // Its login page.
    if (!/^\s*</.test(reply.body)) return words(reply.body);
    if (!kept) throw this.#refuse();
    this.#cookie = null;
    throw new SessionEnded(this.#login("link.wrongPassword"));
  }

  close(): void {
    this.#link.http.close();
  }

  #refuse(): RigbridgeError {
    this.#cookie = null;
    return this.#refusal.keep(this.#login("link.wrongPassword"));
  }

  #login(what: "link.wrongPassword" | "link.noPassword"): RigbridgeError {
    return new RigbridgeError("rig.login", detail(what, { at: this.#link.http.at }));
  }

  async #send(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
    const cookie = this.#cookie ?? (await this.#logIn(signal));
    const reply = await this.#link.http.call({ ...call, headers: { cookie } }, signal);
    // Some firmware redirects requests without a session to its login page.
    const isLogin = reply.status === 401 || reply.status === 403 || (reply.status >= 300 && reply.status < 400);
    if (isLogin) return { ...reply, body: "<login>" };
    if (reply.status >= 300) throw refusal(this.#link.http.at, call, reply);
    return reply;
  }

  async #logIn(signal: AbortSignal): Promise<string> {
    const { username = usualUser, password } = this.#link.credentials;
    if (password === undefined) throw this.#login("link.noPassword");
    const call: HttpCall = { method: "POST", path: pathOf("login"), form: { username, origin_pwd: password } };
    const reply = await this.#link.http.call(call, signal);
    if (reply.status >= 500 || reply.status === 404) throw refusal(this.#link.http.at, call, { ...reply, body: "" });
    const cookie = reply.headers["set-cookie"]?.split(";")[0];
    if (cookie === undefined) throw this.#refuse();
    this.#cookie = cookie;
    return cookie;
  }
}

const pathOf = (page: string): string => `/cgi-bin/${page}.php`;

function objectOf({ body }: HttpReply): Readonly<Record<string, unknown>> | null {
  const parsed = parseReply(body);
  return "value" in parsed && isRecord(parsed.value) && Object.keys(parsed.value).length > 0 ? parsed.value : null;
}
