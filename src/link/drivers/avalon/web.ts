import { createHash } from "node:crypto";
import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { PoolLogin } from "../../driver.ts";
import type { Credentials } from "../../link.ts";
import { SessionEnded } from "../../session-ended.ts";
import { type HttpCall, type HttpReply, type HttpTransport, words } from "../../transports/http.ts";
import { parseReply } from "../../transports/json.ts";

/** The object of a JSONP page: `minerinfoCallback({...});`. undefined when it is not one. */
export function jsonpOf(body: string): Readonly<Record<string, unknown>> | undefined {
  const [open, close] = [body.indexOf("("), body.lastIndexOf(")")];
  if (!/^\s*[A-Za-z]\w*\s*$/.test(body.slice(0, Math.max(0, open))) || close < open) return undefined;
  const parsed = parseReply(body.slice(open + 1, close));
  return "value" in parsed && isRecord(parsed.value) ? parsed.value : undefined;
}

/** The cookie that the login page makes of salt and password. Source: the login page of the Nano 3S; asic.md 3.6. */
export const cookieOf = (salt: string, password: string): string =>
  salt + createHash("sha256").update(password).digest("hex").slice(0, 24);

/** The fixed salt of older firmware, which has no page for it. */
const oldSalt = "ff0000ff";

/** How many pools the firmware stores. */
export const poolSlots = 3;

/**
 * The web pages of a rig, with its password. The cookie alone is the session, so there is no login and logout.
 * Throws `rig.login` when there is no password, or it is wrong.
 */
export class AvalonWeb {
  readonly #http: HttpTransport;
  readonly #password: string | undefined;
  #salt: string | null = null;

  constructor(http: HttpTransport, { password }: Credentials) {
    this.#http = http;
    this.#password = password;
  }

  get hasPassword(): boolean {
    return this.#password !== undefined;
  }

  /** A page that may be readable without a password. null when it is not such a page. */
  async report(path: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>> | null> {
    const reply = await this.#call({ method: "GET", path }, signal);
    return (reply.status < 300 && jsonpOf(reply.body)) || null;
  }

  /**
   * The stored pools with their passwords, without empty places. Never partial. `before` a change it is part of the
   * command.
   */
  async pools(when: "before" | "after", signal: AbortSignal): Promise<PoolLogin[]> {
    const path = "/get_dashboard.cgi";
    const call: HttpCall = when === "before" ? { method: "GET", path, ofCommand: true } : { method: "GET", path };
    const page = jsonpOf((await this.#closed(call, signal)).body);
    const kept: PoolLogin[] = [];
    for (let slot = 1; slot <= poolSlots; slot += 1) {
      const [url, worker, password] = ["pool", "worker", "passwd"].map((name) => page?.[`${name}${slot}`]);
      if (typeof url !== "string" || typeof worker !== "string" || typeof password !== "string")
        throw new RigbridgeError("rig.garbled", `${this.#http.at} does not list its stored pools; none was changed`);
      if (url !== "") kept.push({ url, worker, password });
    }
    return kept;
  }

  /** Writes all places: pools left out are deleted. Only a later `pools` shows whether the list was accepted. */
  async keep(pools: readonly PoolLogin[], signal: AbortSignal): Promise<void> {
    const form: Record<string, string> = {};
    for (let slot = 1; slot <= poolSlots; slot += 1) {
      const pool = pools[slot - 1];
      form[`pool${slot}`] = pool?.url ?? "";
      form[`worker${slot}`] = pool?.worker ?? "";
      form[`passwd${slot}`] = pool?.password ?? "";
    }
    await this.#closed({ method: "POST", path: "/cgpools.cgi", form, ofCommand: true }, signal);
  }

  /** A refused call did nothing, so it is sent once more with a new salt, unless it is part of a command. */
  async #closed(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
    if (this.#password === undefined)
      throw new RigbridgeError(
        "rig.login",
        `${this.#http.at} requires the password of its web page, and none is configured`,
      );
    const fresh = this.#salt === null;
    let reply = await this.#call(call, signal);
    if (isLoginPage(reply) && !fresh) {
      this.#salt = null;
      if (call.ofCommand) throw new SessionEnded(this.#wrongPassword());
      reply = await this.#call(call, signal);
    }
    if (isLoginPage(reply)) {
      this.#salt = null;
      throw this.#wrongPassword();
    }
    if (reply.status >= 300) {
      const answer = `${reply.status} ${words(reply.body)}`.trimEnd();
      throw new RigbridgeError("rig.refused", `${this.#http.at} refused ${call.method} ${call.path}: ${answer}`);
    }
    return reply;
  }

  #wrongPassword(): RigbridgeError {
    return new RigbridgeError("rig.login", `${this.#http.at} rejects this password for its web page`);
  }

  async #call(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
    if (this.#password === undefined) return this.#http.call(call, signal);
    const salt = this.#salt ?? (await this.#readSalt(signal));
    this.#salt = salt;
    const cookie = `auth=${cookieOf(salt, this.#password)}`;
    return this.#http.call({ ...call, headers: { cookie } }, signal);
  }

  async #readSalt(signal: AbortSignal): Promise<string> {
    const { body } = await this.#http.call({ method: "GET", path: "/get_auth.cgi" }, signal);
    const salt = jsonpOf(body)?.auth;
    return typeof salt === "string" && /^[0-9A-Za-z]{1,64}$/.test(salt) ? salt : oldSalt;
  }
}

/** Any path is answered with the login page and status 200 when the cookie is wrong. */
const isLoginPage = ({ status, body }: HttpReply): boolean =>
  status === 401 || status === 403 || /<form[^>]{0,200}login|name="?loginform|id="?login/i.test(body);
