import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { detail } from "../../../messages/detail.ts";
import type { Link } from "../../link.ts";
import { SessionEnded } from "../../session-ended.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpReply, refusal } from "../../transports/http.ts";
import { parseReply } from "../../transports/json.ts";
import { Memo } from "../shared/memo.ts";

const usualUser = "admin";
/** Before a read sends a refused password again. */
const loginRetryAfterMs = 60_000;

interface Answer {
  readonly data: unknown;
  readonly notes: readonly string[];
}

/**
 * The forms behind IceRiver's web page: a login that sets a cookie, and a panel whose `post` says what is wanted. Their
 * parameters are in the query. Without a valid session the panel answers with something other than JSON.
 */
export class Panel {
  readonly #link: Link;
  readonly #refusal: Memo<RigbridgeError>;
  /** Of the session, "" where the login set none; null before the login. */
  #cookie: string | null = null;

  constructor(link: Link) {
    this.#link = link;
    this.#refusal = new Memo(loginRetryAfterMs, link.monotonicNow);
  }

  get hasPassword(): boolean {
    return this.#link.credentials.password !== undefined;
  }

  get at(): string {
    return this.#link.http.at;
  }

  /** Everything that the page shows. An expired session is renewed once. Throws `rig.login`. */
  async read(signal: AbortSignal, notes: Notes): Promise<TolerantReader> {
    if (this.#refusal.isFresh && this.#refusal.value !== undefined) throw this.#refusal.value;
    const kept = this.#cookie !== null;
    const first = await this.#ask({ post: "4" }, signal);
    const answer = first === null && kept ? await this.#askAnew(signal) : first;
    if (answer === null) {
      this.#cookie = null;
      throw this.hasPassword ? this.#refusal.keep(this.#login()) : this.#login();
    }
    notes.addAll(answer.notes);
    return new TolerantReader(answer.data, notes, "");
  }

  /** Sends a command; the next read shows whether it has worked. */
  async send(command: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    const kept = this.#cookie !== null;
    if ((await this.#ask(command, signal)) !== null) return;
    this.#cookie = null;
    throw kept ? new SessionEnded(this.#login()) : this.#login();
  }

  #askAnew(signal: AbortSignal): Promise<Answer | null> {
    this.#cookie = null;
    return this.#ask({ post: "4" }, signal);
  }

  /** null where the answer is not the panel's. */
  async #ask(parameters: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer | null> {
    await this.#logIn(signal);
    const { body, notes } = await this.#post("/user/userpanel", parameters, signal);
    const parsed = parseReply(body);
    if ("problem" in parsed || !isRecord(parsed.value) || !isRecord(parsed.value.data)) return null;
    return { data: parsed.value.data, notes: [...notes, ...parsed.repairs] };
  }

  async #logIn(signal: AbortSignal): Promise<void> {
    const { username = usualUser, password } = this.#link.credentials;
    if (this.#cookie !== null || password === undefined) return;
    const { headers } = await this.#post("/user/loginpost", { post: "6", user: username, pwd: password }, signal);
    this.#cookie = headers["set-cookie"]?.split(";")[0] ?? "";
  }

  async #post(path: string, parameters: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpReply> {
    const headers: Record<string, string> = this.#cookie ? { cookie: this.#cookie } : {};
    const call: HttpCall = { method: "POST", path: `${path}?${new URLSearchParams(parameters)}`, headers };
    const reply = await this.#link.http.call(call, signal);
    if (reply.status === 401 || reply.status === 403) throw this.#login();
    if (reply.status >= 300) throw refusal(this.at, call, { ...reply, body: "" });
    return reply;
  }

  #login(): RigbridgeError {
    return new RigbridgeError(
      "rig.login",
      detail(this.hasPassword ? "link.wrongPassword" : "link.noPassword", { at: this.at }),
    );
  }
}
