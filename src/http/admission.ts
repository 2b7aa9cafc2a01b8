import { hostname } from "node:os";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpSettings } from "../config/schema.ts";
import type { QueryText } from "../contract/decode.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { KeyHolder, MiningService } from "../contract/service.ts";
import { type ChangeLimits, changeRate } from "./change-rate.ts";
import { checkFraming } from "./framing.ts";
import { keyCheck, keyDigest, keyWindow } from "./keys.ts";
import { isOpen, isStream, pathOf } from "./paths.ts";
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

/** Whose key came with a request; without any, or where none is asked for, it is nobody's. */
export interface Admitted {
  readonly holder: KeyHolder | undefined;
  /** It is the service's own. */
  readonly isOwner: boolean;
}

const nobody: Admitted = { holder: undefined, isOwner: false };
const owner: Admitted = { holder: undefined, isOwner: true };

/**
 * Says whether a request may come in, and whose key it carries. Throws the problem when not, and sets the headers that
 * belong to it.
 */
export type Admission = (request: FastifyRequest, query: QueryText, reply: FastifyReply) => Admitted;

type KeyHolders = Pick<MiningService, "keyHolder">;

export function admission(settings: HttpSettings, users: KeyHolders, limits: ChangeLimits): Admission {
  const proxies = addressSet(settings.trustedProxies);
  const names = ownNames(settings);
  const address = addressRule(settings);
  const key = keyRule(settings, users);
  const pace = changeRule(limits);

  return (request, query, reply) => {
    checkFraming(request.raw);
    checkHost(request, names);
    const peer = peerOf(request, proxies);
    address(request, peer);
    checkOrigin(request, reply, settings.origins);
    // A preflight never carries a key.
    if (request.method === "OPTIONS" || isOpen(pathOf(request.url))) return nobody;
    const admitted = key(request, peer, query, reply);
    if (!reads(request)) pace(admitted.holder, peer, reply);
    return admitted;
  };
}

/** The host name with and without its domain, as `<host name>.local`, and what the configuration names. */
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
    throw new RigbridgeError("input.invalid", "The request has no Host header");
  }
  const target = targetHost(request.url);
  const agreed = target === undefined || hostName(target) === hostName(host);
  if (!agreed || !hostAllowed(host, names) || (target !== undefined && !hostAllowed(target, names)))
    throw new RigbridgeError(
      "host.unknown",
      "This service is not known under the host name of this request; use an IP address, or add the name to http.hosts",
    );
}

interface Peer {
  readonly address: string;
  /** Passed on by a proxy that is not trusted: who asked is not known. */
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

/** Without a key only this machine is served. */
function addressRule(settings: HttpSettings): (request: FastifyRequest, peer: Peer) => void {
  return (request, peer) => {
    if (settings.key !== undefined || settings.open || within(peer, loopback)) return;
    if (settings.keylessRead && reads(request) && within(peer, privateNetworks)) return;
    throw new RigbridgeError(
      "address.forbidden",
      "Without an API key only this machine itself is served. Set http.key in the configuration, or http.open: true to let everybody in",
    );
  };
}

type KeyRule = (request: FastifyRequest, peer: Peer, query: QueryText, reply: FastifyReply) => Admitted;

/** A user's own key comes first: should the service's be the same one day, it opens no more than that user's. */
function keyRule(settings: HttpSettings, users: KeyHolders): KeyRule {
  const check = settings.key === undefined ? undefined : keyCheck(settings.key);

  return (request, peer, query, reply) => {
    const presented = presentedKey(request, query);
    const holder = presented === undefined ? undefined : users.keyHolder?.(keyDigest(presented));
    if (holder !== undefined) return { holder, isOwner: false };
    if (check === undefined) return nobody;
    const verdict = check.verdict(presented, peer.address);
    if (verdict === "right") return owner;
    if (verdict === "missing" && settings.keylessRead && reads(request) && within(peer, privateNetworks)) return nobody;
    if (verdict === "limited") {
      reply.header("retry-after", String(keyWindow));
      throw new RigbridgeError("too.many", "Too many wrong API keys came from this address; wait and try again");
    }
    throw verdict === "missing"
      ? new RigbridgeError("key.missing", "Send the API key as query parameter key or as header X-API-Key")
      : new RigbridgeError("key.wrong", "The API key is wrong");
  };
}

/** A user is the same from everywhere, and many users may sit behind the address of one proxy. */
function changeRule(limits: ChangeLimits): (holder: KeyHolder | undefined, peer: Peer, reply: FastifyReply) => void {
  const rate = changeRate(limits);

  return (holder, { address }, reply) => {
    const seconds = rate.wait(holder === undefined ? address : `user ${holder.id}`);
    if (seconds === 0) return;
    reply.header("retry-after", String(seconds));
    throw new RigbridgeError(
      "too.many",
      "Too many requests that change something came at once; wait and try again, or act on many miners with POST /api/actions",
    );
  };
}

/** The key of the query, else of the header. Throws `input.invalid` when it is given twice or broken. */
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
 * Refuses what another site makes a browser send (actions have no body, so any page could; and streams, which it could
 * hold without reading them), and answers CORS.
 */
function checkOrigin(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): void {
  const { origin } = request.headers;
  if (origins.length > 0) reply.header("vary", "Origin, accept-encoding");
  const fetchSite = request.headers["sec-fetch-site"];
  if (origin === undefined && fetchSite === undefined) return;
  const own = `${request.protocol}://${request.host}`;
  if (origin !== undefined && origins.includes(origin)) allow(request, reply, origin);
  const site = typeof fetchSite === "string" ? fetchSite : undefined;
  const guarded = !reads(request) || isStream(pathOf(request.url));
  if (guarded && crossSite({ origin, fetchSite: site, own }, origins))
    throw new RigbridgeError(
      "request.cross-site",
      "This request was sent by a web page of another site; list its origin under http.origins to allow it",
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
