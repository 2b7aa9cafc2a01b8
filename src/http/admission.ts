import type { IncomingMessage } from "node:http";
import { hostname } from "node:os";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpSettings } from "../config/schema.ts";
import type { QueryText } from "../contract/decode.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { KeyHolder, MiningService } from "../contract/service.ts";
import { digestOn, isSameDigest, keyCheck, keyDigest, keyWindow, wrongTries } from "./keys.ts";
import { hookIn, isOfAgents, isOpen, isStream, pathOf } from "./paths.ts";
import {
  type AddressSet,
  addressSet,
  crossSite,
  hostAllowed,
  hostName,
  loopback,
  privateNetworks,
  targetHost,
} from "./security.ts";
import { bytesPerWrite, type WriteLimits, writeRateLimit } from "./write-rate-limit.ts";

/** The client that a request comes from. */
export interface Admitted {
  /** The user whose API key came with it. */
  readonly holder?: KeyHolder | undefined;
  /** The service's own key came with it. */
  readonly isOwner?: true;
  /** SHA-256 in hex of the token of a host's agent, which came with it. */
  readonly agent?: string;
  /** Admitted only by `keylessRead`, and therefore limited to the privilege view. */
  readonly isKeyless?: true;
}

const owner: Admitted = { isOwner: true };
const guest: Admitted = { isKeyless: true };
const anyone: Admitted = {};

/** Identifies the client of a request. Throws the problem if it is refused, and sets the matching headers. */
export type Admission = (request: FastifyRequest, query: QueryText, reply: FastifyReply) => Admitted;

type KeyHolders = Pick<MiningService, "keyHolder" | "hookDigest" | "knowsAgent">;

export function admission(settings: HttpSettings, users: KeyHolders, limits: WriteLimits): Admission {
  const proxies = addressSet(settings.trustedProxies);
  const names = ownNames(settings);
  const address = addressRule(settings);
  const wrong = wrongTries();
  const key = keyRule(settings, users, wrong);
  const writes = writeRule(limits);

  return (request, query, reply) => {
    checkFraming(request.raw);
    checkHost(request, names);
    const peer = peerOf(request, proxies);
    const isGuest = address(request, peer);
    checkOrigin(request, reply, settings.origins);
    // A preflight never carries a key.
    if (request.method === "OPTIONS" || isOpen(pathOf(request.url))) return guest;
    if (isOfAgents(pathOf(request.url))) return admitAgent(request, users, peer, wrong, reply);
    const hook = request.method === "POST" ? hookIn(pathOf(request.url)) : undefined;
    const admitted =
      hook === undefined
        ? key(request, peer, query, reply)
        : admitHook(request, users.hookDigest?.(hook), peer, wrong, reply);
    if (!reads(request)) {
      const client = clientOf(admitted.holder, peer);
      writes.request(client, reply);
      request.chargeForBody = (bytes) => writes.body(client, reply, bytes);
    }
    return isGuest && admitted.holder === undefined ? guest : admitted;
  };
}

const malformed = (message: string): RigbridgeError => new RigbridgeError("input.invalid", message);

/** Headers that may be given only once; Node would use the first, or join them. */
const single: ReadonlySet<string> = new Set([
  "host",
  "origin",
  "sec-fetch-site",
  "x-api-key",
  "content-type",
  "x-hook-secret",
  "authorization",
]);

/**
 * Refuses requests that a proxy in front of this server could parse differently, in addition to what Node refuses.
 * Throws `input.invalid`.
 */
function checkFraming({ httpVersion, rawHeaders, headers }: IncomingMessage): void {
  const coding = headers["transfer-encoding"];
  if (httpVersion !== "1.1" && httpVersion !== "1.0") throw malformed("This is not HTTP/1.1");
  if (coding !== undefined && httpVersion === "1.0") throw malformed("HTTP/1.0 does not support Transfer-Encoding");
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    throw malformed("The only supported Transfer-Encoding is chunked");
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (!single.has(name)) continue;
    if (seen.has(name)) throw malformed(`The header ${name} is given more than once`);
    seen.add(name);
  }
}

