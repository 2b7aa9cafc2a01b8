import { randomBytes } from "node:crypto";
import { buildAuthorizationHeader, DIGEST, parseWWWAuthenticateHeader } from "http-auth-utils";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Credentials } from "../link.ts";
import { type HttpCall, type HttpReply, type HttpTransport, jsonOf, refusal } from "./http.ts";
import { garbled } from "./limits.ts";

type Challenge = ReturnType<typeof DIGEST.parseWWWAuthenticateRest>;

/**
 * The same transport with digest authentication (RFC 7616). The first call fetches a challenge, the next ones use it
 * until the device gives another. Throws `rig.login` when the device does not take the login, or none was given.
 */
export function digestTransport(http: HttpTransport, { username, password }: Credentials): HttpTransport {
  let challenge: Challenge | null = null;
  let count = 0;

  const authorization = ({ method, path }: HttpCall, { realm, nonce, ...asked }: Challenge): string => {
    count += 1;
    const said = {
      username: username ?? "",
      realm,
      nonce,
      uri: path,
      qop: asked.qop === undefined ? "" : "auth",
      nc: count.toString(16).padStart(8, "0"),
      cnonce: randomBytes(8).toString("hex"),
      algorithm: asked.algorithm ?? "md5",
    };
    const response = DIGEST.computeHash({ ...said, password: password ?? "", method });
    const { qop, nc, cnonce, ...always } = said;
    const opaque = asked.opaque === undefined ? {} : { opaque: asked.opaque };
    return buildAuthorizationHeader(DIGEST, { ...always, ...opaque, response, ...(qop ? { qop, nc, cnonce } : {}) });
  };

  const attempt = (what: HttpCall, signal: AbortSignal): Promise<HttpReply> => {
    const headers = challenge === null ? {} : { authorization: authorization(what, challenge) };
    return http.call({ ...what, headers: { ...what.headers, ...headers } }, signal);
  };

  const call: HttpTransport["call"] = async (what, signal) => {
    const first = await attempt(what, signal);
    if (first.status !== 401) return first;
    if (username === undefined) throw wrongLogin(http.at, "wants a login, and none was given");
    // The challenge that was used may have grown old; a device that refuses a fresh one refuses the login.
    challenge = challengeOf(http.at, first);
    count = 0;
    const second = await attempt(what, signal);
    if (second.status === 401) throw wrongLogin(http.at, "does not take this user name and password");
    return second;
  };
  const send: HttpTransport["send"] = async (what, signal) => {
    const reply = await call(what, signal);
    if (reply.status >= 300) throw refusal(http.at, what, reply);
    return reply;
  };
  return {
    at: http.at,
    call,
    send,
    getJson: async (path, signal, headers = {}) => {
      const what = { method: "GET", path, headers } as const;
      return jsonOf(http.at, what, await send(what, signal));
    },
    close: () => http.close(),
  };
}

const wrongLogin = (at: string, what: string): RigbridgeError => new RigbridgeError("rig.login", `${at} ${what}`);

function challengeOf(at: string, { headers }: HttpReply): Challenge {
  try {
    const parsed = parseWWWAuthenticateHeader(headers["www-authenticate"] ?? "", [DIGEST], { strict: false });
    return parsed.data;
  } catch {
    throw garbled(at, "it wants a login of a kind that is not known here");
  }
}
