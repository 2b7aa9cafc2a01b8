import { createHash, randomBytes } from "node:crypto";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import { SessionEnded } from "../session-ended.ts";
import { type HttpCall, type HttpReply, type HttpTransport, jsonOf, refusal } from "./http.ts";
import { garbled } from "./limits.ts";

/**
 * The same transport with digest authentication (RFC 7616, and RFC 2069 where a device names no qop). The first call
 * fetches a challenge, the next ones use it until the device sends another. A call refused with 401 did nothing and is
 * sent again under the new challenge; a command is not, and throws `SessionEnded`, since another device may have sent
 * the challenge. Throws `rig.login` when the device rejects the login or none is configured, and `rig.garbled` when it
 * requires another kind of login.
 */
export function digestTransport(http: HttpTransport, { username, password }: DigestLogin): HttpTransport {
  let challenge: Challenge | null = null;
  let count = 0;

  const attempt = (what: HttpCall, signal: AbortSignal): Promise<HttpReply> => {
    if (challenge === null) return http.call(what, signal);
    count += 1;
    const login = { username: username ?? "", password: password ?? "" };
    const authorization = authorizationOf(challenge, login, what, { count, cnonce: randomBytes(8).toString("hex") });
    return http.call({ ...what, headers: { ...what.headers, authorization } }, signal);
  };

  const call: HttpTransport["call"] = async (what, signal) => {
    const kept = challenge !== null;
    for (let fresh = 0; ; fresh += 1) {
      const reply = await attempt(what, signal);
      if (reply.status !== 401) return reply;
      if (username === undefined) throw wrongLogin(detail("link.noLogin", { at: http.at }));
      const next = challengeOf(reply.headers["www-authenticate"] ?? "");
      if (next === null) throw garbled(http.at, "it requires a kind of login that is not supported");
      // A kept challenge may be outdated; a device that refuses a fresh one rejects the login, unless it says "stale".
      if (fresh > 0 && (fresh > 1 || !next.stale)) throw wrongLogin(detail("link.wrongLogin", { at: http.at }));
      challenge = next;
      count = 0;
      if (what.ofCommand && kept) throw new SessionEnded(wrongLogin(detail("link.newLogin", { at: http.at })));
    }
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

export interface DigestLogin {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

const wrongLogin = (what: Detail): RigbridgeError => new RigbridgeError("rig.login", what);

/** A digest challenge. */
export interface Challenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | null;
  /** As the device writes it; null where it names none, which is MD5. */
  readonly algorithm: string | null;
  /** Requests are counted and carry a client nonce. */
  readonly qop: boolean;
  /** The login was right, but the nonce expired. */
  readonly stale: boolean;
}

const hashes: Readonly<Record<string, string>> = { md5: "md5", "sha-256": "sha256", "sha-512-256": "sha512-256" };

const hashOf = (algorithm: string | null): string | undefined =>
  hashes[(algorithm ?? "md5").toLowerCase().replace(/-sess$/, "")];

/** The first supported Digest challenge of a WWW-Authenticate header; null if there is none. */
export function challengeOf(header: string): Challenge | null {
  for (const { scheme, parameters } of challengesOf(header)) {
    const realm = parameters.get("realm");
    const nonce = parameters.get("nonce");
    const algorithm = parameters.get("algorithm") ?? null;
    const qops = (parameters.get("qop") ?? "")
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((qop) => qop !== "");
    const met = hashOf(algorithm) !== undefined && (qops.length === 0 || qops.includes("auth"));
    if (scheme !== "digest" || realm === undefined || nonce === undefined || !met) continue;
    // They are sent back, and a header may not contain control characters.
    if ([realm, nonce, parameters.get("opaque") ?? ""].some((text) => /[^\x20-\x7e\x80-\xff]/.test(text))) continue;
    return {
      realm,
      nonce,
      algorithm,
      opaque: parameters.get("opaque") ?? null,
      qop: qops.length > 0,
      stale: parameters.get("stale")?.toLowerCase() === "true",
    };
  }
  return null;
}

interface AnyChallenge {
  readonly scheme: string;
  readonly parameters: Map<string, string>;
}

/** A word without "=" begins a challenge; the pairs with "=" after it belong to it. */
function challengesOf(header: string): AnyChallenge[] {
  const found: AnyChallenge[] = [];
  const part = /[\s,]*([!#$%&'*+.^_`|~\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/y;
  for (let match = part.exec(header); match !== null; match = part.exec(header)) {
    const [, name = "", quoted, plain] = match;
    const value = quoted?.replace(/\\(.)/g, "$1") ?? plain;
    const parameters = found.at(-1)?.parameters;
    if (value === undefined) found.push({ scheme: name.toLowerCase(), parameters: new Map() });
    else if (parameters?.has(name.toLowerCase()) === false) parameters.set(name.toLowerCase(), value);
  }
  return found;
}

/** The Authorization header for one request, the `count`th under this challenge. */
export function authorizationOf(
  { realm, nonce, opaque, algorithm, qop }: Challenge,
  { username, password }: { readonly username: string; readonly password: string },
  { method, path }: Pick<HttpCall, "method" | "path">,
  { count, cnonce }: { readonly count: number; readonly cnonce: string },
): string {
  const hash = (...parts: string[]): string =>
    createHash(hashOf(algorithm) ?? "md5")
      .update(parts.join(":"))
      .digest("hex");
  const session = /-sess$/i.test(algorithm ?? "");
  const nc = count.toString(16).padStart(8, "0");
  const login = hash(username, realm, password);
  const secret = session ? hash(login, nonce, cnonce) : login;
  const asked = hash(method, path);
  const response = qop ? hash(secret, nonce, nc, cnonce, "auth", asked) : hash(secret, nonce, asked);
  const parameters = [
    userOf(username),
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(path)}`,
    `response="${response}"`,
    ...(algorithm === null ? [] : [`algorithm=${algorithm}`]),
    ...(opaque === null ? [] : [`opaque=${quoted(opaque)}`]),
    // None of these is quoted: RFC 7616, 3.4.
    ...(qop ? ["qop=auth", `nc=${nc}`] : []),
    ...(qop || session ? [`cnonce="${cnonce}"`] : []),
  ];
  return `Digest ${parameters.join(", ")}`;
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** A header may not contain letters beyond ASCII: RFC 7616, 3.4.4. */
const userOf = (username: string): string =>
  /^[\x20-\x7e]*$/.test(username)
    ? `username=${quoted(username)}`
    : `username*=UTF-8''${encodeURIComponent(username.toWellFormed()).replace(/['()*]/g, percent)}`;

const percent = (letter: string): string => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