/** The host name with and without its domain, with `.local`, and the names of the configuration. */
function ownNames(settings: HttpSettings): readonly string[] {
  const own = hostname().toLowerCase();
  const [short = own] = own.split(".", 1);
  const names = [own, short, `${short}.local`, settings.host, ...settings.hosts];
  return names.flatMap((name) => hostName(name) ?? []);
}

function checkHost(request: FastifyRequest, names: readonly string[]): void {
  const { host } = request;
  if (host === "") {
    if (request.raw.httpVersion === "1.0") return;
    throw malformed("The request has no Host header");
  }
  const target = targetHost(request.url);
  const agreed = target === undefined || hostName(target) === hostName(host);
  if (!agreed || !hostAllowed(host, names) || (target !== undefined && !hostAllowed(target, names)))
    throw new RigbridgeError(
      "host.unknown",
      "The host name of this request is not allowed; use an IP address, or add the name to http.hosts",
    );
}

interface Peer {
  readonly address: string;
  /** Forwarded by a proxy that is not trusted: the client's address is unknown. */
  readonly hidden: boolean;
}

function peerOf(request: FastifyRequest, proxies: AddressSet): Peer {
  const forwardedFor = request.headers["x-forwarded-for"] !== undefined;
  const forwarded = request.headers.forwarded !== undefined;
  const trusted = (forwardedFor || forwarded) && proxies.has(request.socket.remoteAddress ?? "");
  return { address: request.ip ?? "", hidden: trusted ? !forwardedFor : forwardedFor || forwarded };
}

const reads = (request: FastifyRequest): boolean => request.method === "GET" || request.method === "HEAD";
const within = (peer: Peer, set: AddressSet): boolean => !peer.hidden && set.has(peer.address);

/** Without a key only this machine is served; true for another client that `keylessRead` admits. */
function addressRule(settings: HttpSettings): (request: FastifyRequest, peer: Peer) => boolean {
  return (request, peer) => {
    if (settings.key !== undefined || settings.open || within(peer, loopback)) return false;
    if (settings.keylessRead && reads(request) && within(peer, privateNetworks)) return true;
    throw new RigbridgeError(
      "address.forbidden",
      "Without an API key only this machine is served. Set http.key in the configuration, or http.open: true to admit every client",
    );
  };
}

type WrongTries = ReturnType<typeof wrongTries>;
type KeyRule = (request: FastifyRequest, peer: Peer, query: QueryText, reply: FastifyReply) => Admitted;

/** Users' keys come first: if the service's key is ever the same, it grants no more than that user's. */
function keyRule(settings: HttpSettings, users: KeyHolders, wrong: WrongTries): KeyRule {
  const check = settings.key === undefined ? undefined : keyCheck(settings.key, Date.now, wrong);

  return (request, peer, query, reply) => {
    const presented = presentedKey(request, query);
    const digest = presented ? digestOn(request.socket, presented) : undefined;
    const holder = digest === undefined ? undefined : users.keyHolder?.(digest);
    if (holder !== undefined) return { holder };
    if (check === undefined) return anyone;
    const verdict = check.verdict(digest, peer.address);
    if (verdict === "right") return owner;
    if (verdict === "missing" && settings.keylessRead && reads(request) && within(peer, privateNetworks)) return guest;
    if (verdict === "limited") throw limited(reply);
    throw verdict === "missing"
      ? new RigbridgeError("key.missing", "Send the API key as query parameter key or as header X-API-Key")
      : new RigbridgeError("key.wrong", "The API key is wrong");
  };
}

/** A web hook has its own secret; an unknown hook is answered as a wrong secret. Throws as a wrong API key does. */
function admitHook(
  request: FastifyRequest,
  digest: string | undefined,
  { address }: Peer,
  wrong: WrongTries,
  reply: FastifyReply,
): Admitted {
  const secret = request.headers["x-hook-secret"];
  const given = typeof secret === "string" && secret !== "" ? keyDigest(secret) : undefined;
  if (given === undefined)
    throw new RigbridgeError("key.missing", "Send the web hook's secret as header X-Hook-Secret");
  // Compared for an unknown hook too, so that both take the same time.
  if (isSameDigest(given, digest ?? keyDigest("")) && digest !== undefined) return guest;
  if (wrong(address) === "limited") throw limited(reply);
  throw new RigbridgeError("key.wrong", "There is no web hook with this name and secret");
}

