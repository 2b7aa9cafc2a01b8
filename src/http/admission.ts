import { hostname } from "node:os";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpSettings } from "../config/schema.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { keyCheck, keyWindow } from "./keys.ts";
import { healthPath, pathOf } from "./paths.ts";
import type { QueryText } from "./query.ts";
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

/** Says whether a request may come in. Throws the problem when not, and sets the headers that belong to it. */
export type Admission = (request: FastifyRequest, query: QueryText, reply: FastifyReply) => void;

export function admission(settings: HttpSettings): Admission {
  const proxies = addressSet(settings.trustedProxies);
  const names = ownNames(settings);
  const address = addressRule(settings);
  const key = keyRule(settings);

  return (request, query, reply) => {
    checkHost(request, names);
    const peer = peerOf(request, proxies);
    address(request, peer);
    checkOrigin(request, reply, settings.origins);
    // A preflight never carries a key.
    if (request.method !== "OPTIONS" && pathOf(request.url) !== healthPath) key(request, peer, query, reply);
  };
}

function ownNames(settings: HttpSettings): readonly string[] {
  const own = hostname().toLowerCase();
  const names = [own, own.split(".", 1)[0], settings.host, ...settings.hosts];
  return names.flatMap((name) => hostName(name ?? "") ?? []);
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

function keyRule(
  settings: HttpSettings,
): (request: FastifyRequest, peer: Peer, query: QueryText, reply: FastifyReply) => void {
  if (settings.key === undefined) return () => {};
  const check = keyCheck(settings.key);

  return (request, peer, query, reply) => {
    const verdict = check.verdict(keyOf(request, query), peer.address);
    if (verdict === "right") return;
    if (verdict === "missing" && settings.keylessRead && reads(request) && within(peer, privateNetworks)) return;
    if (verdict === "limited") {
      reply.header("retry-after", String(keyWindow));
      throw new RigbridgeError("too.many", "Too many wrong API keys came from this address; wait and try again");
    }
    throw verdict === "missing"
      ? new RigbridgeError("key.missing", "Send the API key as query parameter key or as header X-API-Key")
      : new RigbridgeError("key.wrong", "The API key is wrong");
  };
}

function keyOf(request: FastifyRequest, query: QueryText): string | undefined {
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

/** Refuses what another site makes a browser send (actions have no body, so any page could), and answers CORS. */
function checkOrigin(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): void {
  const { origin } = request.headers;
  if (origins.length > 0) reply.header("vary", "Origin, accept-encoding");
  const fetchSite = request.headers["sec-fetch-site"];
  if (origin === undefined && fetchSite === undefined) return;
  const own = `${request.protocol}://${request.host}`;
  if (origin !== undefined && origins.includes(origin)) allow(request, reply, origin);
  const site = typeof fetchSite === "string" ? fetchSite : undefined;
  if (!reads(request) && crossSite({ origin, fetchSite: site, own }, origins))
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
      "access-control-allow-headers": "Content-Type, X-API-Key, If-None-Match",
      "access-control-max-age": "600",
    });
}
