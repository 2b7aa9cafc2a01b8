import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { normalMac } from "../../identity.ts";
import type { Credentials } from "../../link.ts";
import { SessionEnded } from "../../session-ended.ts";
import { printable } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpReply, type HttpTransport, jsonOf, refusal, words } from "../../transports/http.ts";
import { refusedWith } from "../../transports/limits.ts";
import { redact, redacted } from "../shared/redact.ts";

/** The answer to a GraphQL query: its data, and errors of parts. */
export interface Answer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly complaints: readonly string[];
}

type Variables = Readonly<Record<string, unknown>>;

const login =
  "mutation($username:String!,$password:String!){auth{login(username:$username,password:$password){...on VoidResult{void}}}}";

/**
 * The web interface of Braiins OS up to 25.05: GraphQL, with a session in a cookie. One session is kept and, once it
 * has expired, renewed once. Throws `rig.login` for a wrong login, `rig.refused` with the rig's words.
 */
export class BraiinsGraphql {
  readonly #http: HttpTransport;
  readonly #username: string;
  readonly #password: string;
  #session: string | null = null;

  constructor(http: HttpTransport, { username, password }: Credentials) {
    this.#http = http;
    this.#username = username ?? "root";
    this.#password = password ?? "";
  }

  async ask(query: string, signal: AbortSignal): Promise<Answer> {
    const answer = await this.#renewing(query, signal);
    const missing = answer.data.bos === undefined && answer.data.bosminer === undefined;
    if (missing) throw refusedWith("rig.refused", `${this.#http.at} refused`, complaintOf(answer) || "no data");
    return answer;
  }

  /** Sends a mutation; every error in it is a refusal. `what` names it in messages. */
  async mutate(what: string, mutation: string, variables: Variables, signal: AbortSignal): Promise<string> {
    const kept = this.#session !== null;
    const answer = await this.#withSession(mutation, variables, signal);
    if (answer === null) throw kept ? new SessionEnded(this.#forbidden()) : this.#forbidden();
    const complaint = complaintOf(answer) || messageIn(answer.data, 0);
    if (complaint !== null && complaint !== "")
      throw refusedWith("rig.refused", `${this.#http.at} refused ${what}`, complaint);
    return `The rig accepted ${what}`;
  }

  /** Upper-case; null where LuCI, which shares the session, does not report it. */
  async mac(signal: AbortSignal): Promise<string | null> {
    this.#session ??= await this.#login(signal);
    const call = { method: "GET", path: "/cgi-bin/luci/admin/network/iface_status/lan" } as const;
    const reply = await this.#http.call({ ...call, headers: cookie(this.#session) }, signal);
    if (reply.status !== 200) return null;
    const { value } = jsonOf(this.#http.at, call, reply);
    const first: unknown = Array.isArray(value) ? value[0] : undefined;
    return isRecord(first) && typeof first.macaddr === "string" ? normalMac(first.macaddr) : null;
  }

  /** A query refused for its session did nothing, so it is sent once more with a new session. */
  async #renewing(query: string, signal: AbortSignal): Promise<Answer> {
    const kept = this.#session !== null;
    let answer = await this.#withSession(query, {}, signal);
    if (answer === null && kept) answer = await this.#withSession(query, {}, signal);
    if (answer === null) throw this.#forbidden();
    return answer;
  }

  /** null when the session is not valid; the next call opens another. */
  async #withSession(query: string, variables: Variables, signal: AbortSignal): Promise<Answer | null> {
    this.#session ??= await this.#login(signal);
    const answer = await this.#post(query, variables, this.#session, signal);
    if (answer === null) this.#session = null;
    return answer;
  }

  #forbidden(): RigbridgeError {
    return new RigbridgeError("rig.login", `${this.#http.at} does not allow this login to do that`);
  }

  /** null when the session is not valid. */
  async #post(query: string, variables: Variables, session: string, signal: AbortSignal): Promise<Answer | null> {
    const call = graphql({ query, variables });
    const reply = await this.#http.call({ ...call, headers: cookie(session) }, signal);
    if (reply.status === 401 || reply.status === 403) return null;
    const answer = answerOf(this.#http.at, call, reply);
    return /unauthorized|unauthenticated|not logged in/i.test(complaintOf(answer)) ? null : answer;
  }

  async #login(signal: AbortSignal): Promise<string> {
    const variables = { username: this.#username, password: this.#password };
    const call = graphql({ query: login, variables });
    const reply = await this.#http.call(call, signal);
    const session = /(?:^|[;,]\s*)session_id=([^;,\s]+)/.exec(reply.headers["set-cookie"] ?? "")?.[1];
    if (session !== undefined && reply.status < 300) return session;
    if (reply.status >= 300 && reply.status !== 401 && reply.status !== 403)
      throw redacted(refusal(this.#http.at, call, reply), [this.#password]);
    const why = reply.status < 300 ? complaintOf(answerOf(this.#http.at, call, reply)) : words(reply.body);
    const what = `${this.#http.at} rejects this login`;
    if (why === "") throw new RigbridgeError("rig.login", what);
    throw refusedWith("rig.login", what, redact(why, [this.#password]));
  }
}

const graphql = (body: { query: string; variables: Variables }): HttpCall => ({
  method: "POST",
  path: "/graphql",
  body,
});

const cookie = (session: string): Record<string, string> => ({ cookie: `session_id=${session}` });

function answerOf(at: string, call: HttpCall, reply: HttpReply): Answer {
  if (reply.status >= 300) throw refusal(at, call, reply);
  const { value } = jsonOf(at, call, reply);
  if (!isRecord(value)) throw new RigbridgeError("rig.garbled", `${at}: the GraphQL reply is not an object`);
  const errors: unknown[] = Array.isArray(value.errors) ? value.errors.slice(0, 5) : [];
  const complaints = errors.flatMap((error) =>
    isRecord(error) && typeof error.message === "string" ? printable(error.message.slice(0, 200)) : "an error",
  );
  return { data: isRecord(value.data) ? value.data : {}, complaints };
}

const complaintOf = ({ complaints }: Answer): string => complaints.join("; ");

/** Results of mutations are unions; only errors have a message. */
function messageIn(value: unknown, depth: number): string | null {
  if (!isRecord(value) || depth > 6) return null;
  if (typeof value.message === "string") return printable(value.message.slice(0, 200)) || "an error";
  for (const inner of Object.values(value)) {
    const found = messageIn(inner, depth + 1);
    if (found !== null) return found;
  }
  return null;
}