/** An agent has a token instead of a key. A wrong token throws the same error as a wrong API key. */
function admitAgent(
  request: FastifyRequest,
  users: KeyHolders,
  { address }: Peer,
  wrong: WrongTries,
  reply: FastifyReply,
): Admitted {
  const [, token] = /^Bearer ([!-~]{1,200})$/i.exec(request.headers.authorization ?? "") ?? [];
  if (token === undefined)
    throw new RigbridgeError("key.missing", "Send the agent's token as header Authorization: Bearer <token>");
  const agent = keyDigest(token);
  if (users.knowsAgent?.(agent) === true) return { agent };
  if (wrong(address) === "limited") throw limited(reply);
  throw new RigbridgeError("key.wrong", "No host has this token; it may have been revoked");
}

function limited(reply: FastifyReply): RigbridgeError {
  reply.header("retry-after", String(keyWindow));
  return new RigbridgeError("too.many", "Too many wrong API keys came from this address; wait and try again");
}

interface WriteRule {
  /** Throws `too.many` if a client has sent too many writes. */
  request(client: string, reply: FastifyReply): void;
  /** The same for bytes of the body of an admitted request. */
  body(client: string, reply: FastifyReply, bytes: number): void;
}

function writeRule(limits: WriteLimits): WriteRule {
  const rate = writeRateLimit(limits);
  const refuse = (reply: FastifyReply, seconds: number, what: string): void => {
    if (seconds === 0) return;
    reply.header("retry-after", String(seconds));
    throw new RigbridgeError("too.many", `Too ${what} came at once; wait and try again`);
  };

  return {
    request: (client, reply) =>
      refuse(
        reply,
        rate.wait(client),
        "many requests that change something (POST /api/actions acts on many miners with one)",
      ),
    body: (client, reply, bytes) =>
      refuse(reply, rate.charge(client, bytes / bytesPerWrite), "many large requests that change something"),
  };
}

/** A user counts as one client from any address, since many users may share the address of a proxy. */
const clientOf = (holder: KeyHolder | undefined, { address }: Peer): string =>
  holder === undefined ? address : `user ${holder.id}`;

/** The key from the query, else from the header. Throws `input.invalid` if it is given twice or malformed. */
export function presentedKey(request: FastifyRequest, query: QueryText): string | undefined {
  const flaw = query.repeated.has("key")
    ? "is given more than once"
    : query.broken.has("key")
      ? "has a broken percent-escape"
      : undefined;
  if (flaw !== undefined)
    throw new RigbridgeError("input.invalid", `key: ${flaw}`, { errors: [{ path: "key", message: flaw }] });
  const header = request.headers["x-api-key"];
  return query.values.get("key") ?? (typeof header === "string" ? header : undefined);
}

/**
 * Answers CORS, and refuses writes and streams that another site makes a browser send: actions have no body, so any page
 * could send one, and a page could hold streams open without reading them.
 */
function checkOrigin(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): void {
  const { origin } = request.headers;
  if (origins.length > 0) reply.header("vary", "Origin, accept-encoding");
  const fetchSite = request.headers["sec-fetch-site"];
  if (origin === undefined && fetchSite === undefined) return;
  const own = `${request.protocol}://${request.host}`;
  if (origin !== undefined && origins.includes(origin)) allow(request, reply, origin);
  const site = typeof fetchSite === "string" ? fetchSite : undefined;
  const path = pathOf(request.url);
  const guarded = !reads(request) || isStream(path) || isOfAgents(path);
  if (guarded && crossSite({ origin, fetchSite: site, own }, origins))
    throw new RigbridgeError(
      "request.cross-site",
      "A web page of another site sent this request; add its origin to http.origins to allow it",
    );
}

function allow(request: FastifyRequest, reply: FastifyReply, origin: string): void {
  reply.headers({
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "ETag, Retry-After, Allow",
  });
  if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined)
    reply.headers({
      "access-control-allow-methods": "GET, HEAD, POST, PATCH, DELETE",
      "access-control-allow-headers": "Content-Type, X-API-Key, If-None-Match, Last-Event-ID",
      "access-control-max-age": "600",
    });
}
