import { createCipheriv } from "node:crypto";
import { RigbridgeError } from "../../../contract/problems.ts";
import { detail } from "../../../messages/detail.ts";
import type { Locked } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { SessionEnded } from "../../session-ended.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpReply, jsonOf, refusal, words } from "../../transports/http.ts";
import { parseReply } from "../../transports/json.ts";
import { Memo } from "../shared/memo.ts";
import { redact } from "../shared/redact.ts";

const usualUser = "admin";
/** Before a read sends a refused password again. */
const loginRetryAfterMs = 600_000;

/** As its page sends a password: AES-128-CBC with a key of sixteen "!", a zero IV, padded with zeros, in hex. */
export function encrypted(password: string): string {
  const text = Buffer.from(password);
  const cipher = createCipheriv("aes-128-cbc", Buffer.alloc(16, "!"), Buffer.alloc(16)).setAutoPadding(false);
  return Buffer.concat([
    cipher.update(text),
    cipher.update(Buffer.alloc((16 - (text.length % 16)) % 16)),
    cipher.final(),
  ]).toString("hex");
}

/** Goldshell's HTTP API, whose login is exchanged for a token. It crashes under bursts, so calls are made one by one. */
export class GoldshellApi {
  readonly #link: Link;
  readonly #refusal: Memo<RigbridgeError>;
  #token: string | null = null;

  constructor(link: Link) {
    this.#link = link;
    this.#refusal = new Memo(loginRetryAfterMs, link.monotonicNow);
  }

  get at(): string {
    return this.#link.http.at;
  }

  /** Why nothing can be changed; null unless the login is missing or was refused. */
  get locked(): Locked | null {
    if (this.#link.credentials.password === undefined)
      return { why: "login missing", text: "to control this rig and read its settings, configure its password" };
    if (this.#refusal.value === undefined) return null;
    return { why: "login wrong", text: "this rig rejects the configured password" };
  }

  /**
   * A page; without a login it is asked without a token. A refused token is renewed once: it also refuses valid ones now
   * and then.
   */
  async get(page: string, signal: AbortSignal): Promise<unknown> {
    if (this.#token === null && this.#refusal.isFresh && this.#refusal.value !== undefined) throw this.#refusal.value;
    const call: HttpCall = { method: "GET", path: `/mcb/${page}` };
    const kept = this.#token !== null;
    let reply = await this.#send(call, signal);
    if (isDenied(reply) && kept) {
      this.#token = null;
      reply = await this.#send(call, signal);
    }
    if (isDenied(reply)) throw this.#login();
    if (reply.status >= 300) throw refusal(this.at, call, reply);
    return jsonOf(this.at, call, reply).value;
  }

  /** Resolves with the rig's own words. `secrets` are kept out of the error of a refusal. */
  async put(page: string, body: unknown, signal: AbortSignal, secrets: readonly string[] = []): Promise<string> {
    if (this.locked?.why === "login missing") throw this.#login();
    const kept = this.#token !== null;
    const call: HttpCall = { method: "PUT", path: `/mcb/${page}`, ...(body === undefined ? {} : { body }) };
    const reply = await this.#send(call, signal);
    if (isDenied(reply)) {
      this.#token = null;
      throw kept ? new SessionEnded(this.#login()) : this.#login();
    }
    if (reply.status >= 300) throw refusal(this.at, call, { ...reply, body: redact(reply.body, secrets) });
    return redact(words(reply.body), secrets) || "Goldshell accepted it";
  }

  close(): void {
    this.#link.http.close();
  }

  async #send(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
    const { password } = this.#link.credentials;
    const token = this.#token ?? (password === undefined ? null : await this.#logIn(password, signal));
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    return this.#link.http.call({ ...call, headers }, signal);
  }

  /** Older firmware takes the password only as it is. */
  async #logIn(password: string, signal: AbortSignal): Promise<string> {
    const token =
      (await this.#tokenFor({ password: encrypted(password), cipher: "true" }, signal)) ??
      (await this.#tokenFor({ password, cipher: "false" }, signal));
    if (token === null) throw this.#refusal.keep(this.#login());
    this.#refusal.forget();
    this.#token = token;
    return token;
  }

  /** null where the rig refuses it. */
  async #tokenFor(login: Readonly<Record<string, string>>, signal: AbortSignal): Promise<string | null> {
    const query = new URLSearchParams({ username: this.#link.credentials.username ?? usualUser, ...login });
    const call: HttpCall = { method: "GET", path: `/user/login?${query}` };
    const reply = await this.#link.http.call(call, signal);
    if (reply.status >= 500) throw refusal(this.at, call, { ...reply, body: "" });
    const parsed = parseReply(reply.body);
    if (reply.status >= 300 || "problem" in parsed) return null;
    return new TolerantReader(parsed.value, new Notes(), "").text("JWT Token", 4_000);
  }

  #login(): RigbridgeError {
    const isGiven = this.#link.credentials.password !== undefined;
    return new RigbridgeError("rig.login", detail(isGiven ? "link.wrongPassword" : "link.noPassword", { at: this.at }));
  }
}

const isDenied = ({ status }: HttpReply): boolean => status === 401 || status === 403;
